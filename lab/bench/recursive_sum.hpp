// The sum that `tree` makes, without anything that makes it quick: a rival that shows what that is worth.
#pragma once

#include <span>

namespace steadfold::bench {

/// The sum over the tree of the elements' indices, by a function that calls itself for the two children of a node; 0 of
/// nothing. The bits of `tree`.
/// Source: [S0] equation 2.1.
double recursive_sum(std::span<const double> x) noexcept;

/// From left to right, by std::accumulate.
double loop_sum(std::span<const double> x) noexcept;

}  // namespace steadfold::bench
