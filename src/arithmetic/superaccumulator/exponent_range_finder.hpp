// Finds exponent ranges for contiguous terms. Kernels add terms that fit an exponent range fast; other terms are added
// one by one.
// Rank order: none. Cost: two passes over a block if exponents change, one pass if they do not. Few levels
// are tried more and more rarely where they do not hold the terms, and exponent ranges where terms fit none.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "arithmetic/superaccumulator/long_integer.hpp"
#include "kernels/extraction.hpp"
#include "order/index.hpp"

namespace steadfold::arithmetic {

/// The sums of the first `count` terms, at every level in units of 2^kernels::level_unit(top, level).
struct ExtractedSums {
  order::Count count = 0;
  int top = 0;
  std::array<std::int64_t, kernels::most_levels> sums{};

  /// The sum of all levels.
  Leading leading() const noexcept;
};

/// Finds exponent ranges for terms of one column, and remembers the exponent range that the last terms fitted. Use the
/// object from one thread at a time.
class ExponentRangeFinder {
 public:
  explicit ExponentRangeFinder(kernels::ExtractedTerms terms, kernels::Target target = kernels::chosen()) noexcept;

  /// Sums as many terms as fit one exponent range, from the first term on. If the count is 0, the caller must add the
  /// first kernels::extraction_block terms, or all if there are fewer, in another way. kernels::ExtractedTerms says
  /// what the terms are.
  ExtractedSums add(const void* first, const void* second, order::Count count) noexcept;

 private:
  bool fit(const void* first, const void* second, order::Count count, int levels, int top,
           ExtractedSums& sums) noexcept;

  kernels::HighestExponent highest_;
  std::array<kernels::AddByExtraction, kernels::most_levels + 1> add_{};
  int few_levels_;
  int top_;                 // top of the last exponent range
  order::Count promoted_;   // the number of terms that get the most levels if few levels do not hold the next term
  order::Count left_ = 0;   // of these terms, the number that have not come yet
  std::uint32_t wait_ = 0;  // number of blocks to skip before exponent ranges are tried again
  std::uint32_t next_wait_ = 0;
};

/// Finds exponent ranges for rows of several columns. Each lane of a vector has one column.
class ColumnRangeFinder {
 public:
  using Found = kernels::ExtractedColumns;
  /// The top of the exponent range that the last terms of a column fitted.
  using Top = std::int16_t;
  static constexpr Top no_top = kernels::highest_level_top + 1;
  static constexpr order::Count most_rows = kernels::most_rows_of_columns;

  explicit ColumnRangeFinder(kernels::ExtractedTerms terms, kernels::Target target = kernels::chosen()) noexcept;

  /// Whether there are kernels for these terms.
  bool works() const noexcept { return few_ != nullptr; }
  /// Sums all rows, at most `most_rows`, of every column. `found.fits` is 0 for a column that fits no exponent range.
  /// `tops` has the top of each column's last exponent range. Returns the number of levels written; if it is 2, all
  /// columns fit.
  int add(const kernels::ColumnRows& rows, std::span<Top> tops, Found& found) const noexcept;

 private:
  bool fit_others(const kernels::ColumnRows& rows, int levels, std::span<const Top> tops, Found& found) const noexcept;

  kernels::AddColumnsByExtraction few_;   // kernel with two levels
  kernels::AddColumnsByExtraction most_;  // kernel with the largest number of levels
  kernels::HighestExponents highest_;
};

}  // namespace steadfold::arithmetic
