// Variances, covariances and correlations from exact sums, rounded once. All are quotients of two integers.
// Rank order: irrelevant. Cost: some multiplications of long integers, up to about 1 us.
#pragma once

#include <limits>
#include <optional>

#include "arithmetic/superaccumulator/long_integer.hpp"
#include "arithmetic/superaccumulator/natural.hpp"

namespace steadfold::arithmetic {

/// The exact sum of terms of `rows` rows, in units of 2^lowest_exponent of their format.
struct ExactSum {
  Flags flags = no_flags;
  Count rows = 0;
  DigitRange range;

  bool is_finite() const noexcept { return (flags & ~not_minus_zero) == 0; }
};

/// The integer n P - X Y of n pairs: their number times the sum of products, minus the product of the sums. With the
/// squares of numbers as products, and Y = X, it is n^2 times the variance. The sums must be finite.
struct Comoment {
  Comoment(const ExactSum& products, const ExactSum& first, const ExactSum& second) noexcept;

  /// Returns the covariance, n P - X Y divided by n (n - ddof), where n is greater than ddof. `lowest_exponent` is that
  /// of products.
  Leading covariance(Count ddof, int lowest_exponent) const noexcept;

  Natural size;
  bool is_negative;
  Count rows;
};

/// Returns the covariance of pairs, the mean of (x - mean of x) (y - mean of y), where the sum is divided by n - ddof
/// instead of n. Nothing if a sum is not finite, or if there are not more than `ddof` rows.
inline std::optional<Leading> covariance(const ExactSum& products, const ExactSum& first, const ExactSum& second,
                                         Count ddof, int lowest_exponent) noexcept {
  const bool are_finite = products.is_finite() && first.is_finite() && second.is_finite();
  if (!are_finite || products.rows <= ddof) return {};
  return Comoment(products, first, second).covariance(ddof, lowest_exponent);
}

/// Returns the covariance, rounded once. NaN if there is none.
template <class Result>
Result rounded_covariance(const ExactSum& products, const ExactSum& first, const ExactSum& second, Count ddof,
                          int lowest_exponent) noexcept {
  const auto exact = covariance(products, first, second, ddof, lowest_exponent);
  return exact ? rounded<Result>(not_minus_zero, products.rows, *exact) : std::numeric_limits<Result>::quiet_NaN();
}

/// Returns the standard deviation of elements, the root of their covariance with themselves. NaN if there is none.
template <class Result>
Result rounded_deviation(const ExactSum& squares, const ExactSum& sum, Count ddof, int lowest_exponent) noexcept {
  const auto exact = covariance(squares, sum, sum, ddof, lowest_exponent);
  return exact ? rounded_root<Result>(not_minus_zero, squares.rows, *exact) : std::numeric_limits<Result>::quiet_NaN();
}

/// The sums that a correlation needs: of products, of both elements of a pair, and of their squares.
struct CorrelationSums {
  ExactSum products, first, second, squares_of_first, squares_of_second;
};

/// Returns Pearson's correlation: the root of the squared covariance divided by both variances, with the sign of the
/// covariance. NaN if a sum is not finite, or if all elements of one side are equal.
template <class Result>
Result rounded_correlation(const CorrelationSums& sums) noexcept;

}  // namespace steadfold::arithmetic
