// Sums of a few rows that are all in memory, without a builder: exact ones, and those of pre-rounded terms.
// Rank order: none. Cost: that of kernels/cascade.hpp, and that of Accumulator for columns it leaves.
// Source: [S2] for what pre-rounding keeps; the rest is ours.
#pragma once

#include <cstddef>
#include <span>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"
#include "kernels/cascade.hpp"

namespace steadfold::arithmetic {

/// Whether `sum_rows` takes so many rows.
constexpr bool sums_rows(Count rows) noexcept {
  return rows >= kernels::fewest_cascaded && rows <= kernels::most_cascaded;
}

/// Writes the correctly rounded sum of each column in the rows' own type, f64 or f32. `bin_count`: of the terms as so
/// many bins keep them; 0: of the terms as they are. Rows need not be aligned, and do not overlap `values`. Does not
/// allocate. Wants the promised environment.
void sum_rows(std::span<const std::byte* const> rows, Type type, int bin_count, Count columns,
              std::byte* values) noexcept;

}  // namespace steadfold::arithmetic
