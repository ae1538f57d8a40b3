// The link between two ranks, measured by the MPI library's own messages, and the model that fits it.
// Source: LogGP; a ping-pong for one way, a stream for the gap.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "agreement/network.hpp"

namespace steadfold::bench {

/// In seconds, medians of several rounds or launches.
struct LinkTimes {
  std::vector<std::size_t> bytes;  // of messages
  std::vector<double> one_way;     // of each of these: half of a round trip
  double in_stream = 0;            // a message of 8 bytes, of many that are sent without waiting
  double byte_in_stream = 0;       // a byte, in such a stream of messages of length_in_stream; 0: not measured
};
/// So long that latency counts little in most networks. Those that limit bytes over time usually let more pass at once.
constexpr std::size_t length_in_stream = 32704;

/// The links of a job, by the times of their messages.
struct TimesOfLinks {
  LinkTimes between;  // of nodes; on one node, of its parts, or of any two ranks
  /// By agreement::links_inside: links to ranks that are nearer, if there are such.
  std::array<std::optional<LinkTimes>, agreement::links_inside.size()> inside = {};
};

/// Of rank 0 of MPI_COMM_WORLD, with the last rank of another node, or of another part of its node, or with the last
/// rank; then with ranks that are nearer, as far as there are any. The others wait. Two ranks at least. Rank 0 gets the
/// result. Collective.
TimesOfLinks times_of_links(int rounds);

/// The medians over launches.
LinkTimes median_of(const std::vector<LinkTimes>& launches);

struct FittedLink {
  transport::LogGP link;
  double residual = 0;  // the median of the model's relative errors
};
/// The link with the least relative errors. It has an eager limit, a rate of long messages, or both, where each makes
/// them much smaller. Where bytes take much longer in the stream, its rate is the stream's, and long messages have
/// another only if they are slower yet: some networks limit how many bytes go one way in some time, and that way rests
/// while the answer comes. The residual is that of the messages without the stream.
FittedLink fitted(const LinkTimes& times);

}  // namespace steadfold::bench
