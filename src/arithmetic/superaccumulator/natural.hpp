// Non-negative integers of any size, for exact sums: products, sums, differences, and quotients for rounding.
// Cost: a product is one multiplication per pair of digits, and most sums have few digits; a quotient is some five
// multiplications per digit of the divisor. Source: schoolbook arithmetic; Knuth, The Art of Computer
// Programming 4.3.1.
#pragma once

#include <array>
#include <cstdint>

#include "arithmetic/superaccumulator/long_integer.hpp"

namespace steadfold::arithmetic {

/// A non-negative integer: the sum of digits[i] 2^(32 (lowest + i)). Comoments are the product of a sum of squares and
/// a number of rows, the product of two sums of elements, and sums of these. The digits suffice for the product of two
/// comoments.
class Natural {
 public:
  static constexpr int most_digits = 2 * (widest_digit_count + 4);

  Natural() = default;
  explicit Natural(std::uint64_t number) noexcept;
  /// Makes the magnitude of a digit range's integer.
  explicit Natural(const DigitRange& range) noexcept;

  bool zero() const noexcept { return count_ == 0; }
  bool operator<(const Natural& other) const noexcept;

  Natural times(std::uint64_t factor) const noexcept;
  /// Returns the product. Both numbers must be comoments or sums, which have at most half of the digits.
  Natural times(const Natural& factor) const noexcept;
  Natural plus(const Natural& other) const noexcept;
  /// Returns this number minus `other`, which must not be larger.
  Natural minus(const Natural& other) const noexcept;

  /// Divides this number by `divisor`, which must not be 0, and returns the first 128 bits of the quotient. The unit of
  /// the quotient is 2^lowest_exponent: the unit of this number divided by the unit of the divisor.
  Leading divided_by(const Natural& divisor, int lowest_exponent) const noexcept;

 private:
  std::uint32_t digit(int position) const noexcept {
    return position < lowest_ || position >= lowest_ + count_ ? 0
                                                              : digits_[static_cast<std::size_t>(position - lowest_)];
  }
  /// Removes zero digits at both ends.
  void trim() noexcept;

  int lowest_ = 0;
  int count_ = 0;
  std::array<std::uint32_t, most_digits> digits_;  // the first `count_` digits are valid
};

}  // namespace steadfold::arithmetic
