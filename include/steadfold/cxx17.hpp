// Steadfold for C++17: the whole API, in one process and over groups of ranks. The names are those of the API for C++20
// in a namespace of their own. cxx17_mpi.hpp adds MPI's communicators.
//
//   double s = sf17::sum(x);                                 // x: what has data() and size(), or a C array
//   double t = sf17::sum(sf17::view(pointer, n), comm);      // comm: a sf17::Group, or a member of a sf17::Team
//   double d = sf17::dot(x, y, comm, sf17::binned());
//   Matrix m = sf17::reduce(matrices, multiply, comm);       // any operator, in the fixed binary tree over indices
//   sf17::allreduce(buffer, sf17::plus, comm);               // MPI's shape, in place
//   sf17::Plan<double> plan(sf17::plus, x.size(), comm);     // agreed on once, run often
//   sf17::Options options;                                   // by name: options.threads = 8
//
// Arrays: cxx17_array.hpp. Bundles: cxx17_bundle.hpp. Started calls: cxx17_started.hpp. Accumulators:
// accumulator.hpp. Header-only over the C functions of steadfold_group.h and its neighbours. Bits and errors
// (sf17::Error is sf::Error) are those of the API for C++20, whose headers say more; a source may include both.
#pragma once

#include "steadfold/accumulator.hpp"
#include "steadfold/common_diagnosis.hpp"
#include "steadfold/common_memory.hpp"
#include "steadfold/cxx17_started.hpp"

#if __cplusplus >= 201703L

namespace steadfold::cxx17 {

using steadfold::Accumulator;
using steadfold::Allocator;
using steadfold::Diagnosis;
using steadfold::merge_packed;
using steadfold::merge_ranks;
using steadfold::ProductAccumulator;

/// Elements in memory that ranks on the same node read and write in place, all zero; steadfold_memory.h says when.
/// Moves, does not copy. sf17::Allocator is for standard containers.
template <class T>
using Memory = steadfold::detail::OwnedMemory<T>;
/// `count` elements. Throws Error when there is no memory left.
template <class T>
Memory<T> allocate(std::size_t count) {
  return Memory<T>(count);
}

/// How far the usual sum of this process's elements can be trusted. Looks at them in three passes.
template <class R, class = detail::if_vector<R>>
Diagnosis<detail::element_t<R>> diagnosis(const R& x, const LocalOptions& options = {}) {
  const auto by = [&](const Method& method) {
    LocalOptions how = method;
    how.threads = options.threads;
    return how;
  };
  Diagnosis<detail::element_t<R>> found;
  found.sum = sum(x, by(exact()));
  found.plain = sum(x, by(plain()));
  found.absolute_sum = abs_sum(x, by(exact()));
  found.count = std::size(x);
  return found;
}
/// The same for the elements of all ranks, in three passes and one message. `threads` go through this rank's.
template <class R, class C, class = detail::if_vector<R>, class = detail::if_group<C>>
Diagnosis<detail::element_t<R>> diagnosis(const R& x, const C& comm, unsigned threads = 1) {
  const auto by = [&](const Method& method) {
    MemberOptions how = method;
    how.threads = threads;
    return how;
  };
  const std::vector<std::uint64_t> size = {std::size(x)};
  Bundle bundle;
  const auto exact_sum = bundle.sum(x, by(exact()));
  const auto plain_sum = bundle.sum(x, by(plain()));
  const auto absolute = bundle.abs_sum(x, by(exact()));
  const auto count = bundle.sum(size);
  BundlePlan plan = bundle.bind(comm);
  plan.run();
  Diagnosis<detail::element_t<R>> found;
  found.sum = exact_sum.value();
  found.plain = plain_sum.value();
  found.absolute_sum = absolute.value();
  found.count = count.value();
  return found;
}

}  // namespace steadfold::cxx17

/// The short name with which calls are written.
namespace sf17 = steadfold::cxx17;

#endif
