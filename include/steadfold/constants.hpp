// Made by ./dev surface from the tables in surface/: edit the tables.
//
// The built-in operators. Each is a function: dot(x, y), dot(x, y, comm), dot(x, y, comm, options). Each is also an
// operator for `reduce` and for plans. Included by steadfold.hpp.
#pragma once

#include "steadfold/built_in.hpp"

#if __cplusplus >= 201703L

namespace steadfold {

/// The sum of all elements.
inline constexpr BuiltIn<SF_SUM> plus{};
/// The product of all elements.
inline constexpr BuiltIn<SF_PRODUCT> times{};
/// The smallest element, as the minimum of IEEE 754-2019: NaN if an element is NaN, and -0 is below +0. No elements:
/// SF_EMPTY.
inline constexpr BuiltIn<SF_MIN> min{}, minimum{};
/// The largest element, as the maximum of IEEE 754-2019: NaN if an element is NaN, and +0 is above -0. No elements:
/// SF_EMPTY.
inline constexpr BuiltIn<SF_MAX> max{}, maximum{};
/// The sum of x[i] * y[i], by default correctly rounded. weighted_sum is the same function, for weights and elements.
inline constexpr BuiltIn<SF_DOT> dot{}, weighted_sum{};
/// The Euclidean norm, by default correctly rounded, without intermediate overflow or underflow.
inline constexpr BuiltIn<SF_NORM2> norm2{};
/// The mean: the sum divided by the number of elements, by default rounded once. No elements: SF_EMPTY.
inline constexpr BuiltIn<SF_MEAN> mean{};
/// The smallest element and the lowest index that has it. The index follows the layout. Without a layout, elements are
/// counted in rank order.
inline constexpr BuiltIn<SF_MIN_LOCATION> min_location{}, minimum_location{};
/// The largest element and the lowest index that has it. The index follows the layout. Without a layout, elements are
/// counted in rank order.
inline constexpr BuiltIn<SF_MAX_LOCATION> max_location{}, maximum_location{};
/// The sum of absolute values, by default correctly rounded.
inline constexpr BuiltIn<SF_ABS_SUM> abs_sum{}, norm1{};
/// The sum of squares, by default correctly rounded: norm2 without the square root.
inline constexpr BuiltIn<SF_SUM_SQUARES> sum_squares{};
/// The sum of the elements whose mask is not 0, by default correctly rounded: masked_sum(x, mask). Other elements are
/// never read. If the mask selects no element: +0.0.
inline constexpr BuiltIn<SF_MASKED_SUM> masked_sum{};
/// The number of elements, the extremes and their indices, the mean, the variances and the deviations: see Statistics.
inline constexpr BuiltIn<SF_STATISTICS> statistics{};
/// The weighted mean: the sum of x[i] * w[i] divided by the sum of w[i], rounded once. No elements: SF_EMPTY.
inline constexpr BuiltIn<SF_WEIGHTED_MEAN> weighted_mean{};
/// The largest absolute value; NaN if an element is NaN. No elements: 0.
inline constexpr BuiltIn<SF_NORMINF> norminf{};
/// The sum of conj(x[i]) * y[i], as BLAS's zdotc and NumPy's vdot. By default both parts are correctly rounded. For
/// real numbers the result is the same as with `dot`.
inline constexpr BuiltIn<SF_DOTC> dotc{};
/// The covariance: the mean of (x[i] - mean of x) (y[i] - mean of y), rounded once. NaN if an element is NaN or
/// infinite. No elements: SF_EMPTY.
inline constexpr BuiltIn<SF_COVARIANCE> covariance{};
/// The covariance with the divisor n - 1 in place of n; NaN for a single pair.
inline constexpr BuiltIn<SF_SAMPLE_COVARIANCE> sample_covariance{};
/// Pearson's correlation: the covariance divided by both deviations, rounded once. NaN if an element is NaN or
/// infinite, or if all first or all second numbers are equal. No elements: SF_EMPTY.
inline constexpr BuiltIn<SF_CORRELATION> correlation{};

}  // namespace steadfold

#endif
