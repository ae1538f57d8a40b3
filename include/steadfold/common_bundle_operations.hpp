// Made by ./dev surface from the tables in surface/: change those.
//
// The operations as members of bundles. Included by bundle.hpp and cxx17_bundle.hpp.
#pragma once

#include "steadfold/common_array.hpp"
#include "steadfold/common_bundle.hpp"

#if __cplusplus >= 201703L

namespace steadfold {

/// What Bundle derives from. `x` and `y` are ranges of which the elements of all ranks are reduced, see Bundle, or
/// arrays that have a result for every index of the axes that are kept, in C order. A second vector has the size of the
/// first: different sizes fail the run, on all ranks.
template <class Bundle>
class BundleOperations {
 public:
  /// The sum of all elements. Called as a function it is `sum`.
  template <class R, class B = Bundle, class = typename B::template IfTaken<SF_SUM, R>>
  auto sum(R&& x, const MemberOptions& options = {}) {
    return bundle().template add_built_in<SF_SUM>(std::forward<R>(x), options);
  }
  template <class A, class B = Bundle, class = typename B::template IfArray<A>>
  auto sum(const A& x, const Axes& axes, const MemberOptions& options = {}) {
    return bundle().template add_built_in_array<SF_SUM>(x, axes.weights, axes, options);
  }
  /// The least element. IEEE 754-2019: a NaN wins, -0 is below +0. No elements: SF_EMPTY.
  template <class R, class B = Bundle, class = typename B::template IfTaken<SF_MIN, R>>
  auto min(R&& x, const MemberOptions& options = {}) {
    return bundle().template add_built_in<SF_MIN>(std::forward<R>(x), options);
  }
  template <class A, class B = Bundle, class = typename B::template IfArray<A>>
  auto min(const A& x, const Axes& axes, const MemberOptions& options = {}) {
    return bundle().template add_built_in_array<SF_MIN>(x, axes.weights, axes, options);
  }
  /// The greatest element, likewise.
  template <class R, class B = Bundle, class = typename B::template IfTaken<SF_MAX, R>>
  auto max(R&& x, const MemberOptions& options = {}) {
    return bundle().template add_built_in<SF_MAX>(std::forward<R>(x), options);
  }
  template <class A, class B = Bundle, class = typename B::template IfArray<A>>
  auto max(const A& x, const Axes& axes, const MemberOptions& options = {}) {
    return bundle().template add_built_in_array<SF_MAX>(x, axes.weights, axes, options);
  }
  /// The sum of x[i] * y[i], by default correctly rounded. weighted_sum is the same, of weights and elements.
  template <class R, class S, class B = Bundle, class = typename B::template IfTaken<SF_DOT, R, S>>
  auto dot(R&& x, S&& y, const MemberOptions& options = {}) {
    return bundle().template add_built_in<SF_DOT>(std::forward<R>(x), std::forward<S>(y), options);
  }
  template <class A, class B = Bundle, class = typename B::template IfArray<A>>
  auto dot(const A& x, const A& y, const Axes& axes, const MemberOptions& options = {}) {
    return bundle().template add_built_in_array<SF_DOT>(x, y, axes, options);
  }
  /// The same as dot.
  template <class R, class S, class B = Bundle, class = typename B::template IfTaken<SF_DOT, R, S>>
  auto weighted_sum(R&& x, S&& y, const MemberOptions& options = {}) {
    return bundle().template add_built_in<SF_DOT>(std::forward<R>(x), std::forward<S>(y), options);
  }
  template <class A, class B = Bundle, class = typename B::template IfArray<A>>
  auto weighted_sum(const A& x, const A& y, const Axes& axes, const MemberOptions& options = {}) {
    return bundle().template add_built_in_array<SF_DOT>(x, y, axes, options);
  }
  /// The Euclidean norm, by default correctly rounded; without overflow or underflow on the way.
  template <class R, class B = Bundle, class = typename B::template IfTaken<SF_NORM2, R>>
  auto norm2(R&& x, const MemberOptions& options = {}) {
    return bundle().template add_built_in<SF_NORM2>(std::forward<R>(x), options);
  }
  template <class A, class B = Bundle, class = typename B::template IfArray<A>>
  auto norm2(const A& x, const Axes& axes, const MemberOptions& options = {}) {
    return bundle().template add_built_in_array<SF_NORM2>(x, axes.weights, axes, options);
  }
  /// The sum divided by the number of elements, rounded once. No elements: SF_EMPTY.
  template <class R, class B = Bundle, class = typename B::template IfTaken<SF_MEAN, R>>
  auto mean(R&& x, const MemberOptions& options = {}) {
    return bundle().template add_built_in<SF_MEAN>(std::forward<R>(x), options);
  }
  template <class A, class B = Bundle, class = typename B::template IfArray<A>>
  auto mean(const A& x, const Axes& axes, const MemberOptions& options = {}) {
    return bundle().template add_built_in_array<SF_MEAN>(x, axes.weights, axes, options);
  }
  /// The least element and the lowest index that has it: an index of the layout, or, without one, counted in rank
  /// order.
  template <class R, class B = Bundle, class = typename B::template IfTaken<SF_MIN_LOCATION, R>>
  auto min_location(R&& x, const MemberOptions& options = {}) {
    return bundle().template add_built_in<SF_MIN_LOCATION>(std::forward<R>(x), options);
  }
  template <class A, class B = Bundle, class = typename B::template IfArray<A>>
  auto min_location(const A& x, const Axes& axes, const MemberOptions& options = {}) {
    return bundle().template add_built_in_array<SF_MIN_LOCATION>(x, axes.weights, axes, options);
  }
  /// The greatest element, likewise.
  template <class R, class B = Bundle, class = typename B::template IfTaken<SF_MAX_LOCATION, R>>
  auto max_location(R&& x, const MemberOptions& options = {}) {
    return bundle().template add_built_in<SF_MAX_LOCATION>(std::forward<R>(x), options);
  }
  template <class A, class B = Bundle, class = typename B::template IfArray<A>>
  auto max_location(const A& x, const Axes& axes, const MemberOptions& options = {}) {
    return bundle().template add_built_in_array<SF_MAX_LOCATION>(x, axes.weights, axes, options);
  }
  /// The sum of absolute values, by default correctly rounded.
  template <class R, class B = Bundle, class = typename B::template IfTaken<SF_ABS_SUM, R>>
  auto abs_sum(R&& x, const MemberOptions& options = {}) {
    return bundle().template add_built_in<SF_ABS_SUM>(std::forward<R>(x), options);
  }
  template <class A, class B = Bundle, class = typename B::template IfArray<A>>
  auto abs_sum(const A& x, const Axes& axes, const MemberOptions& options = {}) {
    return bundle().template add_built_in_array<SF_ABS_SUM>(x, axes.weights, axes, options);
  }
  /// The same as abs_sum.
  template <class R, class B = Bundle, class = typename B::template IfTaken<SF_ABS_SUM, R>>
  auto norm1(R&& x, const MemberOptions& options = {}) {
    return bundle().template add_built_in<SF_ABS_SUM>(std::forward<R>(x), options);
  }
  template <class A, class B = Bundle, class = typename B::template IfArray<A>>
  auto norm1(const A& x, const Axes& axes, const MemberOptions& options = {}) {
    return bundle().template add_built_in_array<SF_ABS_SUM>(x, axes.weights, axes, options);
  }
  /// The sum of squares, by default correctly rounded.
  template <class R, class B = Bundle, class = typename B::template IfTaken<SF_SUM_SQUARES, R>>
  auto sum_squares(R&& x, const MemberOptions& options = {}) {
    return bundle().template add_built_in<SF_SUM_SQUARES>(std::forward<R>(x), options);
  }
  template <class A, class B = Bundle, class = typename B::template IfArray<A>>
  auto sum_squares(const A& x, const Axes& axes, const MemberOptions& options = {}) {
    return bundle().template add_built_in_array<SF_SUM_SQUARES>(x, axes.weights, axes, options);
  }
  /// masked_sum(x, mask): the sum of the elements whose mask is not 0, by default correctly rounded. Other elements are
  /// never read. If none is selected: +0.0.
  template <class R, class S, class B = Bundle, class = typename B::template IfTaken<SF_MASKED_SUM, R, S>>
  auto masked_sum(R&& x, S&& y, const MemberOptions& options = {}) {
    return bundle().template add_built_in<SF_MASKED_SUM>(std::forward<R>(x), std::forward<S>(y), options);
  }
  /// The number of elements, extremes and where they are, mean, variances and deviations: see Statistics.
  template <class R, class B = Bundle, class = typename B::template IfTaken<SF_STATISTICS, R>>
  auto statistics(R&& x, const MemberOptions& options = {}) {
    return bundle().template add_built_in<SF_STATISTICS>(std::forward<R>(x), options);
  }
  template <class A, class B = Bundle, class = typename B::template IfArray<A>>
  auto statistics(const A& x, const Axes& axes, const MemberOptions& options = {}) {
    return bundle().template add_built_in_array<SF_STATISTICS>(x, axes.weights, axes, options);
  }
  /// The sum of x[i] * w[i] divided by the sum of w[i], rounded once. No elements: SF_EMPTY.
  template <class R, class S, class B = Bundle, class = typename B::template IfTaken<SF_WEIGHTED_MEAN, R, S>>
  auto weighted_mean(R&& x, S&& y, const MemberOptions& options = {}) {
    return bundle().template add_built_in<SF_WEIGHTED_MEAN>(std::forward<R>(x), std::forward<S>(y), options);
  }
  template <class A, class B = Bundle, class = typename B::template IfArray<A>>
  auto weighted_mean(const A& x, const A& y, const Axes& axes, const MemberOptions& options = {}) {
    return bundle().template add_built_in_array<SF_WEIGHTED_MEAN>(x, y, axes, options);
  }
  /// The greatest absolute value. NaN if an element is; no elements: 0.
  template <class R, class B = Bundle, class = typename B::template IfTaken<SF_NORMINF, R>>
  auto norminf(R&& x, const MemberOptions& options = {}) {
    return bundle().template add_built_in<SF_NORMINF>(std::forward<R>(x), options);
  }
  template <class A, class B = Bundle, class = typename B::template IfArray<A>>
  auto norminf(const A& x, const Axes& axes, const MemberOptions& options = {}) {
    return bundle().template add_built_in_array<SF_NORMINF>(x, axes.weights, axes, options);
  }
  /// The sum of conj(x[i]) * y[i], by default both parts correctly rounded: BLAS's zdotc, NumPy's vdot. Of real numbers
  /// the same as `dot`.
  template <class R, class S, class B = Bundle, class = typename B::template IfTaken<SF_DOTC, R, S>>
  auto dotc(R&& x, S&& y, const MemberOptions& options = {}) {
    return bundle().template add_built_in<SF_DOTC>(std::forward<R>(x), std::forward<S>(y), options);
  }
  template <class A, class B = Bundle, class = typename B::template IfArray<A>>
  auto dotc(const A& x, const A& y, const Axes& axes, const MemberOptions& options = {}) {
    return bundle().template add_built_in_array<SF_DOTC>(x, y, axes, options);
  }
  /// The mean of (x[i] - mean of x) (y[i] - mean of y), rounded once. NaN if an element is NaN or infinite. No
  /// elements: SF_EMPTY.
  template <class R, class S, class B = Bundle, class = typename B::template IfTaken<SF_COVARIANCE, R, S>>
  auto covariance(R&& x, S&& y, const MemberOptions& options = {}) {
    return bundle().template add_built_in<SF_COVARIANCE>(std::forward<R>(x), std::forward<S>(y), options);
  }
  template <class A, class B = Bundle, class = typename B::template IfArray<A>>
  auto covariance(const A& x, const A& y, const Axes& axes, const MemberOptions& options = {}) {
    return bundle().template add_built_in_array<SF_COVARIANCE>(x, y, axes, options);
  }
  /// Like covariance, but divided by n - 1. NaN for a single pair.
  template <class R, class S, class B = Bundle, class = typename B::template IfTaken<SF_SAMPLE_COVARIANCE, R, S>>
  auto sample_covariance(R&& x, S&& y, const MemberOptions& options = {}) {
    return bundle().template add_built_in<SF_SAMPLE_COVARIANCE>(std::forward<R>(x), std::forward<S>(y), options);
  }
  template <class A, class B = Bundle, class = typename B::template IfArray<A>>
  auto sample_covariance(const A& x, const A& y, const Axes& axes, const MemberOptions& options = {}) {
    return bundle().template add_built_in_array<SF_SAMPLE_COVARIANCE>(x, y, axes, options);
  }

 private:
  Bundle& bundle() { return static_cast<Bundle&>(*this); }
};

}  // namespace steadfold

#endif
