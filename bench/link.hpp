// The link between two ranks, measured by the MPI library's own messages, and the model that fits it.
// Source: LogGP; a ping-pong for one way, a stream for the gap.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "transport/simulated/topology.hpp"

namespace steadfold::bench {

/// In seconds, medians of several rounds or launches.
struct LinkTimes {
  std::vector<std::size_t> bytes;  // of messages
  std::vector<double> one_way;     // of each of these: half of a round trip
  double in_stream = 0;            // a message of 8 bytes, of many that are sent without waiting
};

/// The links of a job, by the times of their messages.
struct TimesOfLinks {
  LinkTimes between;                     // of nodes; on one node, of any two ranks
  std::optional<LinkTimes> inside = {};  // a node, where there are several and one of them has rank 0 and another
};

/// Of rank 0 of MPI_COMM_WORLD, with the last rank of another node, or, on one node, with the last rank; then with the
/// second rank of its own. The others wait. Two ranks at least. Rank 0 gets the result. Collective.
TimesOfLinks times_of_links(int rounds);

/// The medians over launches.
LinkTimes median_of(const std::vector<LinkTimes>& launches);

struct FittedLink {
  transport::LogGP link;
  double residual = 0;  // the median of the model's relative errors
};
/// The link with the least relative errors. It has an eager limit where that makes them much smaller.
FittedLink fitted(const LinkTimes& times);

}  // namespace steadfold::bench
