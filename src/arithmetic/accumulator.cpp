#include "arithmetic/accumulator.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace steadfold::arithmetic {
namespace {

constexpr std::uint32_t all_ones = ~std::uint32_t{0};

// A term is shifted left by 0..31 bits and cut into digits; the last update takes what is left. One of two updates is
// below 2^32, the other below 2^(53 + 31 - 32) = 2^52; of four, the last is below 2^(106 + 31 - 96) = 2^41. With what
// the last carry left, below 2^33, 2^10 terms keep a word below 2^63.
constexpr Count terms_between_carries = Count{1} << 10;

/// How many digits a term is cut into.
template <class Mantissa>
constexpr unsigned updates = sizeof(Mantissa) > 8 ? 4 : 2;

/// A finite element is +-mantissa 2^(lowest_exponent of the format + shift).
template <class Element>
struct Factor {
  typename Format<Element>::Bits bits;
  std::uint64_t mantissa;
  unsigned shift;
  bool finite;
};

template <class Element>
inline Factor<Element> load(const std::byte* from, typename Format<Element>::Bits kept_bits) noexcept {
  using F = Format<Element>;
  typename F::Bits bits;
  std::memcpy(&bits, from, sizeof bits);
  bits &= kept_bits;
  const auto biased = (bits >> (F::precision - 1)) & F::exponent_mask;
  const typename F::Bits normal = biased != 0;
  const auto mantissa = (bits & (F::implicit_bit - 1)) | (normal << (F::precision - 1));
  return {bits, mantissa, static_cast<unsigned>(biased - normal), biased != F::exponent_mask};
}

/// Adds mantissa 2^bit, or subtracts it: `negative` is 0 or -1.
template <class Mantissa>
inline void update(std::int64_t* words, Mantissa mantissa, unsigned bit, std::int64_t negative) noexcept {
  const auto add = [negative](std::int64_t& word, std::uint64_t by) {
    word += (static_cast<std::int64_t>(by) ^ negative) - negative;
  };
  add(words[0], static_cast<std::uint32_t>(mantissa << bit));
  mantissa >>= 32 - bit;
  if constexpr (updates<Mantissa> == 4) {
    add(words[1], static_cast<std::uint32_t>(mantissa));
    add(words[2], static_cast<std::uint32_t>(mantissa >> 32));
    mantissa >>= 64;
  }
  add(words[updates<Mantissa> - 1], static_cast<std::uint64_t>(mantissa));
}

/// Starts a window whose next digit stands at `lowest`.
void open(Window& window, int lowest) noexcept {
  window.lowest = lowest;
  window.count = 0;
}

/// Appends the next higher digit; leading zeros only move the window up.
void append(Window& window, std::uint32_t digit) noexcept {
  if (window.count == 0 && digit == 0) {
    ++window.lowest;
  } else {
    window.digits[static_cast<std::size_t>(window.count++)] = digit;
  }
}

/// Ends a window with the signed carry out of its last digit.
void close(Window& window, std::int64_t carry) noexcept {
  for (; carry != 0 && carry != -1; carry >>= 32) append(window, static_cast<std::uint32_t>(carry));
  window.negative = carry < 0;
  const std::uint32_t sign = window.negative ? all_ones : 0;
  while (window.count > 0 && window.digits[static_cast<std::size_t>(window.count) - 1] == sign) --window.count;
  if (window.zero()) window.lowest = 0;
}

/// Rounds +-(bits + sticky) 2^(exponent - 63), the highest of the 64 bits set.
template <class Result>
Result round_once(bool negative, std::uint64_t bits, bool sticky, int exponent) noexcept {
  using F = Format<Result>;
  using Bits = typename F::Bits;
  const Bits sign = negative ? F::sign_bit : 0;
  Bits magnitude = F::infinity;
  if (exponent < F::top_exponent) {
    const int places = exponent - F::lowest_exponent + 1;  // bits down to the smallest subnormal; may be negative
    const int keep = std::clamp(places, 0, F::precision);
    std::uint64_t kept = keep == 0 ? 0 : bits >> (64 - keep);
    const std::uint64_t rest = places < 0 ? 0 : bits << keep;  // the first bit of it is the half
    const bool above_half = rest << 1 != 0 || sticky;
    if (rest >> 63 != 0 && (above_half || (kept & 1) != 0)) ++kept;
    // The implicit bit of `kept` adds 1 to the exponent, and so does a carry, up to infinity.
    const int biased_less_one = std::max(places - F::precision, 0);
    magnitude = (static_cast<Bits>(biased_less_one) << (F::precision - 1)) + static_cast<Bits>(kept);
  }
  return std::bit_cast<Result>(static_cast<Bits>(sign | magnitude));
}

/// floor(sqrt(n)) of n >= 2^126: the upper half's root bit by bit, the lower half by one division (Zimmermann 1999).
/// The quotient is never too small, at most 1 too large, and 2^32 only where it is.
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
  // (rest 2^32 + the next 32 bits) / (2 root), both halved: rest <= 2 root < 2^33.
  const std::uint64_t dividend = rest << 31 | static_cast<std::uint32_t>(n >> 32) >> 1;
  root = root << 32 | std::min(dividend / root, std::uint64_t{all_ones});
  return Uint128{root} * root > n ? root - 1 : root;
}

/// Writes the result if flags and row count decide it, and says whether they do.
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

bool Window::canonical() const noexcept {
  if (count == 0) return negative || lowest == 0;
  return digits[0] != 0 && digits[static_cast<std::size_t>(count) - 1] != (negative ? all_ones : 0);
}

void make_window(std::span<const std::int64_t> words, int lowest, Window& window) noexcept {
  open(window, lowest);
  std::int64_t carry = 0;
  for (const std::int64_t word : words) {
    // Wraps instead of overflowing where the words are not what they should be.
    const auto sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(word) + static_cast<std::uint64_t>(carry));
    append(window, static_cast<std::uint32_t>(sum));
    carry = sum >> 32;
  }
  close(window, carry);
}

void add_windows(const Window& a, const Window& b, Window& sum) noexcept {
  open(sum, a.zero() ? b.lowest : b.zero() ? a.lowest : std::min(a.lowest, b.lowest));
  const int end = std::max(a.end(), b.end());
  std::uint64_t carry = 0;
  for (int position = sum.lowest; position < end; ++position) {
    carry += std::uint64_t{a.digit(position)} + b.digit(position);
    append(sum, static_cast<std::uint32_t>(carry));
    carry >>= 32;
  }
  close(sum, static_cast<std::int64_t>(carry) - a.negative - b.negative);
}

/// The digits of a negative number's magnitude are complements, and 1 is added to the first digit, which is not 0 and
/// so ends the borrow.
Leading leading(const Window& window, int lowest_exponent) noexcept {
  if (window.zero()) return {};
  const int top = std::max(window.count, 1) - 1;
  const auto digit = [&](int i) { return i < 0 ? 0 : window.digits[static_cast<std::size_t>(i)]; };
  Uint128 bits = window.count == 0 ? 1 : digit(top);  // -2^(32 lowest) has no digits
  for (int i = 1; i < 4; ++i) bits = bits << 32 | digit(top - i);
  if (window.negative && window.count > 0) bits = top < 4 ? -bits : ~bits;
  const int spare = std::countl_zero(static_cast<std::uint32_t>(bits >> 96));
  bits <<= spare;
  bool sticky = top > 4;  // the first digit is not 0
  if (top >= 4) {
    const std::uint32_t complement = top == 4 ? 0 - digit(0) : ~digit(top - 4);
    const std::uint64_t fifth = std::uint64_t{window.negative ? complement : digit(top - 4)} << spare;
    bits |= fifth >> 32;
    sticky |= static_cast<std::uint32_t>(fifth) != 0;
  }
  return {.negative = window.negative,
          .sticky = sticky,
          .exponent = lowest_exponent + 32 * (window.lowest + top) + 31 - spare,
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
  // bits 2^(exponent - 127), with exponent - 127 made even: the root of the integer part has 64 bits, and a square
  // between it and the next integer's leaves a rest.
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
  // 2^127 / 2^64 at least: the quotient of the integer part has 64 bits, and what follows it stays below one.
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

template <class Element, int factors>
void Accumulator<Element, factors>::clear() noexcept {
  if (low_ <= high_) std::fill(words_.begin() + low_, words_.begin() + high_ + 1, 0);
  low_ = digit_count;
  high_ = 0;
  pending_ = 0;
  rows_ = 0;
  other_ = 0;
  special_ = no_flags;
}

template <class Element, int factors>
void Accumulator<Element, factors>::add_rows(const std::byte* first, const std::byte* second, Count rows,
                                             Bytes stride) noexcept {
  rows_ += rows;
  if (stride == sizeof(Element) && rows >= fewest_for_kernels)
    add_contiguous(first, second, rows);
  else
    add_one_by_one(first, second, rows, stride);
}

template <class Element, int factors>
void Accumulator<Element, factors>::add_window(const Window& window, Flags special, bool subtract) noexcept {
  special_ |= special;
  if (window.zero()) return;
  const std::int64_t sign = subtract ? -1 : 1;
  auto digit = static_cast<unsigned>(window.lowest);
  low_ = std::min(low_, digit);
  for (int i = 0; i < window.count; ++i) words_[digit++] += sign * window.digits[static_cast<std::size_t>(i)];
  if (window.negative && digit < digit_count) {
    words_[digit++] -= sign;
  } else if (window.negative) {
    words_[digit - 1] -= sign * (std::int64_t{1} << 32);
  }
  high_ = std::max(high_, digit - 1);
  if (++pending_ == terms_between_carries) carry();
}

template <class Element, int factors>
void Accumulator<Element, factors>::add_contiguous(const std::byte* first, const std::byte* second,
                                                   Count rows) noexcept {
  while (rows > 0) {
    const WindowSums sums = windows_.add(first, second, rows);
    const Count some = sums.count > 0 ? sums.count : std::min(rows, kernels::window_block);
    if (sums.count == 0) {
      add_block(first, second, some);
    } else {
      int level = 0;
      for (const std::int64_t sum : sums.sums) add_scaled(sum, kernels::window_unit(sums.top, level++));
      note_signs(first, second, some);
    }
    rows -= some;
    if (rows == 0) return;
    first += some * sizeof(Element);
    if (factors == 2) second += some * sizeof(Element);
  }
}

template <class Element, int factors>
void Accumulator<Element, factors>::add_one_by_one(const std::byte* first, const std::byte* second, Count rows,
                                                   Bytes stride) noexcept {
  while (rows > 0) {
    const Count some = std::min(rows, terms_between_carries - pending_);
    add_some(first, second, some, stride);
    rows -= some;
    if (rows > 0) {
      first += some * stride;
      if (factors == 2) second += some * stride;
    }
    pending_ += some;
    if (pending_ == terms_between_carries) carry();
  }
}

/// Terms that fit no window, one by one; doubles are cut into digits by vectors where kernels can.
template <class Element, int factors>
void Accumulator<Element, factors>::add_block(const std::byte* first, const std::byte* second, Count rows) noexcept {
  if (terms != kernels::Terms::doubles || segmentation_ == nullptr)
    return add_one_by_one(first, second, rows, sizeof(Element));
  kernels::Digits digits;
  for (Count some = 0; rows > 0; rows -= some, first += some * sizeof(Element)) {
    some = std::min(rows, kernels::most_cut);
    if (segmentation_(first, some, digits)) {
      add_digits(digits, some);
      note_signs(first, nullptr, some);
    } else {
      add_one_by_one(first, nullptr, some, sizeof(Element));
    }
  }
}

template <class Element, int factors>
void Accumulator<Element, factors>::add_digits(const kernels::Digits& digits, Count count) noexcept {
  if (pending_ + count > terms_between_carries) carry();
  unsigned low = low_;
  unsigned high = high_;
  for (std::size_t i = 0; i < count; ++i) {
    const auto digit = static_cast<unsigned>(digits.digit[i]);
    words_[digit] += digits.low[i];
    words_[digit + 1] += digits.high[i];
    low = std::min(low, digit);
    high = std::max(high, digit + 1);
  }
  low_ = low;
  high_ = high;
  pending_ += count;
}

/// Adds value 2^exponent, a multiple of 2^lowest_exponent: 96 bits at most, in three digits, which is no more than a
/// term.
template <class Element, int factors>
void Accumulator<Element, factors>::add_scaled(std::int64_t value, int exponent) noexcept {
  if (value == 0) return;
  const int above = exponent - lowest_exponent;
  if (above < 0) value >>= -above;
  const auto bit = static_cast<unsigned>(std::max(above, 0));
  auto rest = static_cast<Int128>(value) << (bit % 32);
  for (unsigned digit = bit / 32; digit < bit / 32 + 2; ++digit, rest >>= 32)
    words_[digit] += static_cast<std::uint32_t>(rest);
  words_[bit / 32 + 2] += static_cast<std::int64_t>(rest);
  low_ = std::min(low_, bit / 32);
  high_ = std::max(high_, bit / 32 + 2);
  if (++pending_ == terms_between_carries) carry();
}

/// Notes whether any of these finite terms is not -0.0. Mostly the first one tells.
template <class Element, int factors>
void Accumulator<Element, factors>::note_signs(const std::byte* first, const std::byte* second, Count rows) noexcept {
  for (Bytes at = 0; other_ == 0 && at < rows * sizeof(Element); at += sizeof(Element)) {
    const Factor<Element> x = load<Element>(first + at, kept_bits_);
    if constexpr (factors == 1) {
      other_ = x.bits ^ F::sign_bit;
    } else {
      const Factor<Element> y = load<Element>(second + at, kept_bits_);
      const bool is_zero = x.mantissa == 0 || y.mantissa == 0;
      other_ = !is_zero || ((x.bits ^ y.bits) & F::sign_bit) == 0;
    }
  }
}

/// The hot loop: integers only, with one branch, which only infinities and NaNs take.
template <class Element, int factors>
void Accumulator<Element, factors>::add_some(const std::byte* first, const std::byte* second, Count rows,
                                             Bytes stride) noexcept {
  using Mantissa = std::conditional_t<(factors * F::precision > 64), Uint128, std::uint64_t>;
  const Bits kept_bits = kept_bits_;
  unsigned low = low_;
  unsigned high = 0;
  std::uint64_t other = 0;
  for (Count row = 0; row < rows; ++row, first += stride) {
    const Factor<Element> x = load<Element>(first, kept_bits);
    Mantissa mantissa = x.mantissa;
    unsigned shift = x.shift;
    Bits sign = x.bits;
    bool finite = x.finite;
    Bits y_bits = 0;
    if constexpr (factors == 2) {
      const Factor<Element> y = load<Element>(second, kept_bits);
      second += stride;
      y_bits = y.bits;
      mantissa *= y.mantissa;
      shift += y.shift;
      sign ^= y.bits;
      finite = finite & y.finite;
    }
    if (!finite) [[unlikely]] {
      add_special(x.bits, y_bits);
      continue;
    }
    const std::int64_t negative = -static_cast<std::int64_t>(sign >> (F::width - 1));
    const unsigned digit = shift / 32;
    update(&words_[digit], mantissa, shift % 32, negative);
    low = std::min(low, digit);
    high = std::max(high, digit);
    if constexpr (factors == 1) {
      other |= x.bits ^ F::sign_bit;
    } else {
      other |= static_cast<std::uint64_t>(mantissa != 0) | static_cast<std::uint64_t>(~negative);
    }
  }
  low_ = low;
  high_ = std::max(high_, high + updates<Mantissa> - 1);
  other_ |= other;
}

/// At least one factor (the term itself when factors = 1) is an infinity or NaN.
template <class Element, int factors>
void Accumulator<Element, factors>::add_special(Bits x, Bits y) noexcept {
  const auto nan = [](Bits bits) { return (bits & ~F::sign_bit) > F::infinity; };
  const auto zero = [](Bits bits) { return (bits & ~F::sign_bit) == 0; };
  other_ |= 1;
  if (nan(x) || (factors == 2 && (nan(y) || zero(x) || zero(y)))) {
    special_ |= has_nan;  // inf * 0 is one
  } else {
    special_ |= ((x ^ y) & F::sign_bit) != 0 ? has_minus_infinity : has_plus_infinity;
  }
}

/// Carries from word to word: all but the highest become 0..2^32 - 1, the highest a signed digit.
template <class Element, int factors>
void Accumulator<Element, factors>::carry() noexcept {
  pending_ = 0;
  if (low_ > high_) return;
  std::int64_t carry = 0;
  for (unsigned i = low_; i < high_; ++i) {
    const std::int64_t sum = words_[i] + carry;
    words_[i] = static_cast<std::uint32_t>(sum);
    carry = sum >> 32;
  }
  for (words_[high_] += carry; words_[high_] >> 32 != words_[high_] >> 63; ++high_) {
    words_[high_ + 1] = words_[high_] >> 32;
    words_[high_] = static_cast<std::uint32_t>(words_[high_]);
  }
}

template class Accumulator<float, 1>;
template class Accumulator<float, 2>;
template class Accumulator<double, 1>;
template class Accumulator<double, 2>;

}  // namespace steadfold::arithmetic
