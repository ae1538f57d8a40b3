// Part of several schedules: the parameter `open=`, for a rank that receives from all other ranks. The parameter says
// for how many senders receives are posted at a time. The rank has this many landing slots, and uses a slot again once
// its message is merged.
// Cost: memory for as many messages.
#pragma once

#include <array>

#include "schedule/registry.hpp"

namespace steadfold::schedule {

/// The default and the maximum of `open=`. In a node of up to 64 ranks no sender waits for a landing slot.
inline constexpr Rank most_open = 64;

/// Returns the parameter: a number from 1 to `most_open`, the same on all ranks. Throws std::invalid_argument, as
/// `parse` does.
inline Rank open_of(const Context& c) {
  return c.spec ? static_cast<Rank>(number_of(*c.spec, "open", most_open, 1, most_open)) : most_open;
}

inline constexpr std::array<std::string_view, 1> open_parameter = {"open"};
inline constexpr std::array<std::string_view, 2> open_examples = {"open=2", "open=3"};

inline void check_open(const Spec& spec) { open_of({.spec = &spec}); }

}  // namespace steadfold::schedule
