// Part of several schedules: the parameter `block=`, the largest number of columns in a segment.
// Source: Gruber & Freinberger, whose pipelines have blocks.
#pragma once

#include <array>

#include "schedule/registry.hpp"

namespace steadfold::schedule {

inline constexpr std::array<std::string_view, 1> block_parameter = {"block"};
inline constexpr std::array<std::string_view, 1> block_example = {"block=2"};

/// Checks the parameter `block=` of a schedule. Throws std::invalid_argument, as `parse` does.
inline void check_block(const Spec& spec) { number_of(spec, "block", 1, 1, most_block); }

}  // namespace steadfold::schedule
