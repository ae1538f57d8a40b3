// Reductions that give the same bits every time, for C++17 and later, within one process or over a group of ranks.
// `mpi.hpp` adds MPI communicators; `group.hpp` adds calls in MPI's shape, and plans.
//
//   double s = sf::sum(x);                    // the correctly rounded sum, whatever the order of x
//   double t = sf::sum(x, sf::tree());        // the sum in the fixed binary tree over the indices of x
//   Matrix m = sf::reduce(matrices, multiply) // any operator, in the fixed tree
//   double u = sf::sum(x, {.threads = 8});    // the bits of s, with eight threads; in C++17 options are set by name
//
// x is a range with data() and size(), or a C array. Header-only over the C functions of steadfold.h and
// steadfold_group.h; the headers do no floating-point arithmetic. Errors are thrown as sf::Error. Arguments are only
// read. Any number of threads may call the functions at the same time. Sources of C++17 and of later standards can be
// linked into one program.
#pragma once

#include "steadfold/constants.hpp"
#include "steadfold/dots.hpp"

#if __cplusplus >= 201703L

namespace steadfold {

/// Returns the sum of all elements; +0.0 if there are none. For a result wider than the elements: sum<double>(floats).
template <class Result = void, class R>
detail::answer_t<BuiltIn<SF_SUM, Result>, R> sum(const R& x, const LocalOptions& options = {}) {
  return BuiltIn<SF_SUM, Result>{}(x, options);
}
/// Returns the sum of all elements of all ranks. If there is a root, other ranks get a NaN (integers: 0).
template <class Result = void, class R, class C, class = detail::if_group<C>>
detail::answer_t<BuiltIn<SF_SUM, Result>, R> sum(const R& x, const C& comm, const Options& options = {}) {
  return BuiltIn<SF_SUM, Result>{}(x, comm, options);
}
/// Returns the sums of an array, one for every index of the kept axes, see Axes; with weights, the sums of products.
template <class T>
detail::results_t<T, BuiltIn<SF_SUM>> sum(const Array<T>& x, const Axes& axes, const LocalOptions& options = {}) {
  return plus(x, axes, options);
}
template <class T, class C, class = detail::if_group<C>>
detail::results_t<T, BuiltIn<SF_SUM>> sum(const Array<T>& x, const Axes& axes, const C& comm,
                                          const Options& options = {}) {
  return plus(x, axes, comm, options);
}

/// Returns the sums of groups of elements. labels[i], 0 to groups - 1, is the number of the group of x[i]; an element
/// with a negative label belongs to no group. There must be as many labels as elements. For groups in arrays, with
/// weights and masks, and for other operations, see `Axes`.
template <class X, class L, class = std::enable_if_t<detail::is_vector<X> && detail::is_vector<L>>>
auto sum_by(const X& x, const L& labels, std::uint64_t groups, const LocalOptions& options = {}) {
  return detail::sum_groups(detail::Here(), x, labels, groups, options);
}
template <class X, class L, class C, class = std::enable_if_t<detail::is_vector<X> && detail::is_vector<L>>,
          class = detail::if_group<C>>
auto sum_by(const X& x, const L& labels, std::uint64_t groups, const C& comm, const Options& options = {}) {
  return detail::sum_groups(detail::Waiting(comm), x, labels, groups, options);
}

namespace detail {
/// Returns `op` if it combines the elements of R, otherwise an operator that does; `elements_of` has then reported the
/// error.
template <class R, class Op>
const auto& operator_for(const Op& op) {
  if constexpr (combines<read_t<Op, R>, Op>() || operation_of<Op> != SF_USER)
    return op;
  else
    return plus;
}

/// The type of the function `sum`, so that plans can take the function as an argument.
template <class T>
using Sum = answer_t<BuiltIn<SF_SUM>, View<const T>>(const View<const T>&, const LocalOptions&);
}  // namespace detail

/// Combines all elements by `op` in the binary tree over their indices. `op` is a built-in operator, op(left, right) ->
/// element, or op(left, right, result, count) on arrays, where `result` may be `left`. Throws what `op` throws, and
/// Error(SF_EMPTY) if there are no elements and no neutral element. Several threads may call `op` at the same time.
template <class R, class Op>
detail::answer_t<Op, R> reduce(const R& x, const Op& op, const LocalOptions& options = {}) {
  return detail::reduce_rows(detail::Here(), detail::operands<Op>(x), detail::operator_for<R>(op), options);
}
/// Combines all elements of all ranks by `op`, as `reduce` does in one process. Without a layout the elements are in
/// rank order.
template <class R, class Op, class C, class = detail::if_group<C>>
detail::answer_t<Op, R> reduce(const R& x, const Op& op, const C& comm, const Options& options = {}) {
  return detail::reduce_rows(detail::Waiting(comm), detail::operands<Op>(x), detail::operator_for<R>(op), options);
}

/// Returns op(initial, result), where `result` is that of `reduce` with method `tree`; `initial` if there are no
/// elements. This is the expression that paper P4016 proposes for C++.
template <class Initial, class R, class Op>
detail::answer_t<Op, R> reduce_from(const Initial& initial, const R& x, const Op& op,
                                    const LocalOptions& options = {}) {
  return reduce(x, with_initial(initial, op), options);
}
/// Returns op(initial, result) of the elements of all ranks. All ranks must give the same initial value.
template <class Initial, class R, class Op, class C, class = detail::if_group<C>>
detail::answer_t<Op, R> reduce_from(const Initial& initial, const R& x, const Op& op, const C& comm,
                                    const Options& options = {}) {
  return reduce(x, with_initial(initial, op), comm, options);
}

}  // namespace steadfold

/// The short name of the namespace.
namespace sf {
using namespace steadfold;
using guarantees::layout;
using guarantees::library;
using guarantees::ranks;
using guarantees::release;
using guarantees::schedule;
using guarantees::target;
using guarantees::threads;
}  // namespace sf

#endif
