// The exact sum of one column in little memory: an integer of two words, with a unit of its own. Bits without room are
// passed to a function of the caller, which sets them aside: smaller terms, or the low bits of the integer when a much
// larger term comes. So the integer has the leading bits. Products of doubles are cut into a high and a low word of at
// most 53 bits, which have an integer each.
// Rank order: none. Cost: 24 bytes, 48 for products of doubles; some twenty instructions per term. All are integer
// instructions, so they work in any floating-point environment.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>

#include "arithmetic/rows/dealt_builder.hpp"
#include "arithmetic/superaccumulator/accumulator.hpp"

namespace steadfold::arithmetic {

/// The biased exponent of a double.
inline int biased_exponent(std::uint64_t bits) noexcept {
  return static_cast<int>(bits >> (Format<double>::precision - 1) & Format<double>::exponent_mask);
}

/// The integer of a finite double's magnitude, in units that belong to its exponent.
inline std::uint64_t magnitude_of(std::uint64_t bits) noexcept {
  constexpr std::uint64_t implicit_bit = Format<double>::implicit_bit;
  return (bits & (implicit_bit - 1)) | (biased_exponent(bits) == 0 ? 0 : implicit_bit);
}

/// 0 or -1.
inline std::int64_t sign_of(std::uint64_t bits) noexcept { return static_cast<std::int64_t>(bits) >> 63; }

inline std::int64_t with_sign(std::uint64_t magnitude, std::int64_t sign) noexcept {
  return (static_cast<std::int64_t>(magnitude) ^ sign) - sign;
}

/// Returns the number of trailing zero bits of a value that is not 0.
inline int zeros_below(Int128 value) noexcept {
  const auto low = static_cast<std::uint64_t>(value);
  return low != 0 ? std::countr_zero(low) : 64 + std::countr_zero(static_cast<std::uint64_t>(value >> 64));
}

inline bool fits_shifted(Int128 value, int by) noexcept { return by < 127 && value << by >> by == value; }

/// Cuts an integer into words: calls `take(word, its lowest bit, its number of bits)`.
template <int most_bits = 62, class Take>
void for_each_word(Int128 value, const Take& take) {
  const bool is_negative = value < 0;
  Uint128 rest = is_negative ? -static_cast<Uint128>(value) : static_cast<Uint128>(value);
  for (int bit = 0; rest != 0; rest >>= most_bits, bit += most_bits) {
    const int zeros = zeros_below(static_cast<Int128>(rest));
    rest >>= zeros;
    bit += zeros;
    const auto word = static_cast<std::int64_t>(rest & ((std::uint64_t{1} << most_bits) - 1));
    take(is_negative ? -word : word, bit, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(word))));
  }
}

/// The sum value() 2^(unit + exponent_of_unit). `parts` is 2 for the high and the low words of products of doubles. In
/// all functions, `set_aside(sum, value, unit, end)` takes value 2^(unit + exponent_of_unit), whose magnitude is below
/// 2^(end + exponent_of_unit); it must call `note_aside` of this sum.
template <int parts>
struct SmallSum {
  // A double with the biased exponent `unit` has this unit in the last place, and so has the low word of a product
  // whose factors have this sum of biased exponents.
  static constexpr int exponent_of_unit = parts * (Format<double>::lowest_exponent - 1);
  static constexpr unsigned most_shift = 126 - Format<double>::precision;  // a shifted word has at most 126 bits
  /// The largest unit. All finite terms fit it; infinities and NaNs do not.
  static constexpr int highest_unit =
      (parts == 2 ? 2 * 2046 + Format<double>::precision : 2046) - static_cast<int>(most_shift);
  static constexpr int high_shift = 70;  // of a term if others are set aside: later terms are mostly smaller
  // Value of `unit` if the sum has no unit; it is far above all exponents.
  static constexpr std::uint16_t no_unit = 0xFFFF;
  // Value of `aside` if more terms were set aside than it can count.
  static constexpr std::uint16_t most_counted = 0xFFFF;

  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::uint16_t unit = no_unit;
  std::uint16_t aside = 0;      // the number of terms set aside, or `most_counted`
  std::uint16_t aside_end = 0;  // their magnitudes are below 2^(aside_end + exponent_of_unit)
  bool has_terms = false;       // whether the integer has terms
  std::uint8_t flags = no_flags;

  Int128 value() const noexcept { return static_cast<Int128>(Uint128{high} << 64 | low); }
  void put(Int128 value) noexcept {
    low = static_cast<std::uint64_t>(value);
    high = static_cast<std::uint64_t>(static_cast<Uint128>(value) >> 64);
  }
  int exponent() const noexcept { return unit + exponent_of_unit; }
  Flags all_flags() const noexcept {
    return static_cast<Flags>((flags & ~has_minus_zero) | (has_terms ? not_minus_zero : no_flags));
  }
  void note_aside(int end) noexcept {
    aside_end = std::max(aside_end, static_cast<std::uint16_t>(end));
    if (aside != most_counted) ++aside;
  }
  /// The magnitude of the sum of the terms set aside is below 2^(end_of_aside() + exponent_of_unit).
  int end_of_aside() const noexcept {
    constexpr int most_bits = 64;  // bits of any number of terms
    return aside_end + (aside == most_counted ? most_bits : static_cast<int>(std::bit_width(aside)));
  }

  bool add(int exponent, std::uint64_t magnitude, std::int64_t sign) noexcept;
  bool change_unit(int exponent) noexcept;
  template <class SetAside>
  void add_far(int exponent, std::int64_t word, const SetAside& set_aside);
  template <class SetAside>
  void make_room_above(int exponent, const SetAside& set_aside);
  template <class SetAside>
  void add_integer(const SmallSum& other, const SetAside& set_aside);
  template <class Wide>
  void add_to(Wide& wide) const noexcept;
};

/// The sums of a column: of its terms, or of the high and of the low words of its products.
template <int parts>
using SmallSums = std::array<SmallSum<parts>, static_cast<std::size_t>(parts)>;
static_assert(sizeof(SmallSums<1>) == 24 && sizeof(SmallSums<2>) == 48);

/// Adds a word of at most 53 bits. The sum must have a unit. Returns false if the word does not fit it.
template <int parts>
inline bool SmallSum<parts>::add(int exponent, std::uint64_t magnitude, std::int64_t sign) noexcept {
  const unsigned shift = static_cast<unsigned>(exponent) - unit;
  if (shift > most_shift) return false;
  const Int128 word = Int128{magnitude} << shift;
  const auto wide_sign = static_cast<Int128>(sign);
  Int128 sum;
  if (__builtin_add_overflow(value(), (word ^ wide_sign) - wide_sign, &sum)) return false;
  put(sum);
  has_terms = true;
  return true;
}

/// Changes to a unit with which a term of this exponent may fit. Returns false if there is none.
template <int parts>
bool SmallSum<parts>::change_unit(int exponent) noexcept {
  constexpr int usual_shift = 30;  // of the first term: later terms may be smaller or larger
  const Int128 all = value();
  if (all == 0) {
    unit = static_cast<std::uint16_t>(std::clamp(exponent - (aside == 0 ? usual_shift : high_shift), 1, highest_unit));
    return true;
  }
  if (exponent < unit) {
    if (!fits_shifted(all, unit - exponent)) return false;
    put(all << (unit - exponent));
    unit = static_cast<std::uint16_t>(exponent);
    return true;
  }
  const int by = exponent - static_cast<int>(most_shift) - unit;
  if (by <= 0) return true;
  if (by > zeros_below(all)) return false;
  put(all >> by);
  unit = static_cast<std::uint16_t>(unit + by);
  return true;
}

/// Adds a word that may need another unit. It has at most 53 bits, and an exponent that a term may have. Not inlined,
/// because that slows the loop over terms by some percent.
template <int parts>
template <class SetAside>
[[gnu::noinline]] void SmallSum<parts>::add_far(int exponent, std::int64_t word, const SetAside& set_aside) {
  if (word == 0) return;
  const bool is_small = exponent < unit;
  const bool has_place = !(is_small && aside > 0) && change_unit(exponent);
  Int128 all = 0;
  if (has_place && !__builtin_add_overflow(value(), Int128{word} << (exponent - unit), &all)) return put(all);
  if (!is_small) make_room_above(exponent, set_aside);
  if (is_small || exponent < unit) return set_aside(*this, word, exponent, exponent + Format<double>::precision);
  put(value() + (Int128{word} << (exponent - unit)));
}

/// Sets low bits of the integer aside, so that a term of this exponent or a carry has room: then the integer and the
/// term are at most 2^126 in magnitude.
template <int parts>
template <class SetAside>
void SmallSum<parts>::make_room_above(int exponent, const SetAside& set_aside) {
  constexpr int for_carries = 8;
  const int raised = std::min(std::max(exponent - high_shift, unit + for_carries), highest_unit);
  const int by = raised - unit;
  const bool keeps_some = by > 0 && by < 127;
  const Int128 all = value();
  const Int128 kept = keeps_some ? all >> by : 0;
  for_each_word(keeps_some ? all - (kept << by) : all,
                [&](std::int64_t word, int bit, int bits) { set_aside(*this, word, unit + bit, unit + bit + bits); });
  put(kept);
  unit = static_cast<std::uint16_t>(raised);
}

/// Adds the integer of another sum, but not its flags and the terms that it set aside.
template <int parts>
template <class SetAside>
void SmallSum<parts>::add_integer(const SmallSum& other, const SetAside& set_aside) {
  has_terms |= other.has_terms;
  const Int128 more = other.value();
  if (more == 0) return;
  if (value() == 0) {
    unit = other.unit;
    return put(more);
  }
  Int128 all = 0;
  const int by = other.unit - unit;
  if (by >= 0 && fits_shifted(more, by) && !__builtin_add_overflow(value(), more << by, &all)) return put(all);
  if (by < 0 && fits_shifted(value(), -by) && !__builtin_add_overflow(value() << -by, more, &all)) {
    unit = other.unit;
    return put(all);
  }
  for_each_word<Format<double>::precision>(more, [&](std::int64_t word, int bit, int bits) {
    const int exponent = other.unit + bit;
    const bool is_larger_than_terms = exponent > highest_unit + static_cast<int>(most_shift);
    if (is_larger_than_terms) return set_aside(*this, word, exponent, exponent + bits);
    add_far(exponent, word, set_aside);
  });
}

/// Adds the integer to an accumulator.
template <int parts>
template <class Wide>
void SmallSum<parts>::add_to(Wide& wide) const noexcept {
  for_each_word(value(), [&](std::int64_t word, int bit, int /*bits*/) { wide.add_scaled(word, exponent() + bit); });
}

/// Adds a term.
template <class SetAside>
inline void add_term(SmallSums<1>& sums, double term, const SetAside& set_aside) {
  auto& [sum] = sums;
  const auto bits = std::bit_cast<std::uint64_t>(term);
  const int exponent = biased_exponent(bits);
  constexpr std::uint64_t implicit_bit = Format<double>::implicit_bit;
  if (sum.add(exponent, (bits & (implicit_bit - 1)) | implicit_bit, sign_of(bits))) [[likely]]
    return;
  if (exponent > 0 && exponent < sum.unit && sum.aside > 0)
    set_aside(sum, with_sign(magnitude_of(bits), sign_of(bits)), exponent, exponent + Format<double>::precision);
  else if (note_dealt(term, sum.flags))
    sum.add_far(std::max(exponent, 1), with_sign(magnitude_of(bits), sign_of(bits)), set_aside);
}

template <class SetAside>
inline void add_product(SmallSums<2>& sums, int exponent, Uint128 magnitude, std::int64_t sign,
                        const SetAside& set_aside) {
  constexpr int bits = Format<double>::precision;
  const auto high = static_cast<std::uint64_t>(magnitude >> bits);
  const auto low = static_cast<std::uint64_t>(magnitude) & ((std::uint64_t{1} << bits) - 1);
  sums[0].has_terms = true;
  if (!sums[0].add(exponent + bits, high, sign)) [[unlikely]]
    sums[0].add_far(exponent + bits, with_sign(high, sign), set_aside);
  if (!sums[1].add(exponent, low, sign)) [[unlikely]]
    sums[1].add_far(exponent, with_sign(low, sign), set_aside);
}

/// Returns the product of two numbers. At least one of them must be zero, infinite or NaN.
inline double special_product(std::uint64_t x, std::uint64_t y) noexcept {
  using F = Format<double>;
  const std::uint64_t sign = (x ^ y) & F::sign_bit;
  const auto [least, greatest] = std::minmax({x & ~F::sign_bit, y & ~F::sign_bit});
  if (greatest > F::infinity || (greatest == F::infinity && least == 0)) return std::bit_cast<double>(F::quiet_nan);
  return std::bit_cast<double>((greatest == F::infinity ? F::infinity : 0) | sign);
}

/// Adds a product of which a factor is not a normal number.
template <class SetAside>
void add_special(SmallSums<2>& sums, std::uint64_t x, std::uint64_t y, const SetAside& set_aside) {
  const auto is_finite_and_not_zero = [](std::uint64_t bits) {
    const std::uint64_t magnitude = bits & ~Format<double>::sign_bit;
    return magnitude != 0 && magnitude < Format<double>::infinity;
  };
  if (!is_finite_and_not_zero(x) || !is_finite_and_not_zero(y)) {
    note_dealt(special_product(x, y), sums[0].flags);
    return;
  }
  add_product(sums, std::max(biased_exponent(x), 1) + std::max(biased_exponent(y), 1),
              Uint128{magnitude_of(x)} * magnitude_of(y), sign_of(x ^ y), set_aside);
}

/// Adds a product.
template <class SetAside>
inline void add_term(SmallSums<2>& sums, const Factors& term, const SetAside& set_aside) {
  constexpr std::uint32_t normal_exponents = 2046;
  const auto x = std::bit_cast<std::uint64_t>(term.first);
  const auto y = std::bit_cast<std::uint64_t>(term.second);
  const bool are_normal = static_cast<std::uint32_t>(biased_exponent(x) - 1) < normal_exponents &&
                          static_cast<std::uint32_t>(biased_exponent(y) - 1) < normal_exponents;
  if (!are_normal) [[unlikely]]
    return add_special(sums, x, y, set_aside);
  add_product(sums, biased_exponent(x) + biased_exponent(y), Uint128{magnitude_of(x)} * magnitude_of(y), sign_of(x ^ y),
              set_aside);
}

/// Makes the digit range of a sum without terms set aside, from 2^lowest_exponent on. All terms are multiples of it.
inline void digit_range_of(const SmallSum<1>& sum, int lowest_exponent, DigitRange& range) noexcept {
  Int128 all = sum.value();
  if (all == 0) return make_digit_range({}, 0, range);
  int position = sum.exponent() - lowest_exponent;
  if (position < 0) all >>= -position;
  position = std::max(position, 0);
  const int bit = position % 32;
  const auto low = static_cast<Uint128>(all) << bit;
  std::array<std::int64_t, 5> digits;
  for (int i = 0; i < 4; ++i) digits[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(low >> (32 * i));
  digits[4] = static_cast<std::int64_t>(all >> 96 >> (32 - bit));
  make_digit_range(digits, position / 32, range);
}

}  // namespace steadfold::arithmetic
