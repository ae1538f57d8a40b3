// Exact sums in the form in which they are sent: an integer of many digits and flags for values without digits. Rounds
// them once. Rank order: irrelevant for sums of integers. Cost: a few ns for few digits. Source: Kulisch's long
// accumulator; the canonical digit range is new. The code has no floating-point operation, so it works in any
// floating-point environment.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "arithmetic/partial.hpp"
#include "kernels/rounded_double.hpp"

namespace steadfold::arithmetic {

__extension__ typedef unsigned __int128 Uint128;
__extension__ typedef __int128 Int128;

/// The parameters of an IEEE 754 binary format.
template <class Element>
struct Format {
  static_assert(std::is_same_v<Element, float> || std::is_same_v<Element, double>);
  using Bits = std::conditional_t<sizeof(Element) == 8, std::uint64_t, std::uint32_t>;
  static constexpr int precision = std::numeric_limits<Element>::digits;
  static constexpr int width = 8 * static_cast<int>(sizeof(Element));
  static constexpr Bits sign_bit = Bits{1} << (width - 1);
  static constexpr Bits implicit_bit = Bits{1} << (precision - 1);
  static constexpr Bits exponent_mask = (sign_bit >> (precision - 1)) - 1;  // the biased exponent of NaN and infinity
  static constexpr Bits infinity = exponent_mask << (precision - 1);
  // The canonical NaN: positive, without payload.
  static constexpr Bits quiet_nan = infinity | (implicit_bit >> 1);
  // Every finite value is below 2^top_exponent.
  static constexpr int top_exponent = std::numeric_limits<Element>::max_exponent;
  // The smallest positive value is 2^lowest_exponent.
  static constexpr int lowest_exponent = std::numeric_limits<Element>::min_exponent - precision;
};

/// Facts about a sum that its digits cannot represent. Flags of parts are combined with `or`.
enum Flags : std::uint8_t {
  no_flags = 0,
  has_nan = 1,
  has_plus_infinity = 2,
  has_minus_infinity = 4,
  not_minus_zero = 8,  // the sum has a term other than -0.0, so a sum of exactly zero is +0.0
  // The sum has a -0.0. Set only if labels distribute rows, because columns then have no number of rows.
  has_minus_zero = 16,
};

/// Returns the number of bits from the lowest bit of any term to the highest.
template <class Element, int factors>
constexpr int term_range = (Format<Element>::top_exponent - Format<Element>::lowest_exponent) * factors;

/// Returns the number of digits that a sum needs: the digits of a term, 64 bits for up to 2^63 terms, and the sign.
template <class Element, int factors>
constexpr int digits_needed = (term_range<Element, factors> + 64 + 1 + 31) / 32;

constexpr int widest_digit_count = digits_needed<double, 2>;

/// An integer as the range of its non-zero 32-bit digits in two's complement: sum of digits[i] 2^(32 (lowest + i)),
/// less 2^(32 (lowest + count)) when negative. Digit ranges are canonical: every integer has one. The first digit is
/// not 0, the last digit is not a mere repetition of the sign, and zero has lowest 0. The digits are not initialised.
/// There are two more digits than the widest sum has, for its carry.
struct DigitRange {
  int lowest = 0;
  int count = 0;
  bool negative = false;
  std::array<std::uint32_t, widest_digit_count + 2> digits;

  int end() const noexcept { return lowest + count; }
  bool zero() const noexcept { return count == 0 && !negative; }
  bool canonical() const noexcept;
  /// Returns the digit at a position inside or outside the range.
  std::uint32_t digit(int position) const noexcept {
    if (position >= end()) return negative ? ~std::uint32_t{0} : 0;
    return position < lowest ? 0 : digits[static_cast<std::size_t>(position - lowest)];
  }
};

/// Makes the digit range of the integer sum of words[i] 2^(32 (lowest + i)). There are at most `widest_digit_count`
/// words.
void make_digit_range(std::span<const std::int64_t> words, int lowest, DigitRange& range) noexcept;

/// Computes sum = a + b. Both must be canonical and within `widest_digit_count` digits. The sum may end one digit
/// higher.
void add_digit_ranges(const DigitRange& a, const DigitRange& b, DigitRange& sum) noexcept;

/// Returns the number of leading zero bits.
constexpr int zeros_before(Uint128 bits) noexcept {
  const auto high = static_cast<std::uint64_t>(bits >> 64);
  return high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(static_cast<std::uint64_t>(bits));
}

/// A number as its sign, the first 128 bits of its magnitude (the highest bit is set), whether any later bit is set,
/// and the exponent of the highest bit. Zero has no bits.
struct Leading {
  bool negative = false;
  bool sticky = false;
  int exponent = 0;
  Uint128 bits = 0;
};

/// Returns the leading bits of the range's integer, in units of 2^lowest_exponent.
Leading leading(const DigitRange& range, int lowest_exponent) noexcept;
/// Returns the leading bits of an integer of 128 bits, in units of 2^lowest_exponent.
inline Leading leading(Int128 integer, int lowest_exponent) noexcept {
  if (integer == 0) return {};
  // Computed without a branch, because its outcome would be random.
  const auto sign = static_cast<Uint128>(integer >> 127);
  const Uint128 magnitude = (static_cast<Uint128>(integer) ^ sign) - sign;
  const int spare = zeros_before(magnitude);
  return {
      .negative = integer < 0, .sticky = false, .exponent = lowest_exponent + 127 - spare, .bits = magnitude << spare};
}

/// Returns the leading bits of high 2^width + low, in units of 2^lowest_exponent. 0 <= low < 2^width, width <= 120.
inline Leading leading(Int128 high, Uint128 low, int width, int lowest_exponent) noexcept {
  if (low == 0) return leading(high, lowest_exponent + width);
  const bool negative = high < 0;
  const auto magnitude = static_cast<Uint128>(negative ? ~high : high);
  if (negative) low = (Uint128{1} << width) - low;
  const int spare = zeros_before(magnitude == 0 ? low : magnitude);
  if (magnitude == 0) return {.negative = negative, .exponent = lowest_exponent + 127 - spare, .bits = low << spare};
  const int beyond = width - spare;  // number of bits of `low` that do not fit
  Leading found{.negative = negative, .exponent = lowest_exponent + width + 127 - spare, .bits = magnitude << spare};
  found.bits |= beyond > 0 ? low >> beyond : low << -beyond;
  found.sticky = beyond > 0 && low << (128 - beyond) != 0;
  return found;
}

/// The units for which `rounded_normal` returns the bits of value 2^unit as a double, rounded once to the nearest, ties
/// to even; 0 is +0.0. For units from `lowest_normal_unit` to `highest_normal_unit` the result is a normal number.
inline constexpr int lowest_normal_unit = std::numeric_limits<double>::min_exponent - 1;
inline constexpr int highest_normal_unit = std::numeric_limits<double>::max_exponent - 1 - 128;
inline std::uint64_t rounded_normal(Int128 value, int unit) noexcept {
  return kernels::rounded_double(static_cast<std::uint64_t>(value),
                                 static_cast<std::uint64_t>(static_cast<Uint128>(value) >> 64), unit);
}

/// Returns the sum that flags, row count and number represent, rounded once to nearest, ties to even. A NaN is the
/// canonical quiet NaN. Without rows the sum is +0.0; if all terms are -0.0, it is -0.0.
template <class Result>
Result rounded(Flags flags, Count rows, const Leading& sum) noexcept;

/// Returns the square root of the sum, rounded once. The sum must not be negative (it is a sum of squares).
template <class Result>
Result rounded_root(Flags flags, Count rows, const Leading& sum) noexcept;

/// Returns the sum divided by `rows`, rounded once. `rows` is the number of terms, at least 1.
template <class Result>
Result rounded_mean(Flags flags, Count rows, const Leading& sum) noexcept;

}  // namespace steadfold::arithmetic
