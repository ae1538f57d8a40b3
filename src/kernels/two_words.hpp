// Adds, negates and rounds vectors of integers of two words (two's complement). Files with kernels include this file
// once per instruction set.
// Rank order: none. Cost: some 4 operations to add, 40 to round.
#if defined(STEADFOLD_KERNELS_TWO_WORDS) == defined(HWY_TARGET_TOGGLE)
#ifdef STEADFOLD_KERNELS_TWO_WORDS
#undef STEADFOLD_KERNELS_TWO_WORDS
#else
#define STEADFOLD_KERNELS_TWO_WORDS
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "kernels/columns.hpp"
#include "kernels/rounded_double.hpp"

HWY_BEFORE_NAMESPACE();
namespace steadfold::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::CappedTag<std::uint64_t, most_columns>;

/// Returns all bits set in lanes whose highest bit is set; other lanes are 0.
template <class V>
HWY_INLINE V sign_of(V words) {
  const hn::RebindToSigned<Words> as_signed;
  return hn::BitCast(Words(), hn::BroadcastSignBit(hn::BitCast(as_signed, words)));
}

/// Computes a + b for integers of two words. The highest bit of the returned value is set in lanes that overflow.
template <class V>
HWY_INLINE V add_words(V low_of_a, V high_of_a, V low_of_b, V high_of_b, V& low, V& high) {
  const Words d;
  low = hn::Add(low_of_a, low_of_b);
  const V both = hn::Add(high_of_a, high_of_b);
  high = hn::IfThenElse(hn::Lt(low, low_of_b), hn::Add(both, hn::Set(d, 1)), both);
  return hn::And(hn::Xor(high_of_a, high), hn::Xor(high_of_b, high));
}

/// Negates lanes in which all bits of `sign` are set. In other lanes `sign` is 0.
template <class V>
HWY_INLINE void negate_words(V sign, V& low, V& high) {
  const Words d;
  low = hn::Sub(hn::Xor(low, sign), sign);
  high = hn::Sub(hn::Xor(high, sign), hn::IfThenElseZero(hn::Eq(low, hn::Zero(d)), sign));
}

/// Returns the number of leading zeros, for words that are not 0. The half with the first bit becomes a double, whose
/// exponent gives the number.
template <class V>
HWY_INLINE V zeros_before(V x) {
  const Words d;
  const hn::RebindToFloat<Words> as_doubles;
  constexpr std::uint64_t two_to_52 = std::uint64_t{bias_of_doubles + fraction_bits_of_doubles}
                                      << fraction_bits_of_doubles;
  const V upper = hn::ShiftRight<32>(x);
  const auto is_lower = hn::Eq(upper, hn::Zero(d));
  const V half = hn::Or(hn::IfThenElse(is_lower, x, upper), hn::Set(d, two_to_52));
  const auto number = hn::Sub(hn::BitCast(as_doubles, half), hn::BitCast(as_doubles, hn::Set(d, two_to_52)));
  const V first = hn::ShiftRight<fraction_bits_of_doubles>(hn::BitCast(d, number));
  return hn::Sub(hn::IfThenElse(is_lower, hn::Set(d, bias_of_doubles + 63), hn::Set(d, bias_of_doubles + 31)), first);
}

/// Rounds integers to doubles as `rounded_double` does, with `bias_of_first_bit` already added to the unit.
template <class V>
HWY_INLINE V rounded_doubles(V low, V high, V first_bit) {
  const Words d;
  const V zero = hn::Zero(d);
  const V one = hn::Set(d, 1);
  const V sign = sign_of(high);
  negate_words(sign, low, high);
  const auto is_short = hn::Eq(high, zero);
  const V x = hn::IfThenElse(is_short, low, high);
  const V y = hn::IfThenZeroElse(is_short, low);
  const auto is_zero = hn::Eq(x, zero);
  const V zeros = zeros_before(hn::IfThenElse(is_zero, one, x));
  const V first = hn::Or(hn::Shl(x, zeros), hn::Shr(hn::ShiftRight<1>(y), hn::Sub(hn::Set(d, 63), zeros)));
  const V second = hn::Shl(y, zeros);
  const V kept = hn::ShiftRight<63 - fraction_bits_of_doubles>(first);
  const V rest =
      hn::Or(hn::ShiftLeft<fraction_bits_of_doubles + 1>(first), hn::IfThenZeroElse(hn::Eq(second, zero), one));
  const V tie_to_even = hn::Add(rest, hn::And(kept, one));
  const V up = hn::IfThenElseZero(hn::Lt(hn::Set(d, sign_of_doubles), tie_to_even), one);
  const V all_zeros = hn::Add(zeros, hn::IfThenElseZero(is_short, hn::Set(d, 64)));
  const V exponent = hn::ShiftLeft<fraction_bits_of_doubles>(hn::Sub(first_bit, all_zeros));
  const V size = hn::Add(hn::Add(exponent, kept), up);
  return hn::IfThenZeroElse(is_zero, hn::Or(size, hn::And(sign, hn::Set(d, sign_of_doubles))));
}

}  // namespace steadfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
