// The rule by which messages pass a rank's ports. The checker counts rounds with this rule, traces of runs use it, and
// predictions compute times with it.
// Rank order: messages are served in the order of the steps. Cost: O(ports) per message.
// Source: the n-port model of End et al.; the gaps of LogGP.
//
// A message starts at max(time its data is ready, time a send port is free) and keeps this port for its duration. A
// receive port takes it from max(time its first byte arrives, time the port is free) on, for the same duration. At the
// end of this time the message is received. In rounds every duration is 1, and the first byte arrives when the message
// starts.
#pragma once

#include <algorithm>
#include <span>

namespace steadfold::schedule {

/// Gives the first free port to a message that is ready at `ready` and lasts `duration`. Returns its start time.
/// `ports` holds the times from which the ports are free.
template <class Time>
constexpr Time serve(std::span<Time> ports, Time ready, Time duration) noexcept {
  Time& port = *std::ranges::min_element(ports);
  const Time start = std::max(ready, port);
  port = start + duration;
  return start;
}

}  // namespace steadfold::schedule
