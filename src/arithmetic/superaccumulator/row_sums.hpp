// Sums of a few rows that are all in memory, without a builder: exact sums, and sums of pre-rounded terms.
// Rank order: none. Cost: as kernels/cascade.hpp, and as Accumulator for the columns that cascades leave uncertain.
// Source: pre-rounding is that of Lapillonne & Peltekov 2013; the rest is new.
#pragma once

#include <cstddef>
#include <span>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"
#include "kernels/cascade.hpp"

namespace steadfold::arithmetic {

/// Whether `sum_rows` can sum this number of rows.
constexpr bool sums_rows(Count rows) noexcept {
  return rows >= kernels::fewest_cascaded && rows <= kernels::most_cascaded;
}

/// Writes the correctly rounded sum of each column, in the type of the rows, f64 or f32. `bin_count` is the number of
/// bins for which terms are pre-rounded; 0 means that terms are not pre-rounded. Rows need not be aligned, and do not
/// overlap `values`. Does not allocate. The caller must have set the promised environment (arithmetic/environment.hpp).
void sum_rows(std::span<const std::byte* const> rows, Type type, int bin_count, Count columns,
              std::byte* values) noexcept;

}  // namespace steadfold::arithmetic
