// The vectors of ranks in a benchmark, which every rank can compute for all ranks, and the expected results.
// Source: Steele, Lea & Flood 2014 for the mixing of bits.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace steadfold::bench {

/// Returns a number between -1 and 1, with 53 random bits and a random exponent from 16 exponents. The number depends
/// only on row and column.
inline double element_at(std::uint64_t row, std::uint64_t column) noexcept {
  std::uint64_t bits = 0x20161126 + ((row << 40) + column) * 0x9E3779B97F4A7C15u;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
  bits ^= bits >> 31;
  const auto digits = static_cast<double>(static_cast<std::int64_t>(bits) >> 11) * 0x1p-52;
  return std::ldexp(digits, -static_cast<int>(bits & 15));
}

/// Returns the columns begin, ..., begin + count - 1 of a row of the whole job. Integers are below 2^20, so sums of
/// 2^11 rows do not overflow.
template <class T>
std::vector<T> columns_of_row(std::uint64_t row, std::size_t begin, std::size_t count) {
  constexpr double scale = std::integral<T> ? 0x1p20 : 1;
  std::vector<T> columns(count);
  for (std::size_t i = 0; i < count; ++i) columns[i] = static_cast<T>(scale * element_at(row, begin + i));
  return columns;
}

/// The expected results: these bits, or, if no bits are promised, these numbers within `tolerance`.
template <class T>
struct Expected {
  std::vector<T> results;
  double tolerance = 0;

  /// Returns the first column with a wrong result, if any.
  std::optional<std::size_t> first_wrong(std::span<const T> got) const {
    if (got.size() != results.size()) return 0;
    if (std::memcmp(got.data(), results.data(), got.size_bytes()) == 0) return std::nullopt;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const bool near = std::abs(static_cast<double>(got[i]) - static_cast<double>(results[i])) <= tolerance;
      if (std::memcmp(&got[i], &results[i], sizeof(T)) != 0 && !(tolerance > 0 && near)) return i;
    }
    return std::nullopt;
  }
};

}  // namespace steadfold::bench
