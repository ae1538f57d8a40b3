// Numbers the rows of every column from 0, in the order of their indices, if labels distribute the rows to columns and
// ranks hold intervals of indices.
// Rank order: any; the numbers follow the indices. Cost: 8 bytes per column and interval of all ranks, in the survey
// and in memory; one addition per run of rows.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "order/index.hpp"

namespace steadfold::arithmetic {

class RowNumbers {
 public:
  /// `starts` are the first indices of the intervals of all ranks, in ascending order. Empty: columns have no numbers.
  RowNumbers(std::span<const order::Index> starts, order::Count columns)
      : starts_(starts), columns_(columns), next_(starts.size() * columns) {}

  /// Returns the size of the survey. One interval needs none, because its rows get the numbers from 0.
  static order::Bytes survey_bytes(std::span<const order::Index> starts, order::Count columns) noexcept {
    return starts.size() > 1 ? starts.size() * columns * sizeof(order::Count) : 0;
  }

  void clear_survey() noexcept { std::ranges::fill(counts_, order::Count{0}); }
  /// Counts rows of a column, which are in the interval of `index`.
  void survey(order::Count column, order::Index index, order::Count rows) {
    counts_.resize(next_.size());
    counts_[index_of(column, index)] += rows;
  }
  /// Writes the numbers of rows by interval and column. Ranks hold different intervals, and write 0 for the intervals
  /// of other ranks, so the maximum of each byte merges their surveys.
  void write_survey(std::span<std::byte> out) {
    counts_.resize(next_.size());
    std::memcpy(out.data(), counts_.data(), out.size());
    clear_survey();
  }

  /// Begins to number rows. `surveyed` has the numbers of rows of all ranks; empty for one interval.
  void begin(std::span<const std::byte> surveyed) {
    std::ranges::fill(next_, order::Count{0});
    if (surveyed.size() != next_.size() * sizeof(order::Count)) return;
    for (std::size_t i = columns_; i < next_.size(); ++i) {
      order::Count rows = 0;
      std::memcpy(&rows, surveyed.data() + (i - columns_) * sizeof rows, sizeof rows);
      next_[i] = next_[i - columns_] + rows;
    }
  }
  /// Returns the number of the first of these rows of a column, which are in the interval of `index`, and counts them.
  order::Index number(order::Count column, order::Index index, order::Count rows) noexcept {
    order::Count& next = next_[index_of(column, index)];
    next += rows;
    return next - rows;
  }

 private:
  std::size_t index_of(order::Count column, order::Index index) const noexcept {
    const auto after = std::ranges::upper_bound(starts_, index);
    const auto interval = static_cast<std::size_t>(after - starts_.begin());
    return (interval == 0 ? 0 : interval - 1) * columns_ + column;
  }

  std::span<const order::Index> starts_;
  order::Count columns_;
  std::vector<order::Count> next_;    // by interval and column: the number of the next row
  std::vector<order::Count> counts_;  // of the survey; empty until it begins
};

}  // namespace steadfold::arithmetic
