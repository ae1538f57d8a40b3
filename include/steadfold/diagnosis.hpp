// Diagnosis of a sum: how far the usual sum can be trusted.
//
//   const sf::Diagnosis<double> d = sf::diagnosis(x, comm);   // one message
//   d.difference();   // relative error of the usual sum
//   d.condition();    // cancellation among the terms: with condition 10^k about k digits are lost
//   d.tree_bound();   // bound of the relative error of the sum with method tree
//
// Header-only over bundle.hpp. For MPI communicators include mpi.hpp, too.
#pragma once

#include "steadfold/bundle.hpp"

#if __cplusplus >= 201703L

#include <cfenv>
#include <cmath>

namespace steadfold {

namespace detail {
/// Calls function(numbers...) in the floating-point environment of the library's own calls, whatever the caller's
/// environment is. The numbers pass through volatile objects, so that the compiler moves no calculation out of that
/// environment.
template <class Function, class... Numbers>
auto in_promised_environment(const Function& function, Numbers... numbers) {
  std::fenv_t callers;
  std::fegetenv(&callers);
  std::fesetenv(FE_DFL_ENV);
  const auto calculated = [&](const volatile Numbers&... kept) { return function(Numbers(kept)...); };
  const volatile auto result = calculated(numbers...);
  std::fesetenv(&callers);
  return result;
}
}  // namespace detail

/// Sums of the elements of the whole job, and measures of their error.
template <class T>
struct Diagnosis {
  static_assert(std::is_floating_point_v<T>, "a diagnosis needs floating-point numbers");

  T sum = 0;           ///< the exact sum, rounded once
  T plain = 0;         ///< the sum in the order of memory, ranks and messages, as a loop and MPI_Allreduce compute it
  T absolute_sum = 0;  ///< the sum of absolute values, rounded once
  std::uint64_t count = 0;

  /// Returns the relative error of `plain`: |plain - sum| / |sum|. 0 if both are equal, infinite if only `sum` is 0.
  T difference() const {
    return detail::in_promised_environment(
        [](T one, T other) { return one == other ? T{0} : ratio(std::abs(one - other), other); }, plain, sum);
  }
  /// Returns the condition number: the sum of |x| divided by |sum|, at least 1 unless all terms are 0. Relative errors
  /// of the terms grow by about this factor in the sum.
  T condition() const { return detail::in_promised_environment(ratio, absolute_sum, sum); }
  /// Returns an upper bound of the relative error of the sum with method `tree`: h u / (1 - h u) times the condition,
  /// where h is the height of the tree and u half the distance between 1 and the next number. Source: N. J. Higham,
  /// Accuracy and Stability of Numerical Algorithms (2002), section 4.2. Infinite or NaN if there is no bound.
  T tree_bound() const {
    int height = 0;
    while (height < 64 && (count - (count > 0)) >> height != 0) ++height;
    const T lost = static_cast<T>(height) * (std::numeric_limits<T>::epsilon() / 2);
    const auto bound = [](T of_terms, T factor) { return of_terms / (1 - of_terms) * factor; };
    return lost == 0 ? T{0} : detail::in_promised_environment(bound, lost, condition());
  }

 private:
  static T ratio(T distance, T to) { return distance == 0 ? T{0} : distance / std::abs(to); }
};

/// Diagnoses the sum of this process's elements, in three passes.
template <class R, class = std::enable_if_t<std::is_floating_point_v<detail::element_t<R>>>>
Diagnosis<detail::element_t<R>> diagnosis(const R& x, const LocalOptions& options = {}) {
  const auto by = [&](const Method& method) { return LocalOptions{method, options.threads, {}}; };
  return {steadfold::sum(x, by(exact())), steadfold::sum(x, by(plain())), abs_sum(x, by(exact())), std::size(x)};
}
/// Diagnoses the sum of the elements of all ranks, in three passes and one message. `threads` threads read this rank's
/// elements.
template <class R, class C, class = std::enable_if_t<std::is_floating_point_v<detail::element_t<R>>>,
          class = detail::if_group<C>>
Diagnosis<detail::element_t<R>> diagnosis(const R& x, const C& comm, unsigned threads = 1) {
  const auto by = [&](const Method& method) { return MemberOptions{method, {}, {}, threads}; };
  const std::vector<std::uint64_t> size = {std::size(x)};
  Bundle bundle;
  const auto exact_sum = bundle.sum(x, by(exact())), plain_sum = bundle.sum(x, by(plain()));
  const auto absolute = bundle.abs_sum(x, by(exact()));
  const auto count = bundle.sum(size);
  bundle.bind(comm).run();
  return {exact_sum.value(), plain_sum.value(), absolute.value(), count.value()};
}

}  // namespace steadfold

#endif
