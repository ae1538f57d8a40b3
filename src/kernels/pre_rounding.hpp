// What the bins of a pre-rounded sum (arithmetic/bins.hpp) keep of a term, without dealing it out to them.
// Rank order: none. Cost: three operations per term. Source: [S2]; the grid of Ahrens, Demmel & Nguyen 2020.
//
// The largest term of a set decides which K bins the set has, and the quantum q of the lowest one. The shares of a term
// in these bins come to the term rounded to a multiple of q, ties to even. So the sum of a set is the exact sum of its
// terms, each rounded this way first.
//
// With p bits of precision, let the bound B be 2^(p-1) q. A term of at least that magnitude is a multiple of q. Of a
// smaller one, the sum |x| + B lies between B and 2 B, where numbers are multiples of q: so the processor's own
// addition rounds |x| as is wanted, and taking B away again is exact.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace steadfold::kernels {

/// How the bound follows from the exponent field f of the largest magnitude. Its top bin is
/// (f + `offset`) / 40 + `base`; the bound's exponent field is 40 times the lowest bin, plus `shift`, and at least 0.
template <class T>
struct PreRounding;
template <>
struct PreRounding<double> {
  using Bits = std::uint64_t;
  static constexpr int fraction_bits = 52;
  static constexpr int offset = 52;
  static constexpr int base = 0;
  static constexpr int shift = 1;
};
/// In the grid of doubles. A field of 0 is a bound of 0: every float is a multiple of so small a quantum.
template <>
struct PreRounding<float> {
  using Bits = std::uint32_t;
  static constexpr int fraction_bits = 23;
  static constexpr int offset = 28;
  static constexpr int base = 23;
  static constexpr int shift = -924;
};
inline constexpr int pre_rounding_width = 40;  // of a bin

/// The bound for a set of terms of at most this magnitude. If that is not finite, it is some finite number.
template <class T>
T pre_rounding_bound(T largest, int bin_count) noexcept {
  using Form = PreRounding<T>;
  using Bits = typename Form::Bits;
  const auto field = static_cast<int>(std::bit_cast<Bits>(largest) >> Form::fraction_bits);
  const int top = (field + Form::offset) / pre_rounding_width + Form::base;
  const int lowest = std::max(top - (bin_count - 1), 0);
  const int bound = std::max(pre_rounding_width * lowest + Form::shift, 0);
  return std::bit_cast<T>(static_cast<Bits>(bound) << Form::fraction_bits);
}

/// A part of a set's largest magnitude: what is at least so large is at least the bound, since the largest magnitude is
/// at least 2^(40 (K - 1) - 1) q. (Where the part underflows, q is the least quantum there is, and nothing is rounded.)
template <class T>
T kept_part(int bin_count) noexcept {
  return std::ldexp(T{1}, std::numeric_limits<T>::digits - pre_rounding_width * (bin_count - 1));
}

/// A term as the bins keep it; what is not finite stays so. Wants the promised environment.
template <class T>
T pre_rounded(T x, T bound) noexcept {
  const T magnitude = std::abs(x);
  return magnitude >= bound ? x : std::copysign((magnitude + bound) - bound, x);
}

}  // namespace steadfold::kernels
