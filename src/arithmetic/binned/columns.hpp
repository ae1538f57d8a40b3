// The columns of a builder of binned sums: a single column, or groups of columns. The sums of groups have one word each
// until one of them is full.
// Rank order: none. Cost: some 40 bytes per column, and the same amount reserved for second words.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "arithmetic/binned/group.hpp"
#include "arithmetic/binned/record.hpp"

namespace steadfold::arithmetic {

class BinnedColumns {
 public:
  using Column = binned_record::Column;
  static constexpr Count columns_of_group = binned_record::columns_of_group;

  explicit BinnedColumns(const binned_record::BinnedShape& shape)
      : count_(shape.columns),
        bin_count_(static_cast<std::size_t>(shape.bin_count)),
        groups_(count_ > 1 ? std::make_unique_for_overwrite<BinnedGroup[]>(group_count()) : nullptr),
        high_(count_ > 1 ? std::make_unique_for_overwrite<HighWords[]>(group_count()) : nullptr) {}

  Count size() const noexcept { return count_; }
  /// Empties all columns. `tops` has the tops with which the columns begin; if it is empty, they begin with
  /// `lowest_top`.
  void clear(std::span<const std::uint8_t> tops, int lowest_top) noexcept {
    if (count_ == 1) return single_.clear(tops.empty() ? lowest_top : tops[0]);
    has_two_words_ = false;
    for (Count g = 0; g < group_count(); ++g) {
      BinnedGroup& group = groups_[g];
      for (std::size_t bin = 0; bin < bin_count_; ++bin) group.sums[bin].fill(0);
      group.tops.fill(static_cast<std::uint8_t>(lowest_top));
      group.flags.fill(no_flags);
      if (tops.empty()) continue;
      const Count begin = g * columns_of_group;
      std::ranges::copy(tops.subspan(begin, std::min(columns_of_group, count_ - begin)), group.tops.begin());
    }
  }

  /// Returns the only column.
  Column& single() noexcept { return single_; }
  /// Returns a group of columns: the low words of the sums, at most 2^61, and their tops and flags.
  BinnedGroup& group(Count first) noexcept { return groups_[first / columns_of_group]; }
  /// Whether the sums have second (high) words, too.
  bool have_two_words() const noexcept { return has_two_words_; }

  /// Calls `use(column)` with column `number`, and stores the column that `use` has changed.
  template <class Use>
  void change(Count number, const Use& use) {
    if (count_ == 1) return use(single_);
    Column column = at(number);
    use(column);
    set(number, column);
  }
  Column at(Count number) const noexcept {
    if (count_ == 1) return single_;
    const Count g = number / columns_of_group;
    const std::size_t lane = number % columns_of_group;
    Column column = groups_[g].column(lane, bin_count_);
    if (has_two_words_)
      for (std::size_t bin = 0; bin < bin_count_; ++bin)
        column.bins.sums[bin] += static_cast<Int128>(high_[g][bin][lane]) << low_bits;
    return column;
  }

 private:
  static constexpr std::int64_t most_of_one_word = std::int64_t{1} << 61;
  static constexpr int low_bits = 32;
  // High words of the sums, in units of 2^low_bits.
  using HighWords = std::array<kernels::EachColumn<std::int64_t>, most_bins>;

  Count group_count() const noexcept { return (count_ + columns_of_group - 1) / columns_of_group; }

  void set(Count number, const Column& column) noexcept {
    const Count g = number / columns_of_group;
    const std::size_t lane = number % columns_of_group;
    BinnedGroup& low = groups_[g];
    low.tops[lane] = static_cast<std::uint8_t>(column.bins.top);
    low.flags[lane] = column.flags;
    for (std::size_t bin = 0; bin < bin_count_; ++bin) {
      const Int128 sum = column.bins.sums[bin];
      if (sum < -most_of_one_word || sum > most_of_one_word) take_two_words();
      low.sums[bin][lane] =
          has_two_words_ ? static_cast<std::int64_t>(static_cast<std::uint32_t>(sum)) : static_cast<std::int64_t>(sum);
      if (has_two_words_) high_[g][bin][lane] = static_cast<std::int64_t>(sum >> low_bits);
    }
  }
  void take_two_words() noexcept {
    if (std::exchange(has_two_words_, true)) return;
    for (Count g = 0; g < group_count(); ++g)
      for (std::size_t bin = 0; bin < bin_count_; ++bin) high_[g][bin].fill(0);
  }

  Count count_;
  std::size_t bin_count_;
  Column single_;
  std::unique_ptr<BinnedGroup[]> groups_;  // the groups, if there are several columns
  std::unique_ptr<HighWords[]> high_;      // high words; not written before a sum needs them
  bool has_two_words_ = false;
};

}  // namespace steadfold::arithmetic
