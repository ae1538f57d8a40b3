// The link between two ranks, measured with messages of the MPI library, and the model that fits it.
// Source: LogGP. A ping-pong gives the time for one way, and a stream of messages the gap.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "plan/network.hpp"

namespace steadfold::bench {

/// The times of messages in seconds, as medians of several rounds or launches.
struct LinkTimes {
  std::vector<std::size_t> bytes;  // lengths of the messages in bytes
  std::vector<double> one_way;     // half of a round trip, for each of these lengths
  double in_stream = 0;            // time of one message of 8 bytes in a stream of messages without waits
  double byte_in_stream = 0;       // time of one byte in a stream of messages of length_in_stream; 0: not measured
};
/// The length in bytes of messages in the stream. Latency matters little in most networks at this length, and networks
/// that limit bytes over time usually let more bytes pass at once.
constexpr std::size_t length_in_stream = 32704;

/// The times of messages on the links of a job.
struct TimesOfLinks {
  LinkTimes between;  // link between nodes; on one node, between its parts, or between any two ranks
  /// Links to nearer ranks, if there are any, in the order of plan::links_inside.
  std::array<std::optional<LinkTimes>, plan::links_inside.size()> inside = {};
};

/// Measures messages between rank 0 of MPI_COMM_WORLD and the last rank of another node; if there is none, the last
/// rank of another part of its node; if there is none, the last rank. After that, messages with nearer ranks are
/// measured, if there are any. Other ranks wait. Needs two ranks. Rank 0 gets the result. Collective.
TimesOfLinks times_of_links(int rounds);

/// Returns the medians over launches.
LinkTimes median_of(const std::vector<LinkTimes>& launches);

struct FittedLink {
  transport::LogGP link;
  double residual = 0;  // median of the relative errors of the model
};
/// Returns the model of the link with the smallest relative errors. The model has an eager limit, a rate of long
/// messages, or both, if each makes the errors much smaller. If bytes take much longer in the stream, the model has the
/// rate of the stream, and another rate for long messages only if they are slower still: some networks limit the bytes
/// per time in one direction, and this direction is idle while the answer comes. The residual is computed from the
/// messages outside the stream.
FittedLink fitted(const LinkTimes& times);

}  // namespace steadfold::bench
