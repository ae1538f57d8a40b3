// Made by ./dev surface from the tables in surface/: change those.
//
// Every built-in operator is a function, called alike: dot(x, y), dot(x, y, comm), dot(x, y, comm, options). It is the
// operator of `reduce` and of plans, too. Included by steadfold.hpp.
#pragma once

#include "steadfold/built_in.hpp"

#if __cplusplus >= 201703L

namespace steadfold {

/// The sum of all elements.
inline constexpr BuiltIn<SF_SUM> plus{};
/// The product of all elements.
inline constexpr BuiltIn<SF_PRODUCT> times{};
/// The least element. IEEE 754-2019: a NaN wins, -0 is below +0. No elements: SF_EMPTY.
inline constexpr BuiltIn<SF_MIN> min{}, minimum{};
/// The greatest element. IEEE 754-2019: a NaN wins, +0 is above -0. No elements: SF_EMPTY.
inline constexpr BuiltIn<SF_MAX> max{}, maximum{};
/// The sum of x[i] * y[i], by default correctly rounded. weighted_sum is the same, of weights and elements.
inline constexpr BuiltIn<SF_DOT> dot{}, weighted_sum{};
/// The Euclidean norm, by default correctly rounded; without overflow or underflow on the way.
inline constexpr BuiltIn<SF_NORM2> norm2{};
/// The sum divided by the number of elements, rounded once. No elements: SF_EMPTY.
inline constexpr BuiltIn<SF_MEAN> mean{};
/// The least element and the lowest index that has it: an index of the layout, or, without one, counted in rank order.
inline constexpr BuiltIn<SF_MIN_LOCATION> min_location{}, minimum_location{};
/// The greatest element and the lowest index that has it: an index of the layout, or, without one, counted in rank
/// order.
inline constexpr BuiltIn<SF_MAX_LOCATION> max_location{}, maximum_location{};
/// The sum of absolute values, by default correctly rounded.
inline constexpr BuiltIn<SF_ABS_SUM> abs_sum{}, norm1{};
/// The sum of squares, by default correctly rounded.
inline constexpr BuiltIn<SF_SUM_SQUARES> sum_squares{};
/// masked_sum(x, mask): the sum of the elements whose mask is not 0, by default correctly rounded. Other elements are
/// never read. If none is selected: +0.0.
inline constexpr BuiltIn<SF_MASKED_SUM> masked_sum{};
/// The number of elements, extremes and where they are, mean, variances and deviations: see Statistics.
inline constexpr BuiltIn<SF_STATISTICS> statistics{};
/// The sum of x[i] * w[i] divided by the sum of w[i], rounded once. No elements: SF_EMPTY.
inline constexpr BuiltIn<SF_WEIGHTED_MEAN> weighted_mean{};
/// The greatest absolute value. NaN if an element is; no elements: 0.
inline constexpr BuiltIn<SF_NORMINF> norminf{};
/// The sum of conj(x[i]) * y[i], by default both parts correctly rounded: BLAS's zdotc, NumPy's vdot. Of real numbers
/// the same as `dot`.
inline constexpr BuiltIn<SF_DOTC> dotc{};
/// The mean of (x[i] - mean of x) (y[i] - mean of y), rounded once. NaN if an element is NaN or infinite. No elements:
/// SF_EMPTY.
inline constexpr BuiltIn<SF_COVARIANCE> covariance{};
/// Like covariance, but divided by n - 1. NaN for a single pair.
inline constexpr BuiltIn<SF_SAMPLE_COVARIANCE> sample_covariance{};

}  // namespace steadfold

#endif
