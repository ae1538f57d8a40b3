// The part of a term that the bins of a pre-rounded sum (arithmetic/binned/bins.hpp) keep, without distributing the
// term to bins.
// Rank order: none. Cost: three operations per term. Source: Lapillonne & Peltekov 2013; the grid of Ahrens, Demmel &
// Nguyen 2020.
//
// The largest term of a set decides which K bins the set has, and the quantum q of the lowest bin. The slices of a term
// in these bins add up to the term rounded to a multiple of q, ties to even. So the sum of a set is the exact sum of
// its terms, each rounded in this way.
//
// With p bits of precision, let the bound B be 2^(p-1) q. A term whose magnitude is at least B is a multiple of q. For
// a smaller term x, the sum |x| + B lies between B and 2 B, where numbers are multiples of q. So the processor's
// addition rounds |x| to a multiple of q, and subtracting B is exact.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>

#include "order/index.hpp"
#include "order/message.hpp"

namespace steadfold::kernels {

inline constexpr int pre_rounding_width = 40;  // number of binary exponents per bin

/// Constants for a type T, which give the bound from the exponent field f of the largest magnitude, in the grid of
/// doubles. The top bin is (f + `to_bin`) / 40. The bound's exponent field is 40 times the lowest bin, plus `shift`. If
/// it would be negative, the bound is 0, because every number is a multiple of so small a quantum.
template <class T>
struct PreRounding {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  static constexpr int fraction_bits = std::numeric_limits<T>::digits - 1;
  static constexpr int bias = std::numeric_limits<T>::max_exponent - 1;
  static constexpr int lowest_exponent = -1074;  // exponent of the quantum of bin 0
  static constexpr int to_bin = 1 - bias - lowest_exponent;
  static constexpr int shift = fraction_bits + bias + lowest_exponent;
};

/// Returns the bound for a set of terms of at most this magnitude. If the magnitude is not finite, the result is some
/// finite number.
template <class T>
T pre_rounding_bound(T largest, int bin_count) noexcept {
  using Form = PreRounding<T>;
  using Bits = typename Form::Bits;
  const auto field = static_cast<int>(std::bit_cast<Bits>(largest) >> Form::fraction_bits);
  const int lowest = std::max((field + Form::to_bin) / pre_rounding_width - (bin_count - 1), 0);
  const int bound = std::max(pre_rounding_width * lowest + Form::shift, 0);
  return std::bit_cast<T>(static_cast<Bits>(bound) << Form::fraction_bits);
}

/// Returns a fraction of a set's largest magnitude. Terms of at least this fraction are at least the bound, because the
/// largest magnitude is at least 2^(40 (K - 1) - 1) q. (If the product underflows, q is the least possible quantum, and
/// no term is rounded.)
template <class T>
T kept_part(int bin_count) noexcept {
  return std::ldexp(T{1}, std::numeric_limits<T>::digits - pre_rounding_width * (bin_count - 1));
}

/// Returns a term, rounded as the bins keep it; infinities and NaNs are not changed. The caller must have set the
/// promised environment (arithmetic/environment.hpp).
template <class T>
T pre_rounded(T x, T bound) noexcept {
  const T magnitude = std::abs(x);
  return magnitude >= bound ? x : std::copysign((magnitude + bound) - bound, x);
}

/// Copies the terms of a column, one from each row, `offset` bytes after the row's beginning. Terms are pre-rounded for
/// `bin_count` bins; 0 means that they are not pre-rounded. Returns the used part of `room`.
template <class T>
std::span<const T> column_of(std::span<const std::byte* const> rows, order::Bytes offset, int bin_count,
                             std::span<T> room) noexcept {
  const std::span<T> terms = room.first(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) std::memcpy(&terms[row], rows[row] + offset, sizeof(T));
  if (bin_count == 0) return terms;
  T largest = 0;
  for (const T x : terms) largest = std::max(largest, std::abs(x));
  const T bound = pre_rounding_bound(largest, bin_count);
  for (T& x : terms) x = pre_rounded(x, bound);
  return terms;
}

}  // namespace steadfold::kernels
