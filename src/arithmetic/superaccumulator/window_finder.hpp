// Finds windows for contiguous terms: where kernels add them fast, and where one by one is the only way.
// Rank order: none. Cost: two passes over a block where exponents move, one where they stay; blocks that fit no window
// are tried ever more rarely.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "kernels/window.hpp"
#include "order/index.hpp"

namespace steadfold::arithmetic {

/// Sums of the first `count` terms, at every level in units of 2^kernels::window_unit(top, level).
struct WindowSums {
  order::Count count = 0;
  int top = 0;
  std::array<std::int64_t, kernels::most_window_levels> sums{};
};

/// Remembers where the last terms fitted. One thread at a time.
class WindowFinder {
 public:
  explicit WindowFinder(kernels::WindowTerms terms, kernels::Target target = kernels::chosen()) noexcept;

  /// Sums of as many terms as fit one window, from the first on. None: the first kernels::window_block of them, or what
  /// there is, are to be added in another way. Terms are what kernels::WindowTerms says.
  WindowSums add(const void* first, const void* second, order::Count count) noexcept;

 private:
  bool fit(const void* first, const void* second, order::Count count, int levels, int top, WindowSums& sums) noexcept;

  kernels::HighestExponent highest_;
  std::array<kernels::AddToWindow, kernels::most_window_levels + 1> add_{};
  int few_levels_;
  int top_;                 // of the last window
  std::uint32_t wait_ = 0;  // blocks before windows are tried again
  std::uint32_t next_wait_ = 0;
};

/// Finds windows for rows of several columns; each lane of the kernels is a column.
class ColumnWindowFinder {
 public:
  using Found = kernels::ColumnWindows;
  /// Where the last terms of a column fitted.
  using Top = std::int16_t;
  static constexpr Top no_top = kernels::highest_window_top + 1;
  static constexpr order::Count most_rows = kernels::most_rows_of_columns;

  explicit ColumnWindowFinder(kernels::WindowTerms terms, kernels::Target target = kernels::chosen()) noexcept;

  /// Whether there are kernels for these terms.
  bool works() const noexcept { return few_ != nullptr; }
  /// Sums of all rows, at most `most_rows`, of every column; `found.fits` is 0 for a column that fits no window. `tops`
  /// are those of the columns. Returns how many levels are written; if it is 2, all columns fit.
  int add(const kernels::ColumnRows& rows, std::span<Top> tops, Found& found) const noexcept;

 private:
  bool fit_others(const kernels::ColumnRows& rows, int levels, std::span<const Top> tops, Found& found) const noexcept;

  kernels::AddColumnsToWindows few_;   // with two levels
  kernels::AddColumnsToWindows most_;  // with as many as there are
  kernels::HighestExponents highest_;
};

}  // namespace steadfold::arithmetic
