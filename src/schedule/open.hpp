// Part of several: for how many senders a rank that takes in messages of all others has receives open at a time, the
// parameter `open=`. It has that many landing slots and uses each again once its message is merged.
// Rank order: not concerned. Cost: memory for as many messages. Source: ours.
#pragma once

#include "schedule/registry.hpp"

namespace steadfold::schedule {

/// As many as a node has ranks, so that within a node nobody waits for a credit; and the most that can be asked for.
inline constexpr Rank most_open = 64;

/// From 1 to `most_open`, the same on all ranks. Throws as `parse`.
inline Rank open_of(const Context& c) {
  return c.spec ? static_cast<Rank>(number_of(*c.spec, "open", most_open, 1, most_open)) : most_open;
}

}  // namespace steadfold::schedule
