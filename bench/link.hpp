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

/// Between rank 0 of MPI_COMM_WORLD and the last rank of another node, or, on one node, the last rank; the others wait.
/// Two ranks at least. Rank 0 gets the result. Collective.
LinkTimes link_times(int rounds);
/// Between rank 0 and the second rank of its node, if there is one and there are several nodes; else nothing.
/// Collective.
std::optional<LinkTimes> link_times_inside(int rounds);

/// The medians over launches.
LinkTimes median_of(const std::vector<LinkTimes>& launches);

struct FittedLink {
  transport::LogGP link;
  double residual = 0;  // the median of the model's relative errors
};
/// The link with the least relative errors. It has an eager limit where that makes them much smaller.
FittedLink fitted(const LinkTimes& times);

}  // namespace steadfold::bench
