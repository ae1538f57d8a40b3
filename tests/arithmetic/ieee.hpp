// Floating-point values that show faults, and what IEEE 754-2019 says of their minimum and maximum, by integers alone.
// Shares nothing with src/.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace steadfold::test {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
constexpr BitsOf<T> sign_of = BitsOf<T>{1} << (8 * sizeof(T) - 1);
template <class T>
constexpr BitsOf<T> infinity_of = sizeof(T) == 8 ? static_cast<BitsOf<T>>(0x7FF0000000000000) : BitsOf<T>{0x7F800000};
template <class T>
constexpr BitsOf<T> canonical_nan_of =
    sizeof(T) == 8 ? static_cast<BitsOf<T>>(0x7FF8000000000000) : BitsOf<T>{0x7FC00000};

template <class T>
bool nan_bits(BitsOf<T> bits) {
  return (bits & ~sign_of<T>) > infinity_of<T>;
}

/// The bits that a result is to have: every NaN is the canonical quiet one.
template <class T>
BitsOf<T> canonical_bits(T value) {
  const auto bits = std::bit_cast<BitsOf<T>>(value);
  return nan_bits<T>(bits) ? canonical_nan_of<T> : bits;
}

/// Grows with the value; -0 is just below +0.
template <class T>
BitsOf<T> rank_of(BitsOf<T> bits) {
  return (bits & sign_of<T>) != 0 ? static_cast<BitsOf<T>>(~bits) : static_cast<BitsOf<T>>(bits | sign_of<T>);
}

template <class T>
BitsOf<T> extreme(BitsOf<T> a, BitsOf<T> b, bool least) {
  if (nan_bits<T>(a) || nan_bits<T>(b)) return canonical_nan_of<T>;
  return (rank_of<T>(a) < rank_of<T>(b)) == least ? a : b;
}

/// Both signs of zero, subnormals, limits, infinities, and quiet and signalling NaNs with payloads.
template <class T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  std::vector<BitsOf<T>> bits = {0,
                                 1,
                                 std::bit_cast<BitsOf<T>>(Limits::min()) - 1,
                                 std::bit_cast<BitsOf<T>>(Limits::min()),
                                 std::bit_cast<BitsOf<T>>(T{1}),
                                 std::bit_cast<BitsOf<T>>(T{1} + Limits::epsilon()),
                                 std::bit_cast<BitsOf<T>>(Limits::max()),
                                 infinity_of<T>,
                                 infinity_of<T> + 1,
                                 canonical_nan_of<T>,
                                 canonical_nan_of<T> + 0x1234};
  std::vector<T> values;
  for (const auto each : bits) {
    values.push_back(std::bit_cast<T>(each));
    values.push_back(std::bit_cast<T>(static_cast<BitsOf<T>>(each | sign_of<T>)));
  }
  return values;
}

/// Finite values of either sign with exponents so wide apart that the order of adding shows: 1 <= |x| < 2^60 or 2^25.
template <class T>
T wide_value(std::mt19937_64& random) {
  constexpr int mantissa_bits = std::numeric_limits<T>::digits - 1;
  const auto exponent =
      static_cast<BitsOf<T>>(std::numeric_limits<T>::max_exponent - 1 + random() % (sizeof(T) == 8 ? 60 : 25));
  const auto mantissa = static_cast<BitsOf<T>>(random()) & ((BitsOf<T>{1} << mantissa_bits) - 1);
  return std::bit_cast<T>(
      static_cast<BitsOf<T>>((random() % 2 != 0 ? sign_of<T> : 0) | exponent << mantissa_bits | mantissa));
}

template <class T>
std::vector<T> wide_values(std::mt19937_64& random, std::size_t count) {
  std::vector<T> values(count);
  for (T& value : values) value = wide_value<T>(random);
  return values;
}

}  // namespace steadfold::test
