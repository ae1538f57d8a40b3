// Exact sums of a few rows that are all in memory, without a builder.
// Rank order: none. Cost: that of kernels/cascade.hpp, and that of Accumulator for columns it leaves. Source: ours.
#pragma once

#include <cstddef>
#include <span>

#include "arithmetic/exact.hpp"
#include "kernels/cascade.hpp"

namespace steadfold::arithmetic {

/// Whether `sum_rows` takes so many rows.
constexpr bool sums_rows(Count rows) noexcept {
  return rows >= kernels::fewest_cascaded && rows <= kernels::most_cascaded;
}

/// Writes the correctly rounded sum of each column in the rows' own type. Rows need not be aligned, and do not overlap
/// `values`. Does not allocate. Wants the promised environment.
void sum_rows(std::span<const std::byte* const> rows, ExactType type, Count columns, std::byte* values) noexcept;

}  // namespace steadfold::arithmetic
