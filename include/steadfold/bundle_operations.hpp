// Made by ./dev surface from the tables in surface/: edit the tables.
//
// The operations as member functions of bundles. Included by bundle.hpp.
#pragma once

#include "steadfold/bundle_members.hpp"

#if __cplusplus >= 201703L

namespace steadfold {

/// The base class of Bundle: one member function per operation. `x` and `y` are ranges (see Bundle), whose elements on
/// all ranks are reduced; or arrays, which give one result for every index of the kept axes, in C order. A second
/// vector must have the size of the first; otherwise the run fails on all ranks.
class BundleOperations : public detail::BundleMembers {
 public:
  /// The sum of all elements.
  template <class R, class = detail::if_no_array<R>>
  auto sum(R&& x, const MemberOptions& options = {}) {
    return add_range(std::forward<R>(x), BuiltIn<SF_SUM>{}, options);
  }
  template <class T>
  auto sum(const Array<T>& x, const Axes& axes, const MemberOptions& options = {}) {
    return add_array(x, axes.weights, BuiltIn<SF_SUM>{}, axes, options);
  }
  /// The smallest element, as the minimum of IEEE 754-2019: NaN if an element is NaN, and -0 is below +0. No elements:
  /// SF_EMPTY.
  template <class R, class = detail::if_no_array<R>>
  auto min(R&& x, const MemberOptions& options = {}) {
    return add_range(std::forward<R>(x), BuiltIn<SF_MIN>{}, options);
  }
  template <class T>
  auto min(const Array<T>& x, const Axes& axes, const MemberOptions& options = {}) {
    return add_array(x, axes.weights, BuiltIn<SF_MIN>{}, axes, options);
  }
  /// The largest element, as the maximum of IEEE 754-2019: NaN if an element is NaN, and +0 is above -0. No elements:
  /// SF_EMPTY.
  template <class R, class = detail::if_no_array<R>>
  auto max(R&& x, const MemberOptions& options = {}) {
    return add_range(std::forward<R>(x), BuiltIn<SF_MAX>{}, options);
  }
  template <class T>
  auto max(const Array<T>& x, const Axes& axes, const MemberOptions& options = {}) {
    return add_array(x, axes.weights, BuiltIn<SF_MAX>{}, axes, options);
  }
  /// The sum of x[i] * y[i], by default correctly rounded. weighted_sum is the same function, for weights and elements.
  template <class R, class S, class = detail::if_no_array<R>>
  auto dot(R&& x, S&& y, const MemberOptions& options = {}) {
    return add_ranges(std::forward<R>(x), std::forward<S>(y), BuiltIn<SF_DOT>{}, options);
  }
  template <class T>
  auto dot(const Array<T>& x, const Array<T>& y, const Axes& axes, const MemberOptions& options = {}) {
    return add_array(x, y, BuiltIn<SF_DOT>{}, axes, options);
  }
  /// Another name for dot.
  template <class R, class S, class = detail::if_no_array<R>>
  auto weighted_sum(R&& x, S&& y, const MemberOptions& options = {}) {
    return add_ranges(std::forward<R>(x), std::forward<S>(y), BuiltIn<SF_DOT>{}, options);
  }
  template <class T>
  auto weighted_sum(const Array<T>& x, const Array<T>& y, const Axes& axes, const MemberOptions& options = {}) {
    return add_array(x, y, BuiltIn<SF_DOT>{}, axes, options);
  }
  /// The Euclidean norm, by default correctly rounded, without intermediate overflow or underflow.
  template <class R, class = detail::if_no_array<R>>
  auto norm2(R&& x, const MemberOptions& options = {}) {
    return add_range(std::forward<R>(x), BuiltIn<SF_NORM2>{}, options);
  }
  template <class T>
  auto norm2(const Array<T>& x, const Axes& axes, const MemberOptions& options = {}) {
    return add_array(x, axes.weights, BuiltIn<SF_NORM2>{}, axes, options);
  }
  /// The mean: the sum divided by the number of elements, by default rounded once. No elements: SF_EMPTY.
  template <class R, class = detail::if_no_array<R>>
  auto mean(R&& x, const MemberOptions& options = {}) {
    return add_range(std::forward<R>(x), BuiltIn<SF_MEAN>{}, options);
  }
  template <class T>
  auto mean(const Array<T>& x, const Axes& axes, const MemberOptions& options = {}) {
    return add_array(x, axes.weights, BuiltIn<SF_MEAN>{}, axes, options);
  }
  /// The smallest element and the lowest index that has it. The index follows the layout. Without a layout, elements
  /// are counted in rank order.
  template <class R, class = detail::if_no_array<R>>
  auto min_location(R&& x, const MemberOptions& options = {}) {
    return add_range(std::forward<R>(x), BuiltIn<SF_MIN_LOCATION>{}, options);
  }
  template <class T>
  auto min_location(const Array<T>& x, const Axes& axes, const MemberOptions& options = {}) {
    return add_array(x, axes.weights, BuiltIn<SF_MIN_LOCATION>{}, axes, options);
  }
  /// The largest element and the lowest index that has it. The index follows the layout. Without a layout, elements are
  /// counted in rank order.
  template <class R, class = detail::if_no_array<R>>
  auto max_location(R&& x, const MemberOptions& options = {}) {
    return add_range(std::forward<R>(x), BuiltIn<SF_MAX_LOCATION>{}, options);
  }
  template <class T>
  auto max_location(const Array<T>& x, const Axes& axes, const MemberOptions& options = {}) {
    return add_array(x, axes.weights, BuiltIn<SF_MAX_LOCATION>{}, axes, options);
  }
  /// The sum of absolute values, by default correctly rounded.
  template <class R, class = detail::if_no_array<R>>
  auto abs_sum(R&& x, const MemberOptions& options = {}) {
    return add_range(std::forward<R>(x), BuiltIn<SF_ABS_SUM>{}, options);
  }
  template <class T>
  auto abs_sum(const Array<T>& x, const Axes& axes, const MemberOptions& options = {}) {
    return add_array(x, axes.weights, BuiltIn<SF_ABS_SUM>{}, axes, options);
  }
  /// Another name for abs_sum.
  template <class R, class = detail::if_no_array<R>>
  auto norm1(R&& x, const MemberOptions& options = {}) {
    return add_range(std::forward<R>(x), BuiltIn<SF_ABS_SUM>{}, options);
  }
  template <class T>
  auto norm1(const Array<T>& x, const Axes& axes, const MemberOptions& options = {}) {
    return add_array(x, axes.weights, BuiltIn<SF_ABS_SUM>{}, axes, options);
  }
  /// The sum of squares, by default correctly rounded: norm2 without the square root.
  template <class R, class = detail::if_no_array<R>>
  auto sum_squares(R&& x, const MemberOptions& options = {}) {
    return add_range(std::forward<R>(x), BuiltIn<SF_SUM_SQUARES>{}, options);
  }
  template <class T>
  auto sum_squares(const Array<T>& x, const Axes& axes, const MemberOptions& options = {}) {
    return add_array(x, axes.weights, BuiltIn<SF_SUM_SQUARES>{}, axes, options);
  }
  /// The sum of the elements whose mask is not 0, by default correctly rounded: masked_sum(x, mask). Other elements are
  /// never read. If the mask selects no element: +0.0.
  template <class R, class S, class = detail::if_no_array<R>>
  auto masked_sum(R&& x, S&& y, const MemberOptions& options = {}) {
    return add_ranges(std::forward<R>(x), std::forward<S>(y), BuiltIn<SF_MASKED_SUM>{}, options);
  }
  /// The number of elements, the extremes and their indices, the mean, the variances and the deviations: see
  /// Statistics.
  template <class R, class = detail::if_no_array<R>>
  auto statistics(R&& x, const MemberOptions& options = {}) {
    return add_range(std::forward<R>(x), BuiltIn<SF_STATISTICS>{}, options);
  }
  template <class T>
  auto statistics(const Array<T>& x, const Axes& axes, const MemberOptions& options = {}) {
    return add_array(x, axes.weights, BuiltIn<SF_STATISTICS>{}, axes, options);
  }
  /// The weighted mean: the sum of x[i] * w[i] divided by the sum of w[i], rounded once. No elements: SF_EMPTY.
  template <class R, class S, class = detail::if_no_array<R>>
  auto weighted_mean(R&& x, S&& y, const MemberOptions& options = {}) {
    return add_ranges(std::forward<R>(x), std::forward<S>(y), BuiltIn<SF_WEIGHTED_MEAN>{}, options);
  }
  template <class T>
  auto weighted_mean(const Array<T>& x, const Array<T>& y, const Axes& axes, const MemberOptions& options = {}) {
    return add_array(x, y, BuiltIn<SF_WEIGHTED_MEAN>{}, axes, options);
  }
  /// The largest absolute value; NaN if an element is NaN. No elements: 0.
  template <class R, class = detail::if_no_array<R>>
  auto norminf(R&& x, const MemberOptions& options = {}) {
    return add_range(std::forward<R>(x), BuiltIn<SF_NORMINF>{}, options);
  }
  template <class T>
  auto norminf(const Array<T>& x, const Axes& axes, const MemberOptions& options = {}) {
    return add_array(x, axes.weights, BuiltIn<SF_NORMINF>{}, axes, options);
  }
  /// The sum of conj(x[i]) * y[i], as BLAS's zdotc and NumPy's vdot. By default both parts are correctly rounded. For
  /// real numbers the result is the same as with `dot`.
  template <class R, class S, class = detail::if_no_array<R>>
  auto dotc(R&& x, S&& y, const MemberOptions& options = {}) {
    return add_ranges(std::forward<R>(x), std::forward<S>(y), BuiltIn<SF_DOTC>{}, options);
  }
  template <class T>
  auto dotc(const Array<T>& x, const Array<T>& y, const Axes& axes, const MemberOptions& options = {}) {
    return add_array(x, y, BuiltIn<SF_DOTC>{}, axes, options);
  }
  /// The covariance: the mean of (x[i] - mean of x) (y[i] - mean of y), rounded once. NaN if an element is NaN or
  /// infinite. No elements: SF_EMPTY.
  template <class R, class S, class = detail::if_no_array<R>>
  auto covariance(R&& x, S&& y, const MemberOptions& options = {}) {
    return add_ranges(std::forward<R>(x), std::forward<S>(y), BuiltIn<SF_COVARIANCE>{}, options);
  }
  template <class T>
  auto covariance(const Array<T>& x, const Array<T>& y, const Axes& axes, const MemberOptions& options = {}) {
    return add_array(x, y, BuiltIn<SF_COVARIANCE>{}, axes, options);
  }
  /// The covariance with the divisor n - 1 in place of n; NaN for a single pair.
  template <class R, class S, class = detail::if_no_array<R>>
  auto sample_covariance(R&& x, S&& y, const MemberOptions& options = {}) {
    return add_ranges(std::forward<R>(x), std::forward<S>(y), BuiltIn<SF_SAMPLE_COVARIANCE>{}, options);
  }
  template <class T>
  auto sample_covariance(const Array<T>& x, const Array<T>& y, const Axes& axes, const MemberOptions& options = {}) {
    return add_array(x, y, BuiltIn<SF_SAMPLE_COVARIANCE>{}, axes, options);
  }
  /// Pearson's correlation: the covariance divided by both deviations, rounded once. NaN if an element is NaN or
  /// infinite, or if all first or all second numbers are equal. No elements: SF_EMPTY.
  template <class R, class S, class = detail::if_no_array<R>>
  auto correlation(R&& x, S&& y, const MemberOptions& options = {}) {
    return add_ranges(std::forward<R>(x), std::forward<S>(y), BuiltIn<SF_CORRELATION>{}, options);
  }
  template <class T>
  auto correlation(const Array<T>& x, const Array<T>& y, const Axes& axes, const MemberOptions& options = {}) {
    return add_array(x, y, BuiltIn<SF_CORRELATION>{}, axes, options);
  }
};

}  // namespace steadfold

#endif
