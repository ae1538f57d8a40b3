// Doubles whose sum shows every change of order, and their reference sums: with the recursion of Stelz 2022, and
// exactly with integers. Shares no code with src/.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "order/recursion.hpp"

namespace steadfold::test {

__extension__ typedef __int128 Int128;

/// m 2^e with |m| < 2^53 and -20 <= e < 20: a multiple of 2^-20 below 2^73, so that 128 bits hold the sum of millions.
inline std::vector<double> summands(std::mt19937_64& random, std::size_t count) {
  std::vector<double> values(count);
  for (double& value : values) {
    const auto mantissa = static_cast<std::int64_t>(random()) >> 11;
    value = std::ldexp(static_cast<double>(mantissa), static_cast<int>(random() % 40) - 20);
  }
  return values;
}

inline std::vector<double> column_of(const std::vector<double>& rows, std::size_t columns, std::size_t column) {
  std::vector<double> values;
  for (std::size_t i = column; i < rows.size(); i += columns) values.push_back(rows[i]);
  return values;
}

inline double tree_sum(const std::vector<double>& values) {
  return values.empty() ? 0.0 : reference::tree(values, [](double a, double b) { return a + b; });
}

/// The exact sum, rounded once by the conversion, to nearest even.
inline double exact_sum(const std::vector<double>& values) {
  Int128 sum = 0;
  for (const double value : values) {
    int exponent = 0;
    const auto mantissa = static_cast<std::int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
    const int shift = exponent - 53 + 20;
    sum += shift >= 0 ? static_cast<Int128>(mantissa) * (static_cast<Int128>(1) << shift)
                      : static_cast<Int128>(mantissa >> -shift);  // the bits shifted out are 0
  }
  return std::ldexp(static_cast<double>(sum), -20);
}

/// The sum of values, each rounded to a multiple of the lowest of `bins` bins of 40 bits, ties to even.
inline double binned_sum(std::vector<double> values, int bins) {
  int largest = -1074;
  for (const double value : values) {
    int exponent = largest;
    if (value != 0) std::frexp(value, &exponent);
    largest = std::max(largest, exponent);
  }
  const int unit = 40 * (std::max((largest + 1074) / 40, bins - 1) - bins + 1) - 1074;
  for (double& value : values) value = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  return exact_sum(values);
}

}  // namespace steadfold::test
