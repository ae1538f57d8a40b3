#include "arithmetic/superaccumulator/accumulator.hpp"

#include <algorithm>
#include <bit>

#include "arithmetic/superaccumulator/term.hpp"

namespace steadfold::arithmetic {
namespace {

// The number of terms between two carries. A term is shifted left by 0..31 bits and cut into digits; the last update
// adds the remainder. If there are two updates, the first is below 2^32 and the last below 2^(53 + 31 - 32) = 2^52. If
// there are four, the last is below 2^(106 + 31 - 96) = 2^41. A carry leaves a word below 2^33. So 2^10 terms keep a
// word below 2^63.
constexpr Count terms_between_carries = Count{1} << 10;

/// Fewer rows than this are added one by one although no others come.
constexpr Count fewest_alone = 4;

/// The number of digits into which a term is cut.
template <class Mantissa>
constexpr unsigned updates = sizeof(Mantissa) > 8 ? 4 : 2;

/// Adds mantissa 2^bit, or subtracts it. `negative` is 0, or -1 to subtract.
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

}  // namespace

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
    add_contiguous(first, second, rows, finder_.add(first, second, rows));
  else
    add_one_by_one(first, second, rows, stride);
}

template <class Element, int factors>
bool Accumulator<Element, factors>::sum_or_add(const std::byte* first, const std::byte* second, Count rows,
                                               Leading& sum) noexcept {
  rows_ += rows;
  if (rows < fewest_alone) {
    add_one_by_one(first, second, rows, sizeof(Element));
    return false;
  }
  const ExtractedSums sums = finder_.add(first, second, rows);
  if (sums.count < rows) {
    add_contiguous(first, second, rows, sums);
    return false;
  }
  note_signs(first, second, rows, sizeof(Element));
  sum = sums.leading();
  return true;
}

template <class Element, int factors>
void Accumulator<Element, factors>::add_sums(const ExtractedSums& sums, const std::byte* first, const std::byte* second,
                                             Bytes stride) noexcept {
  rows_ += sums.count;
  add_scaled(sums);
  note_signs(first, second, sums.count, stride);
}

template <class Element, int factors>
void Accumulator<Element, factors>::add_digit_range(const DigitRange& range, Flags special, bool subtract) noexcept {
  special_ |= special;
  if (range.zero()) return;
  const std::int64_t sign = subtract ? -1 : 1;
  auto digit = static_cast<unsigned>(range.lowest);
  low_ = std::min(low_, digit);
  for (int i = 0; i < range.count; ++i) words_[digit++] += sign * range.digits[static_cast<std::size_t>(i)];
  if (range.negative && digit < digit_count) {
    words_[digit++] -= sign;
  } else if (range.negative) {
    words_[digit - 1] -= sign * (std::int64_t{1} << 32);
  }
  high_ = std::max(high_, digit - 1);
  if (++pending_ == terms_between_carries) carry();
}

/// Adds rows of which `sums`, just found, has the first.
template <class Element, int factors>
void Accumulator<Element, factors>::add_contiguous(const std::byte* first, const std::byte* second, Count rows,
                                                   ExtractedSums sums) noexcept {
  for (;;) {
    const Count some = sums.count > 0 ? sums.count : std::min(rows, kernels::extraction_block);
    if (sums.count == 0) {
      add_block(first, second, some);
    } else {
      add_scaled(sums);
      note_signs(first, second, some, sizeof(Element));
    }
    rows -= some;
    if (rows == 0) return;
    first += some * sizeof(Element);
    if (factors == 2) second += some * sizeof(Element);
    sums = finder_.add(first, second, rows);
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

/// Adds terms that fit no exponent range, one by one. A vector kernel cuts doubles into digits, if the target has this
/// kernel.
template <class Element, int factors>
void Accumulator<Element, factors>::add_block(const std::byte* first, const std::byte* second, Count rows) noexcept {
  if (sizeof(Element) != sizeof(double) || factors != 1 || cut_into_digits_ == nullptr)
    return add_one_by_one(first, second, rows, sizeof(Element));
  kernels::Digits digits;
  for (Count some = 0; rows > 0; rows -= some, first += some * sizeof(Element)) {
    some = std::min(rows, kernels::most_cut);
    if (cut_into_digits_(first, some, digits)) {
      add_digits(digits, some);
      note_signs(first, nullptr, some, sizeof(Element));
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

/// The value has at most 96 bits, in three digits.
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

template <class Element, int factors>
void Accumulator<Element, factors>::add_scaled(const ExtractedSums& sums) noexcept {
  int level = 0;
  for (const std::int64_t sum : sums.sums) add_scaled(sum, kernels::level_unit(sums.top, level++));
}

/// Records whether any of these finite terms is not -0.0. In most calls the first term decides.
template <class Element, int factors>
void Accumulator<Element, factors>::note_signs(const std::byte* first, const std::byte* second, Count rows,
                                               Bytes stride) noexcept {
  for (Count row = 0; other_ == 0 && row < rows; ++row) {
    const Bytes at = row * stride;
    const Factor<Element> x = load_factor<Element>(first + at, kept_bits_);
    if constexpr (factors == 1)
      other_ = !is_minus_zero(x);
    else
      other_ = !is_minus_zero(x, load_factor<Element>(second + at, kept_bits_));
  }
}

/// Adds terms; the inner loop. The loop has only integer operations, and one branch, which only infinities and NaNs
/// take.
template <class Element, int factors>
void Accumulator<Element, factors>::add_some(const std::byte* first, const std::byte* second, Count rows,
                                             Bytes stride) noexcept {
  using Mantissa = std::conditional_t<(factors * F::precision > 64), Uint128, std::uint64_t>;
  const Bits kept_bits = kept_bits_;
  unsigned low = low_;
  unsigned high = 0;
  std::uint64_t other = 0;
  for (Count row = 0; row < rows; ++row, first += stride) {
    const Factor<Element> x = load_factor<Element>(first, kept_bits);
    Mantissa mantissa = x.mantissa;
    unsigned shift = x.shift;
    Bits sign = x.bits;
    bool finite = x.finite;
    Bits y_bits = 0;
    if constexpr (factors == 2) {
      const Factor<Element> y = load_factor<Element>(second, kept_bits);
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

/// Adds a term that has an infinity or NaN as a factor (as the term itself, if factors = 1).
template <class Element, int factors>
void Accumulator<Element, factors>::add_special(Bits x, Bits y) noexcept {
  const auto nan = [](Bits bits) { return (bits & ~F::sign_bit) > F::infinity; };
  const auto zero = [](Bits bits) { return (bits & ~F::sign_bit) == 0; };
  other_ |= 1;
  if (nan(x) || (factors == 2 && (nan(y) || zero(x) || zero(y)))) {
    special_ |= has_nan;  // infinity times 0 is a NaN
  } else {
    special_ |= ((x ^ y) & F::sign_bit) != 0 ? has_minus_infinity : has_plus_infinity;
  }
}

/// Carries from word to word. Afterwards the highest word is a signed digit, and every other word is 0..2^32 - 1.
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
