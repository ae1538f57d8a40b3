// Part of several: the parameter `open=`, for a rank that takes in messages of all others: from how many senders it has
// receives open at a time. It has that many landing slots and uses each again once its message is merged.
// Cost: memory for as many messages.
#pragma once

#include <array>

#include "schedule/registry.hpp"

namespace steadfold::schedule {

/// The default, and the most: as many as a node has ranks, so that nobody within a node waits for a credit.
inline constexpr Rank most_open = 64;

/// From 1 to `most_open`, the same on all ranks. Throws as `parse`.
inline Rank open_of(const Context& c) {
  return c.spec ? static_cast<Rank>(number_of(*c.spec, "open", most_open, 1, most_open)) : most_open;
}

inline constexpr std::array<std::string_view, 1> open_parameter = {"open"};
inline constexpr std::array<std::string_view, 2> open_examples = {"open=2", "open=3"};

inline void check_open(const Spec& spec) { open_of({.spec = &spec}); }

}  // namespace steadfold::schedule
