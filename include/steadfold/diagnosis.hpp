// Steadfold for C++20: how far a sum can be trusted that is added as usual.
//
//   const sf::Diagnosis<double> d = sf::diagnosis(x, comm);   // one message
//   d.difference();   // how far the usual sum is from the exact one
//   d.condition();    // how much of the terms cancels: digits are lost as this has
//   d.tree_bound();   // how far the sum by `tree` can be from the exact one, at most
//
// Header-only over bundle.hpp. For MPI's communicators include mpi.hpp, too.
#pragma once

#include "steadfold/bundle.hpp"

#if __cplusplus >= 202002L

#include <bit>
#include <cmath>
#include <concepts>
#include <limits>

namespace steadfold {

/// All numbers are of the whole job.
template <std::floating_point T>
struct Diagnosis {
  T sum = 0;           ///< rounded once
  T plain = 0;         ///< added in the order of memory, ranks and messages, as a loop and MPI_Allreduce do
  T absolute_sum = 0;  ///< of absolute values, rounded once
  std::uint64_t count = 0;

  /// |plain - sum| / |sum|; 0 where both are equal, infinite where only the sum is 0.
  T difference() const { return plain == sum ? T{0} : ratio(std::abs(plain - sum)); }
  /// The sum of |x| divided by |sum|, at least 1 unless all terms are 0: the relative error of a sum is about as many
  /// times that of its terms.
  T condition() const { return ratio(absolute_sum); }
  /// The relative error of the sum by `tree`, at most: h u / (1 - h u) times the condition, where h is the tree's
  /// height and u half the distance between 1 and the next number. Source: N. J. Higham, Accuracy and Stability of
  /// Numerical Algorithms (2002), section 4.2. Infinite or NaN where nothing is known.
  T tree_bound() const {
    const T height = count < 2 ? T{0} : static_cast<T>(std::bit_width(count - 1));
    const T lost = height * (std::numeric_limits<T>::epsilon() / 2);
    return lost == 0 ? T{0} : lost / (1 - lost) * condition();
  }

 private:
  T ratio(T distance) const { return distance == 0 ? T{0} : distance / std::abs(sum); }
};

/// Looks at this process's elements, in three passes.
template <Vector R>
  requires std::floating_point<detail::element_t<R>>
Diagnosis<detail::element_t<R>> diagnosis(const R& x, const LocalOptions& options = {}) {
  const auto by = [&](const Method& method) { return LocalOptions{.method = method, .threads = options.threads}; };
  return {.sum = sum(x, by(exact())),
          .plain = sum(x, by(plain())),
          .absolute_sum = abs_sum(x, by(exact())),
          .count = std::ranges::size(x)};
}

/// Looks at the elements of all ranks, in three passes and one message. `threads` go through this rank's.
template <Vector R, Communicator C>
  requires std::floating_point<detail::element_t<R>>
Diagnosis<detail::element_t<R>> diagnosis(const R& x, C comm, unsigned threads = 1) {
  const std::vector<std::uint64_t> size = {std::ranges::size(x)};
  Bundle bundle;
  const auto exact_sum = bundle.sum(x, {.method = exact(), .threads = threads});
  const auto plain_sum = bundle.sum(x, {.method = plain(), .threads = threads});
  const auto absolute = bundle.abs_sum(x, {.method = exact(), .threads = threads});
  const auto count = bundle.sum(size);
  auto plan = bundle.bind(comm);
  plan.run();
  return {
      .sum = exact_sum.value(), .plain = plain_sum.value(), .absolute_sum = absolute.value(), .count = count.value()};
}

}  // namespace steadfold

#endif
