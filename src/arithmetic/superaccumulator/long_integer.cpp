#include "arithmetic/superaccumulator/long_integer.hpp"

#include <algorithm>
#include <cstring>

namespace steadfold::arithmetic {
namespace {

constexpr std::uint32_t all_ones = ~std::uint32_t{0};

/// Starts a digit range whose next digit has position `lowest`.
void open(DigitRange& range, int lowest) noexcept {
  range.lowest = lowest;
  range.count = 0;
}

/// Appends the next higher digit; leading zeros only move the range up.
void append(DigitRange& range, std::uint32_t digit) noexcept {
  if (range.count == 0 && digit == 0) {
    ++range.lowest;
  } else {
    range.digits[static_cast<std::size_t>(range.count++)] = digit;
  }
}

/// Ends a digit range with the signed carry out of its last digit.
void close(DigitRange& range, std::int64_t carry) noexcept {
  for (; carry != 0 && carry != -1; carry >>= 32) append(range, static_cast<std::uint32_t>(carry));
  range.negative = carry < 0;
  const std::uint32_t sign = range.negative ? all_ones : 0;
  while (range.count > 0 && range.digits[static_cast<std::size_t>(range.count) - 1] == sign) --range.count;
  if (range.zero()) range.lowest = 0;
}

/// Number of digits up to which digit ranges are added without loops, because no processor predicts the ends of these
/// loops.
constexpr int few_digits = 4;
bool has_few_digits(const DigitRange& range) noexcept { return range.count >= 1 && range.count <= few_digits; }

/// Six digits as three words, the lowest first.
using SixDigits = std::array<std::uint64_t, 3>;

/// Returns the integer of a range with few digits, shifted up by `shift` digits, in six digits: `shift` zeros, the
/// range's digits, and above them all zeros, or all ones if the integer is negative. 0 <= shift <= 4.
SixDigits six_digits(const DigitRange& range, int shift) noexcept {
  std::array<std::uint32_t, few_digits + few_digits + 8> all;
  std::fill_n(all.begin(), few_digits, 0);
  std::memcpy(all.data() + few_digits, range.digits.data(), few_digits * sizeof(std::uint32_t));
  std::fill_n(all.begin() + few_digits + range.count, 8, range.negative ? all_ones : 0);
  const std::uint32_t* const from = all.data() + few_digits - shift;
  const auto word = [&](int i) { return from[2 * i] | static_cast<std::uint64_t>(from[2 * i + 1]) << 32; };
  return {word(0), word(1), word(2)};
}

/// Returns the number of zero digits below the lowest non-zero digit; 6 if all digits are 0.
int zeros_below(const SixDigits& digits) noexcept {
  const bool in_first = digits[0] != 0;
  const bool in_second = digits[1] != 0;
  const std::uint64_t word = in_first ? digits[0] : in_second ? digits[1] : digits[2];
  const int below = in_first ? 0 : in_second ? 2 : 4;
  return word == 0 ? 6 : below + (static_cast<std::uint32_t>(word) == 0 ? 1 : 0);
}

/// Returns the number of digits up to the last digit that is not 0.
int digits_up_to_last(const SixDigits& digits) noexcept {
  const bool in_third = digits[2] != 0;
  const bool in_second = digits[1] != 0;
  const std::uint64_t word = in_third ? digits[2] : in_second ? digits[1] : digits[0];
  const int below = in_third ? 4 : in_second ? 2 : 0;
  return below + (word >> 32 != 0 ? 2 : word != 0 ? 1 : 0);
}

/// Computes a + b. `lowest` is the lower of the two lowest positions. All digits, and one more for the carry, must be
/// at most six.
void add_few_digits(const DigitRange& a, const DigitRange& b, int lowest, DigitRange& sum) noexcept {
  const SixDigits x = six_digits(a, a.lowest - lowest);
  const SixDigits y = six_digits(b, b.lowest - lowest);
  SixDigits all;
  Uint128 carry = 0;
  for (std::size_t i = 0; i < all.size(); ++i, carry >>= 64) {
    carry += Uint128{x[i]} + y[i];
    all[i] = static_cast<std::uint64_t>(carry);
  }
  sum.negative = all[2] >> 63 != 0;
  const std::uint64_t sign = sum.negative ? ~std::uint64_t{0} : 0;
  const int zeros = zeros_below(all);
  const int end = digits_up_to_last({all[0] ^ sign, all[1] ^ sign, all[2] ^ sign});
  sum.lowest = zeros == 6 ? 0 : lowest + zeros;
  sum.count = std::max(end - zeros, 0);
  std::array<std::uint32_t, 12> digits{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    digits[2 * i] = static_cast<std::uint32_t>(all[i]);
    digits[2 * i + 1] = static_cast<std::uint32_t>(all[i] >> 32);
  }
  std::copy_n(digits.begin() + zeros, 6, sum.digits.begin());
}

/// Returns the leading bits of a range with few digits. Reads digit by digit, as they were written: a wider load right
/// afterwards would have to wait for the stores.
Leading leading_of_few(const DigitRange& range, int lowest_exponent) noexcept {
  Uint128 bits = range.digits[few_digits - 1];
  for (std::size_t i = few_digits - 1; i-- > 0;) bits = bits << 32 | range.digits[i];
  // The last digit becomes the highest; digits from earlier sums are shifted out.
  bits <<= 32 * (few_digits - range.count);
  const Uint128 sign = range.negative ? ~Uint128{0} : 0;
  bits = (bits ^ sign) - sign;
  const int spare = std::countl_zero(static_cast<std::uint32_t>(bits >> 96));
  return {.negative = range.negative,
          .sticky = false,
          .exponent = lowest_exponent + 32 * range.end() - 1 - spare,
          .bits = bits << spare};
}

/// Rounds +-(bits + sticky) 2^(exponent - 63), with the highest of the 64 bits set.
template <class Result>
Result round_once(bool negative, std::uint64_t bits, bool sticky, int exponent) noexcept {
  using F = Format<Result>;
  using Bits = typename F::Bits;
  const Bits sign = negative ? F::sign_bit : 0;
  Bits magnitude = F::infinity;
  if (exponent < F::top_exponent) {
    // Number of places down to the smallest subnormal; may be negative.
    const int places = exponent - F::lowest_exponent + 1;
    const int keep = std::clamp(places, 0, F::precision);
    std::uint64_t kept = keep == 0 ? 0 : bits >> (64 - keep);
    // The bits below the last place; the first of them is one half of the last place.
    const std::uint64_t rest = places < 0 ? 0 : bits << keep;
    const bool above_half = (rest << 1 != 0) | sticky;
    kept += (rest >> 63) & (static_cast<std::uint64_t>(above_half) | kept);  // a branch would often be mispredicted
    const int biased_less_one = std::max(places - F::precision, 0);
    magnitude = (static_cast<Bits>(biased_less_one) << (F::precision - 1)) + static_cast<Bits>(kept);
  }
  return std::bit_cast<Result>(static_cast<Bits>(sign | magnitude));
}

/// Returns floor(sqrt(n)) for n >= 2^126: the root of the upper half bit by bit, the lower half with one division
/// (Zimmermann 1999). The quotient is never too small and at most 1 too large; it is 2^32 only if it is too large.
std::uint64_t integer_root(Uint128 n) noexcept {
  std::uint64_t root = 0;
  auto rest = static_cast<std::uint64_t>(n >> 64);
  for (std::uint64_t bit = std::uint64_t{1} << 62; bit != 0; bit >>= 2) {
    const std::uint64_t trial = root + bit;
    root >>= 1;
    if (rest >= trial) {
      rest -= trial;
      root += bit;
    }
  }
  // The division is (rest 2^32 + the next 32 bits) / (2 root), with both operands halved: rest <= 2 root < 2^33.
  const std::uint64_t dividend = rest << 31 | static_cast<std::uint32_t>(n >> 32) >> 1;
  root = root << 32 | std::min(dividend / root, std::uint64_t{all_ones});
  return Uint128{root} * root > n ? root - 1 : root;
}

/// If the flags and the number of rows decide the result, writes it and returns true.
template <class Result>
bool special(Flags flags, Count rows, const Leading& sum, Result& result) noexcept {
  using F = Format<Result>;
  const bool plus = (flags & has_plus_infinity) != 0;
  const bool minus = (flags & has_minus_infinity) != 0;
  typename F::Bits bits = 0;
  if ((flags & has_nan) != 0 || (plus && minus)) {
    bits = F::quiet_nan;
  } else if (plus || minus) {
    bits = F::infinity | (minus ? F::sign_bit : 0);
  } else if (sum.bits == 0) {
    bits = rows > 0 && (flags & not_minus_zero) == 0 ? F::sign_bit : 0;
  } else {
    return false;
  }
  result = std::bit_cast<Result>(bits);
  return true;
}

}  // namespace

bool DigitRange::canonical() const noexcept {
  if (count == 0) return negative || lowest == 0;
  return digits[0] != 0 && digits[static_cast<std::size_t>(count) - 1] != (negative ? all_ones : 0);
}

void make_digit_range(std::span<const std::int64_t> words, int lowest, DigitRange& range) noexcept {
  open(range, lowest);
  std::int64_t carry = 0;
  for (const std::int64_t word : words) {
    // The sum wraps around instead of overflowing if the words are invalid.
    const auto sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(word) + static_cast<std::uint64_t>(carry));
    append(range, static_cast<std::uint32_t>(sum));
    carry = sum >> 32;
  }
  close(range, carry);
}

void add_digit_ranges(const DigitRange& a, const DigitRange& b, DigitRange& sum) noexcept {
  const int lowest = a.zero() ? b.lowest : b.zero() ? a.lowest : std::min(a.lowest, b.lowest);
  const int end = std::max(a.end(), b.end());
  if (has_few_digits(a) && has_few_digits(b) && end - lowest <= few_digits + 1)
    return add_few_digits(a, b, lowest, sum);
  open(sum, lowest);
  std::uint64_t carry = 0;
  for (int position = sum.lowest; position < end; ++position) {
    carry += std::uint64_t{a.digit(position)} + b.digit(position);
    append(sum, static_cast<std::uint32_t>(carry));
    carry >>= 32;
  }
  close(sum, static_cast<std::int64_t>(carry) - a.negative - b.negative);
}

/// Returns the leading bits of a digit range. The digits of a negative number's magnitude are complements. 1 is added
/// to the first digit, which is not 0, so there is no further carry.
Leading leading(const DigitRange& range, int lowest_exponent) noexcept {
  if (range.zero()) return {};
  if (has_few_digits(range)) return leading_of_few(range, lowest_exponent);
  const int top = std::max(range.count, 1) - 1;
  const auto digit = [&](int i) { return i < 0 ? 0 : range.digits[static_cast<std::size_t>(i)]; };
  Uint128 bits = range.count == 0 ? 1 : digit(top);  // the number -2^(32 lowest) has a range without digits
  for (int i = 1; i < 4; ++i) bits = bits << 32 | digit(top - i);
  if (range.negative && range.count > 0) bits = top < 4 ? -bits : ~bits;
  const int spare = std::countl_zero(static_cast<std::uint32_t>(bits >> 96));
  bits <<= spare;
  bool sticky = top > 4;  // lower digits are not all 0, because the first digit is not 0
  if (top >= 4) {
    const std::uint32_t complement = top == 4 ? 0 - digit(0) : ~digit(top - 4);
    const std::uint64_t fifth = std::uint64_t{range.negative ? complement : digit(top - 4)} << spare;
    bits |= fifth >> 32;
    sticky |= static_cast<std::uint32_t>(fifth) != 0;
  }
  return {.negative = range.negative,
          .sticky = sticky,
          .exponent = lowest_exponent + 32 * (range.lowest + top) + 31 - spare,
          .bits = bits};
}

template <class Result>
Result rounded(Flags flags, Count rows, const Leading& sum) noexcept {
  Result result;
  if (special(flags, rows, sum, result)) return result;
  const bool sticky = sum.sticky || static_cast<std::uint64_t>(sum.bits) != 0;
  return round_once<Result>(sum.negative, static_cast<std::uint64_t>(sum.bits >> 64), sticky, sum.exponent);
}

template <class Result>
Result rounded_root(Flags flags, Count rows, const Leading& sum) noexcept {
  Result result;
  if (special(flags, rows, sum, result)) return result;
  // If exponent - 127 is made even in bits 2^(exponent - 127), the root of the integer part has 64 bits. If the sum is
  // not the square of this root, there is a remainder.
  Uint128 bits = sum.bits;
  const bool is_odd = (sum.exponent & 1) == 0;
  if (is_odd) bits >>= 1;
  const int exponent = sum.exponent + (is_odd ? 1 : 0);
  const std::uint64_t root = integer_root(bits);
  const bool sticky = sum.sticky || (is_odd && (sum.bits & 1) != 0) || Uint128{root} * root != bits;
  return round_once<Result>(false, root, sticky, 63 + (exponent - 127) / 2);
}

template <class Result>
Result rounded_mean(Flags flags, Count rows, const Leading& sum) noexcept {
  Result result;
  if (special(flags, rows, sum, result)) return result;
  // The quotient is at least 2^127 / 2^64, so its integer part has 64 bits, and the remainder adds less than one to it.
  const Uint128 quotient = sum.bits / rows;
  const int spare = zeros_before(quotient);
  const Uint128 bits = quotient << spare;
  const bool sticky = sum.sticky || quotient * rows != sum.bits || static_cast<std::uint64_t>(bits) != 0;
  return round_once<Result>(sum.negative, static_cast<std::uint64_t>(bits >> 64), sticky, sum.exponent - spare);
}

template float rounded(Flags, Count, const Leading&) noexcept;
template double rounded(Flags, Count, const Leading&) noexcept;
template float rounded_root(Flags, Count, const Leading&) noexcept;
template double rounded_root(Flags, Count, const Leading&) noexcept;
template float rounded_mean(Flags, Count, const Leading&) noexcept;
template double rounded_mean(Flags, Count, const Leading&) noexcept;

}  // namespace steadfold::arithmetic
