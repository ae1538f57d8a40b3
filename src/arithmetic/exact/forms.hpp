// The results that depend on exact sums of one column: means, and results of several sums. A form has the terms that
// rows add to the sums, and a function that computes the result from the sums and rounds it once. A form whose result
// also has the least and the greatest element has `has_extremes`.
// Rank order: irrelevant. Cost: some multiplications and a division of long integers per result, up to about 1 us.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "arithmetic/exact/moments.hpp"
#include "arithmetic/exact/statistics.hpp"
#include "arithmetic/location/located.hpp"
#include "arithmetic/superaccumulator/accumulator.hpp"
#include "arithmetic/superaccumulator/natural.hpp"

namespace steadfold::arithmetic {

/// The terms of a sum. Each row adds one term: the product of its two numbers, one of the numbers, or a square.
enum class Term : std::uint8_t { product, first, second, square_of_first, square_of_second };

constexpr bool has_factors(Term term) noexcept { return term != Term::first && term != Term::second; }
constexpr bool is_of_second(Term term) noexcept { return term == Term::second || term == Term::square_of_second; }

/// The operation that sums these terms exactly, and the number of digits of the sum of numbers of type T.
constexpr Operation operation_of(Term term) noexcept { return has_factors(term) ? Operation::dot : Operation::sum; }
template <class T>
constexpr int digit_count_of(Term term) noexcept {
  return has_factors(term) ? Accumulator<T, 2>::digit_count : Accumulator<T, 1>::digit_count;
}

/// The operands of a sum of these terms: `first`, and `second` if terms are products, otherwise null.
struct TermOperands {
  const std::byte* first;
  const std::byte* second;
};
constexpr TermOperands operands_of(Term term, const std::byte* first, const std::byte* second) noexcept {
  if (term == Term::product) return {first, second};
  const std::byte* const elements = is_of_second(term) ? second : first;
  return {elements, has_factors(term) ? elements : nullptr};
}

/// The value of an exact sum: a finite number, an infinity or NaN.
struct SumValue {
  explicit SumValue(const ExactSum& sum) noexcept : size(sum.range) {
    const bool plus = (sum.flags & has_plus_infinity) != 0;
    const bool minus = (sum.flags & has_minus_infinity) != 0;
    is_nan = (sum.flags & has_nan) != 0 || (plus && minus);
    is_infinite = plus || minus;
    const bool has_only_minus_zeros = sum.rows > 0 && (sum.flags & not_minus_zero) == 0;
    is_negative = is_infinite ? minus : size.zero() ? has_only_minus_zeros : sum.range.negative;
  }
  bool is_zero() const noexcept { return !is_infinite && size.zero(); }

  Natural size;
  bool is_nan;
  bool is_infinite;
  bool is_negative;
};

struct Mean {
  static constexpr std::array terms = {Term::first};

  template <class T, class Result>
  static Result of(const std::array<ExactSum, terms.size()>& sums) noexcept {
    return rounded_mean<Result>(sums[0].flags, sums[0].rows,
                                leading(sums[0].range, Accumulator<T, 1>::lowest_exponent));
  }
};

struct WeightedMean {
  static constexpr std::array terms = {Term::product, Term::second};

  template <class T, class Result>
  static Result of(const std::array<ExactSum, terms.size()>& sums) noexcept {
    using Limits = std::numeric_limits<Result>;
    const SumValue dividend(sums[0]);
    const SumValue divisor(sums[1]);
    const bool are_alike = (dividend.is_infinite && divisor.is_infinite) || (dividend.is_zero() && divisor.is_zero());
    if (dividend.is_nan || divisor.is_nan || are_alike) return Limits::quiet_NaN();
    const bool is_negative = dividend.is_negative != divisor.is_negative;
    const Result sign = is_negative ? Result{-1} : Result{1};
    if (dividend.is_infinite || divisor.is_zero()) return sign * Limits::infinity();
    if (divisor.is_infinite || dividend.is_zero()) return sign * Result{0};
    // The units are equal, because the unit of products is the square of the unit of weights.
    Leading exact = dividend.size.divided_by(divisor.size, Accumulator<T, 1>::lowest_exponent);
    exact.negative = is_negative;
    return rounded<Result>(not_minus_zero, sums[0].rows, exact);
  }
};

template <Count ddof>
struct Covariance {
  static constexpr std::array terms = {Term::product, Term::first, Term::second};

  template <class T, class Result>
  static Result of(const std::array<ExactSum, terms.size()>& sums) noexcept {
    return rounded_covariance<Result>(sums[0], sums[1], sums[2], ddof, Accumulator<T, 2>::lowest_exponent);
  }
};

struct Correlation {
  static constexpr std::array terms = {Term::product, Term::first, Term::second, Term::square_of_first,
                                       Term::square_of_second};

  template <class T, class Result>
  static Result of(const std::array<ExactSum, terms.size()>& sums) noexcept {
    return rounded_correlation<Result>({sums[0], sums[1], sums[2], sums[3], sums[4]});
  }
};

/// The statistics of elements. Each number is rounded to the type Result, and stored as a double.
struct StatisticsForm {
  static constexpr std::array terms = {Term::first, Term::square_of_first};
  static constexpr bool has_extremes = true;

  template <class T, class Result>
  static Statistics of(const std::array<ExactSum, terms.size()>& sums, const Extremes& extremes) noexcept {
    constexpr int lowest_exponent = Accumulator<T, 2>::lowest_exponent;  // of a square
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const auto& [sum, squares] = sums;
    Statistics made{.count = sum.rows,
                    .min = nan,
                    .min_index = no_index,
                    .max = nan,
                    .max_index = no_index,
                    .mean = nan,
                    .variance = nan,
                    .sample_variance = nan,
                    .deviation = nan,
                    .sample_deviation = nan};
    if (sum.rows == 0) return made;
    made.min = static_cast<Result>(extremes.min.value);
    made.min_index = extremes.min.index;
    made.max = static_cast<Result>(extremes.max.value);
    made.max_index = extremes.max.index;
    made.mean = Mean::of<T, Result>({sum});
    if (!sum.is_finite()) return made;  // with NaNs or infinities, the flags determine the result
    const Comoment comoment(squares, sum, sum);
    const auto set = [&](Count ddof, double& variance, double& deviation) {
      if (sum.rows <= ddof) return;
      const Leading exact = comoment.covariance(ddof, lowest_exponent);
      variance = rounded<Result>(not_minus_zero, sum.rows, exact);
      deviation = rounded_root<Result>(not_minus_zero, sum.rows, exact);
    };
    set(0, made.variance, made.deviation);
    set(1, made.sample_variance, made.sample_deviation);
    return made;
  }
};

}  // namespace steadfold::arithmetic
