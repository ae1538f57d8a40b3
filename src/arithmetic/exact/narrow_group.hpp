// Exact sums of a few neighbouring columns as integers, in units of one power of two. Each sum must fit in 127 bits and
// a sign. This is so for nearly all columns of wide rows. Loops over the columns have constant ends.
// Rank order: none, because the sum of integers has no order. Cost: some 2 ns per column; 16 bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "arithmetic/superaccumulator/long_integer.hpp"
#include "kernels/columns.hpp"
#include "kernels/narrow_groups.hpp"

namespace steadfold::arithmetic {

/// The sums of a group of columns. Column `lane` has the sum value(lane) 2^(32 lowest), in units in which the lowest
/// possible term is 1.
class NarrowGroup {
 public:
  static constexpr std::size_t most_columns = kernels::most_columns;
  static constexpr int most_digits = 4;
  template <class Value>
  using EachColumn = std::array<Value, most_columns>;

  /// Sets all columns to 0.
  void clear() noexcept { *this = {}; }

  int lowest() const noexcept { return lowest_; }
  Int128 value(std::size_t lane) const noexcept { return static_cast<Int128>(Uint128{high_[lane]} << 64 | low_[lane]); }

  /// Adds value 2^(32 digit) to a column. Returns false, and changes nothing, if there are no units in which all
  /// columns fit.
  bool add(std::size_t lane, Int128 value, int digit) noexcept {
    Int128 sum;
    if (digit != lowest_ || __builtin_add_overflow(this->value(lane), value, &sum))
      return add_elsewhere(lane, value, digit);
    put(lane, sum);
    return true;
  }
  /// Adds a row of doubles, one term to every column. Returns false if a term is an infinity or a NaN, or does not fit.
  /// In this case the sums have not changed, but their units may have changed.
  bool add_row(kernels::AddNarrowTerms kernel, const std::byte* row, std::uint64_t kept_bits) noexcept {
    int found = kernel(row, kept_bits, lowest_, low_.data(), high_.data());
    if (found >= 0 && lower_unit(lowest_ - found)) found = kernel(row, kept_bits, lowest_, low_.data(), high_.data());
    return found == kernels::terms_added;
  }
  /// Sets this group to a + b, which are other groups. Returns false if there are no units in which all columns fit;
  /// the contents of this group are then not valid.
  bool set_sum(const NarrowGroup& a, const NarrowGroup& b) noexcept;

  /// Sets the columns to the numbers in these digit ranges, in the largest possible unit. Returns false if there is
  /// none.
  bool set_digit_ranges(std::span<const DigitRange> ranges) noexcept;
  void digit_range(std::size_t lane, DigitRange& range) const noexcept;
  Leading leading(std::size_t lane, int lowest_exponent) const noexcept {
    return arithmetic::leading(value(lane), lowest_exponent + 32 * lowest_);
  }
  /// Writes the sums of the first `columns` columns, each rounded once; zeros are +0.0. Returns false if a result may
  /// be subnormal or overflow.
  bool round(std::size_t columns, int lowest_exponent, std::byte* doubles) const noexcept;

  /// Changes to the largest possible unit; to the unit of digit 0 if all columns are 0. Returns the number of 64-bit
  /// words that every column then needs, with its sign: 0, 1 or 2.
  int trim() noexcept;
  /// Whether all columns end within `digit_count` digits.
  bool ends_within(int digit_count) const noexcept;

  /// Writes `words` words per column: the lowest word of all columns first, then the next word.
  void write(int words, std::size_t columns, std::byte* out) const noexcept;
  /// Reads a group. Returns false if `trim` and `write` cannot have written it.
  bool read(int words, std::size_t columns, int lowest, const std::byte* from) noexcept;

 private:
  bool add_elsewhere(std::size_t lane, Int128 value, int digit) noexcept;
  bool zero() const noexcept;
  void put(std::size_t lane, Int128 value) noexcept {
    low_[lane] = static_cast<std::uint64_t>(value);
    high_[lane] = static_cast<std::uint64_t>(static_cast<Uint128>(value) >> 64);
  }
  /// Changes to the unit of a lower digit, or of a higher digit below which all digits are 0. Returns false if a column
  /// does not fit.
  bool lower_unit(int digits) noexcept;
  void raise_unit(int digits) noexcept;

  EachColumn<std::uint64_t> low_{};  // low words of the columns, in two's complement
  EachColumn<std::uint64_t> high_{};
  int lowest_ = 0;
};

}  // namespace steadfold::arithmetic
