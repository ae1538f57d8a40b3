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

#include <concepts>

#include "steadfold/common_diagnosis.hpp"

namespace steadfold {

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
