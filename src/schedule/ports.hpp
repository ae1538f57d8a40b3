// A rank's ports: the one rule by which messages are counted in rounds, traced on a transport, and timed by prediction.
// Rank order: messages are served in the order given, that of the steps. Cost: O(ports) per message.
// Source: the n-port model of [S4]; LogGP's gaps.
//
// A message starts at max(its data is there, a send port free) and keeps that port for its duration. It is received
// when a receive port has been busy with it for that duration, from max(its first byte is there, the port free) on.
// In rounds every duration is 1, and the first byte is there when the message starts.
#pragma once

#include <algorithm>
#include <span>

namespace steadfold::schedule {

/// The first free port takes a message that is ready at `ready` and lasts `duration`; returns when it starts. `ports`
/// holds the times from which they are free.
template <class Time>
constexpr Time serve(std::span<Time> ports, Time ready, Time duration) noexcept {
  Time& port = *std::ranges::min_element(ports);
  const Time start = std::max(ready, port);
  port = start + duration;
  return start;
}

}  // namespace steadfold::schedule
