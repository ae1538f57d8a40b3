// A long fixed-point accumulator: sums of floats, doubles or their products without error, rounded once at the end.
// Rank order: none, the sum of integers has no order. Cost: 2 word updates per term (4 for products of doubles); a few
// vector additions for contiguous terms that lie near each other in exponent (window_finder.hpp).
// Source: Kulisch's long accumulator in carry-save digits. Windows want the promised environment, the digits none.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "arithmetic/partial.hpp"
#include "arithmetic/window_finder.hpp"
#include "kernels/digits.hpp"

namespace steadfold::arithmetic {

__extension__ typedef unsigned __int128 Uint128;
__extension__ typedef __int128 Int128;

/// What an IEEE 754 binary format is made of.
template <class Element>
struct Format {
  static_assert(std::is_same_v<Element, float> || std::is_same_v<Element, double>);
  using Bits = std::conditional_t<sizeof(Element) == 8, std::uint64_t, std::uint32_t>;
  static constexpr int precision = std::numeric_limits<Element>::digits;
  static constexpr int width = 8 * static_cast<int>(sizeof(Element));
  static constexpr Bits sign_bit = Bits{1} << (width - 1);
  static constexpr Bits implicit_bit = Bits{1} << (precision - 1);
  static constexpr Bits exponent_mask = (sign_bit >> (precision - 1)) - 1;  // the biased exponent of NaN, inf
  static constexpr Bits infinity = exponent_mask << (precision - 1);
  static constexpr Bits quiet_nan = infinity | (implicit_bit >> 1);                // canonical: positive, no payload
  static constexpr int top_exponent = std::numeric_limits<Element>::max_exponent;  // every value is below 2^top
  static constexpr int lowest_exponent = std::numeric_limits<Element>::min_exponent - precision;  // smallest = 2^lowest
};

/// What the digits of a sum cannot say. Flags of parts are united by `or`.
enum Flags : std::uint8_t {
  no_flags = 0,
  has_nan = 1,
  has_plus_infinity = 2,
  has_minus_infinity = 4,
  not_minus_zero = 8,  // a term other than -0.0: an exact zero is +0.0
};

/// The bits from the lowest of a term to the highest.
template <class Element, int factors>
constexpr int term_range = (Format<Element>::top_exponent - Format<Element>::lowest_exponent) * factors;

/// The digits a sum needs, with 64 bits above the terms for as many as 2^63 of them, and the sign.
template <class Element, int factors>
constexpr int digits_needed = (term_range<Element, factors> + 64 + 1 + 31) / 32;

constexpr int widest_digit_count = digits_needed<double, 2>;

/// An integer as the window of its non-zero 32-bit digits, two's complement: sum of digits[i] 2^(32 (lowest + i)), less
/// 2^(32 (lowest + count)) when negative. Canonical, one window for one integer: the first digit is not 0, the last is
/// not what the sign continues with, zero has lowest 0. The digits are not initialised; there are two more than the
/// widest sum has, for the carry out of it.
struct Window {
  int lowest = 0;
  int count = 0;
  bool negative = false;
  std::array<std::uint32_t, widest_digit_count + 2> digits;

  int end() const noexcept { return lowest + count; }
  bool zero() const noexcept { return count == 0 && !negative; }
  bool canonical() const noexcept;
  /// The digit at a position inside or outside the window.
  std::uint32_t digit(int position) const noexcept {
    if (position >= end()) return negative ? ~std::uint32_t{0} : 0;
    return position < lowest ? 0 : digits[static_cast<std::size_t>(position - lowest)];
  }
};

/// The integer sum of words[i] 2^(32 (lowest + i)); at most `widest_digit_count` words.
void make_window(std::span<const std::int64_t> words, int lowest, Window& window) noexcept;

/// sum = a + b; both canonical and within `widest_digit_count` digits. The sum may end one digit higher.
void add_windows(const Window& a, const Window& b, Window& sum) noexcept;

/// How many bits stand before the first that is set.
constexpr int zeros_before(Uint128 bits) noexcept {
  const auto high = static_cast<std::uint64_t>(bits >> 64);
  return high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(static_cast<std::uint64_t>(bits));
}

/// A number as its sign, the first 128 bits of its magnitude, the highest of them set, whether a bit follows that is
/// set, and the exponent of the highest. No bits: zero.
struct Leading {
  bool negative = false;
  bool sticky = false;
  int exponent = 0;
  Uint128 bits = 0;
};

/// The window's integer in units of 2^lowest_exponent.
Leading leading(const Window& window, int lowest_exponent) noexcept;

/// The sum that flags, row count and number stand for, rounded once to the nearest, ties to even. NaN is the canonical
/// quiet NaN; no rows give +0.0, none but -0.0 give -0.0.
template <class Result>
Result rounded(Flags flags, Count rows, const Leading& sum) noexcept;

/// Its square root, rounded once; the sum is not negative (a sum of squares).
template <class Result>
Result rounded_root(Flags flags, Count rows, const Leading& sum) noexcept;

/// Its quotient by `rows` (at least 1, all of them terms of the sum), rounded once.
template <class Result>
Result rounded_mean(Flags flags, Count rows, const Leading& sum) noexcept;

/// Fewer rows are added one by one, which is as fast, by integers alone.
inline constexpr Count fewest_for_kernels = 32;

/// What becomes of a term's sign.
enum class Signs : bool { kept, dropped };

/// Terms are elements (factors = 1), of which signs may be dropped, or products of two (factors = 2). At most 2^63 of
/// them. Does not allocate.
template <class Element, int factors>
class Accumulator {
  using F = Format<Element>;
  using Bits = typename F::Bits;

 public:
  static constexpr int lowest_exponent = factors * F::lowest_exponent;
  static constexpr int digit_count = digits_needed<Element, factors>;

  /// With the kernels of `target`; `scalar` adds one by one, which is the reference.
  explicit Accumulator(kernels::Target target = kernels::chosen(), Signs signs = Signs::kept) noexcept
      : kept_bits_(signs == Signs::kept ? ~Bits{0} : ~F::sign_bit),
        windows_(signs == Signs::kept ? terms : absolute_terms, target),
        segmentation_(signs == Signs::kept ? kernels::cut_into_digits(target) : nullptr) {}

  /// Cost: the digits touched since the last one.
  void clear() noexcept;

  /// Adds `rows` elements that stand `stride` bytes apart (aligned or not), or their products with those of `second`,
  /// which may be `first`.
  void add_rows(const std::byte* first, const std::byte* second, Count rows, Bytes stride) noexcept;

  /// Adds the integer of a window in units of 2^lowest_exponent, or subtracts it, and unites the flags of infinities
  /// and NaNs. The window and the sum end within `digit_count`. No row is counted.
  void add_window(const Window& window, Flags special, bool subtract) noexcept;

  Count rows() const noexcept { return rows_; }
  /// Whether the highest digit certainly holds nothing but the sign. Words of two digits stand below it.
  bool far_from_top() const noexcept { return low_ > high_ || high_ + 2 < digit_count; }
  Flags special() const noexcept { return static_cast<Flags>(special_); }
  Flags flags() const noexcept { return static_cast<Flags>(special_ | (other_ != 0 ? not_minus_zero : no_flags)); }
  void window(Window& window) const noexcept {
    if (low_ > high_) return make_window({}, 0, window);
    make_window(std::span(words_).subspan(low_, high_ - low_ + 1), static_cast<int>(low_), window);
  }

  Leading leading() const noexcept {
    Window digits;
    window(digits);
    return arithmetic::leading(digits, lowest_exponent);
  }

  template <class Result>
  Result rounded() const noexcept {
    return arithmetic::rounded<Result>(flags(), rows_, leading());
  }
  template <class Result>
  Result rounded_root() const noexcept {
    return arithmetic::rounded_root<Result>(flags(), rows_, leading());
  }
  template <class Result>
  Result rounded_mean() const noexcept {
    return arithmetic::rounded_mean<Result>(flags(), rows_, leading());
  }

 private:
  static constexpr kernels::Terms terms =
      sizeof(Element) == 8 ? (factors == 1 ? kernels::Terms::doubles : kernels::Terms::products_of_doubles)
                           : (factors == 1 ? kernels::Terms::floats : kernels::Terms::products_of_floats);

  static constexpr kernels::Terms absolute_terms =
      sizeof(Element) == 8 ? kernels::Terms::absolute_doubles : kernels::Terms::absolute_floats;

  void add_contiguous(const std::byte* first, const std::byte* second, Count rows) noexcept;
  void add_one_by_one(const std::byte* first, const std::byte* second, Count rows, Bytes stride) noexcept;
  void add_block(const std::byte* first, const std::byte* second, Count rows) noexcept;
  void add_digits(const kernels::Digits& digits, Count count) noexcept;
  void add_scaled(std::int64_t value, int exponent) noexcept;
  void note_signs(const std::byte* first, const std::byte* second, Count rows) noexcept;
  void add_some(const std::byte* first, const std::byte* second, Count rows, Bytes stride) noexcept;
  void add_special(Bits x, Bits y) noexcept;
  void carry() noexcept;

  std::array<std::int64_t, digit_count> words_{};
  unsigned low_ = digit_count;  // words outside low_..high_ are 0
  unsigned high_ = 0;
  Count pending_ = 0;  // terms since the last carry
  Count rows_ = 0;
  std::uint64_t other_ = 0;  // not 0: some term was not -0.0
  std::uint8_t special_ = no_flags;
  Bits kept_bits_;  // of an element
  WindowFinder windows_;
  kernels::CutIntoDigits segmentation_;
};

extern template class Accumulator<float, 1>;
extern template class Accumulator<float, 2>;
extern template class Accumulator<double, 1>;
extern template class Accumulator<double, 2>;

}  // namespace steadfold::arithmetic
