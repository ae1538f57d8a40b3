// Integers of any size that are not negative, as far as exact sums need them: products, sums, differences, and
// quotients that are to be rounded. Cost: a product is one multiplication per pair of digits, most sums have a handful;
// a quotient is one subtraction per bit. Source: schoolbook arithmetic.
#pragma once

#include <array>
#include <cstdint>

#include "arithmetic/superaccumulator/long_integer.hpp"

namespace steadfold::arithmetic {

/// sum of digits[i] 2^(32 (lowest + i)). Has room for the product of a sum of squares and a number of rows, for the
/// product of two sums of elements, and for the sum of these.
class Natural {
 public:
  static constexpr int most_digits = widest_digit_count + 4;

  Natural() = default;
  explicit Natural(std::uint64_t number) noexcept;
  /// The magnitude of a window's integer.
  explicit Natural(const DigitWindow& window) noexcept;

  bool zero() const noexcept { return count_ == 0; }
  bool operator<(const Natural& other) const noexcept;

  Natural times(std::uint64_t factor) const noexcept;
  /// Both must be sums of elements, which have at most half of the digits.
  Natural times(const Natural& factor) const noexcept;
  Natural plus(const Natural& other) const noexcept;
  /// This less another one, which is not larger.
  Natural minus(const Natural& other) const noexcept;

  /// This divided by another one that is not 0, with the first 128 bits of the quotient. It is in units of
  /// 2^lowest_exponent: those of this number over those of the other one.
  Leading divided_by(const Natural& divisor, int lowest_exponent) const noexcept;

 private:
  std::uint32_t digit(int position) const noexcept {
    return position < lowest_ || position >= lowest_ + count_ ? 0
                                                              : digits_[static_cast<std::size_t>(position - lowest_)];
  }
  /// Leaves out zeros at both ends.
  void trim() noexcept;

  int lowest_ = 0;
  int count_ = 0;
  std::array<std::uint32_t, most_digits> digits_;  // `count_` of them are there
};

}  // namespace steadfold::arithmetic
