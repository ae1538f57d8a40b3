// Exact sums of a few neighbouring columns in units of one power of two, while 127 bits and a sign hold each of them:
// what nearly all columns of wide rows need. Loops run over the columns, so their ends are known.
// Rank order: none, the sum of integers has no order. Cost: some 2 ns per column; 16 bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "arithmetic/superaccumulator/long_integer.hpp"
#include "kernels/columns.hpp"
#include "kernels/narrow_groups.hpp"

namespace steadfold::arithmetic {

/// The column of number `lane` is value(lane) 2^(32 lowest), in units in which the lowest term is 1.
class NarrowGroup {
 public:
  static constexpr std::size_t most_columns = kernels::most_columns;
  static constexpr int most_digits = 4;
  template <class Value>
  using EachColumn = std::array<Value, most_columns>;

  /// All columns become 0.
  void clear() noexcept { *this = {}; }

  int lowest() const noexcept { return lowest_; }
  Int128 value(std::size_t lane) const noexcept { return static_cast<Int128>(Uint128{high_[lane]} << 64 | low_[lane]); }

  /// Adds value 2^(32 digit) to a column. False if there are no units in which all columns have room: nothing has
  /// changed then.
  bool add(std::size_t lane, Int128 value, int digit) noexcept {
    Int128 sum;
    if (digit != lowest_ || __builtin_add_overflow(this->value(lane), value, &sum))
      return add_elsewhere(lane, value, digit);
    put(lane, sum);
    return true;
  }
  /// Adds a row of doubles, a term to every column. False if a term is special or finds no room: nothing has changed
  /// then but maybe the units.
  bool add_row(kernels::AddNarrowTerms kernel, const std::byte* row, std::uint64_t kept_bits) noexcept {
    int found = kernel(row, kept_bits, lowest_, low_.data(), high_.data());
    if (found >= 0 && lower_unit(lowest_ - found)) found = kernel(row, kept_bits, lowest_, low_.data(), high_.data());
    return found == kernels::terms_added;
  }
  /// Becomes a + b, which are others; false, and it means nothing, if there are no units in which all columns have
  /// room.
  bool set_sum(const NarrowGroup& a, const NarrowGroup& b) noexcept;

  /// Becomes as many windows, with the largest unit; false if there is none.
  bool set_windows(std::span<const DigitWindow> windows) noexcept;
  void window(std::size_t lane, DigitWindow& window) const noexcept;
  Leading leading(std::size_t lane, int lowest_exponent) const noexcept {
    return arithmetic::leading(value(lane), lowest_exponent + 32 * lowest_);
  }
  /// Writes the sums of the first columns, each rounded once; zeros are +0.0. False if one may be no normal number.
  bool round(std::size_t columns, int lowest_exponent, std::byte* doubles) const noexcept;

  /// Takes the largest unit, that of digit 0 if all columns are 0; returns how many words of 64 bits every column then
  /// needs with its sign: 0, 1 or 2.
  int trim() noexcept;
  /// Whether no column ends beyond so many digits.
  bool ends_within(int digit_count) const noexcept;

  /// As many words per column, one word of all of them after the other, the lowest first.
  void write(int words, std::size_t columns, std::byte* out) const noexcept;
  /// False if this is not what `trim` and `write` left.
  bool read(int words, std::size_t columns, int lowest, const std::byte* from) noexcept;

 private:
  bool add_elsewhere(std::size_t lane, Int128 value, int digit) noexcept;
  bool zero() const noexcept;
  void put(std::size_t lane, Int128 value) noexcept {
    low_[lane] = static_cast<std::uint64_t>(value);
    high_[lane] = static_cast<std::uint64_t>(static_cast<Uint128>(value) >> 64);
  }
  /// Takes units of a lower digit, or of a higher one, below which all digits are 0.
  bool lower_unit(int digits) noexcept;
  void raise_unit(int digits) noexcept;

  EachColumn<std::uint64_t> low_{};  // two's complement
  EachColumn<std::uint64_t> high_{};
  int lowest_ = 0;
};

}  // namespace steadfold::arithmetic
