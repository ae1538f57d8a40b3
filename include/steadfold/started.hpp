// Steadfold for C++20 over groups of ranks: calls that are started, and ended later. For MPI's communicators include
// mpi.hpp, too.
//
//   auto sum = sf::start(sf::plus, x, comm);   // every rank starts the same calls in the same order
//   auto peak = sf::start(sf::max, z, comm);
//   compute();                                 // now and then: sum.test(), which moves all that is under way
//   if (!peak.wait_for(1ms)) compute_more();   // that the time is over is no failure
//   use(sum.get(), peak.get());                // in any order
//
// Bits are those of the calls that wait. A range that is given stays as it is until its call has ended. Header-only
// over the C functions of steadfold_group.h, which says what moves calls on.
#pragma once

#include "steadfold/bundle.hpp"

#if __cplusplus >= 202002L

#include "steadfold/common_started.hpp"

namespace steadfold {

namespace detail {

/// If two vectors differ in size, the call is made without the second and fails on all ranks.
template <class T, class Op>
Pending<result_t<T, Op>> start_reduce(const Operands<T>& x, const Op& op, Group group, const Options& options) {
  auto call = made<StartedResult<HeldOperator<T, std::decay_t<Op>>>>(group, op);
  call->fault = misfit(x, op);
  const sf_call described = call_of(call->held, std::max(x.first.size(), x.second_size), options);
  check(sf_group_start_reduce(&described, x.first.data(), call->fault.empty() ? x.second : nullptr, &call->result,
                              group.handle(), &call->request));
  return Pending<result_t<T, Op>>(std::move(call));
}

template <sf_operation id, class T>
Pending<std::vector<value_t<T, BuiltIn<id>>>> start_dots(std::span<const T> x, const Vectors<T>& ys, Group group,
                                                         const Options& options) {
  auto call = made<StartedDots<T, HeldOperator<T, BuiltIn<id>>>>(group, x, ys, options);
  check(
      sf_group_start_reduce(call->made.call(), nullptr, nullptr, call->made.results(), group.handle(), &call->request));
  return Pending<std::vector<value_t<T, BuiltIn<id>>>>(std::move(call));
}

template <class T, class Op>
Pending<std::vector<result_t<T, Op>>> start_array(const Array<T>& x, const MaybeArray& factors, const Op& op,
                                                  const Axes& axes, Group group, const Options& options) {
  auto call = made<StartedArray<T, HeldOperator<T, std::decay_t<Op>>>>(group, x, factors, op, axes, options);
  check(
      sf_group_start_reduce(call->made.call(), nullptr, nullptr, call->made.results(), group.handle(), &call->request));
  return Pending<std::vector<result_t<T, Op>>>(std::move(call));
}

template <class R, class Op>
Pending<> start_in_place(R&& buffer, const Op& op, Group group, const Options& options,
                         sf_collective collective = SF_REDUCE) {
  const auto& combine = operator_for<R>(op);
  const auto results = results_in<Op>(std::forward<R>(buffer));
  auto call = made<StartedVectors<HeldOperator<read_t<Op, R>, std::decay_t<decltype(combine)>>>>(group, combine);
  const sf_call described = call_of_vectors(call->held, results.size(), options, collective);
  check(sf_group_start_reduce(&described, results.data(), nullptr, results.data(), group.handle(), &call->request));
  return Pending<>(std::move(call));
}

template <class T, class Op>
Pending<> start_blocks(std::span<const T> values, std::span<const std::uint64_t> blocks, std::span<T> result,
                       const Op& op, Group group, const Options& options) {
  auto call = made<StartedVectors<HeldOperator<T, std::decay_t<Op>>>>(group, op);
  sf_call described = call_of_blocks(call->held, blocks, options);
  described.columns = values.size();
  call->fault = misfit(blocks, group, result.size());
  const bool fits = call->fault.empty();
  check(sf_group_start_reduce(&described, fits ? values.data() : nullptr, nullptr, fits ? result.data() : nullptr,
                              group.handle(), &call->request));
  return Pending<>(std::move(call));
}

}  // namespace detail

/// Starts the reduction of the elements of all ranks by `op`: sf::plus, sf::max, sf::norm2, ..., or one of your own.
/// The value is that of the call that waits.
template <class Op, class R, Communicator C>
Pending<detail::answer_t<Op, R>> start(const Op& op, R&& x, const C& comm, const Options& options = {}) {
  detail::must_last<R>();
  return detail::start_reduce(detail::operands<Op>(x), detail::operator_for<R>(op), group_of(comm), options);
}
/// The same with a second vector (sf::dot), or a mask (sf::masked_sum).
template <class Op, class R, detail::Companion S, Communicator C>
Pending<detail::answer_t<Op, R>> start(const Op& op, R&& x, S&& y, const C& comm, const Options& options = {}) {
  detail::must_last<R, S>();
  return detail::start_reduce(detail::operands<Op>(x, y), op, group_of(comm), options);
}
/// The same for the name of a function: start(sf::sum, x, comm).
template <class R, Communicator C>
Pending<detail::answer_t<BuiltIn<SF_SUM>, R>> start(detail::Sum<detail::element_t<R>>& /*sum*/, R&& x, const C& comm,
                                                    const Options& options = {}) {
  return start(plus, std::forward<R>(x), comm, options);
}

/// The same over an array, see Axes: start(sf::plus, field, {.keep = {0}}, comm). The array may go, its elements must
/// stay. `y`: the factors of a dot product.
template <class Op, class T, Communicator C>
Pending<std::vector<detail::result_t<T, Op>>> start(const Op& op, const Array<T>& x, const Axes& axes, const C& comm,
                                                    const Options& options = {}) {
  return detail::start_array(x, axes.weights, op, axes, group_of(comm), options);
}
template <class Op, class T, Communicator C>
Pending<std::vector<detail::result_t<T, Op>>> start(const Op& op, const Array<T>& x, const Array<T>& y,
                                                    const Axes& axes, const C& comm, const Options& options = {}) {
  return detail::start_array(x, y, op, axes, group_of(comm), options);
}

/// dots(x, ys, comm) and dotcs(x, ys, comm), started. `ys` may go, its elements must stay.
template <class R, Communicator C>
auto start_dots(R&& x, const Vectors<detail::element_t<R>>& ys, const C& comm, const Options& options = {}) {
  detail::must_last<R>();
  return detail::start_dots<SF_DOT>(std::span<const detail::element_t<R>>(x), ys, group_of(comm), options);
}
template <class R, Communicator C>
auto start_dotcs(R&& x, const Vectors<detail::element_t<R>>& ys, const C& comm, const Options& options = {}) {
  detail::must_last<R>();
  return detail::start_dots<SF_DOTC>(std::span<const detail::element_t<R>>(x), ys, group_of(comm), options);
}

/// MPI's shape, in place, as the functions of the same names that wait.
template <class R, class Op, Communicator C>
Pending<> start_allreduce(R&& buffer, const Op& op, const C& comm, const Options& options = {}) {
  return detail::start_in_place(std::forward<R>(buffer), op, group_of(comm), options);
}
template <class R, class Op, Communicator C>
Pending<> start_reduce_to(int root, R&& buffer, const Op& op, const C& comm, Options options = {}) {
  options.root = root;
  return detail::start_in_place(std::forward<R>(buffer), op, group_of(comm), options);
}
template <class R, class Op, Communicator C>
Pending<> start_scan(R&& buffer, const Op& op, const C& comm, const Options& options = {}) {
  return detail::start_in_place(std::forward<R>(buffer), op, group_of(comm), options, SF_SCAN);
}
template <class R, class Op, Communicator C>
Pending<> start_exscan(R&& buffer, const Op& op, const C& comm, const Options& options = {}) {
  return detail::start_in_place(std::forward<R>(buffer), op, group_of(comm), options, SF_EXSCAN);
}
template <class R, class S, class Op, Communicator C>
Pending<> start_reduce_scatter(R&& values, std::span<const std::uint64_t> blocks, S&& result, const Op& op,
                               const C& comm, const Options& options = {}) {
  detail::must_last<R>();
  static_assert(std::same_as<detail::read_t<Op, S>, detail::read_t<Op, R>>,
                "values and results have elements of one type: convert one of them");
  return detail::start_blocks(detail::elements_of<Op>(values), blocks, detail::results_in<Op>(std::forward<S>(result)),
                              detail::operator_for<R>(op), group_of(comm), options);
}

/// Done on no rank before every rank has called, or started, it.
template <Communicator C>
void barrier(const C& comm) {
  detail::check(sf_group_barrier(group_of(comm).handle()));
}
template <Communicator C>
Pending<> start_barrier(const C& comm) {
  return detail::start_barrier_of(group_of(comm));
}

/// Layout::contiguous, started.
template <Communicator C>
Pending<Layout> start_layout(std::uint64_t rows, const C& comm) {
  return detail::start_layout_of(rows, group_of(comm));
}

/// Starts to bind a plan: start_bind<double>(sf::plus, rows, comm) is Plan<double>(sf::plus, rows, comm).
template <class T, class Result = T, class Op, Communicator C>
Pending<Plan<T, Result>> start_bind(const Op& op, std::uint64_t rows, const C& comm, const Options& options = {}) {
  return detail::start_plan<Plan<T, Result>, T, Result>(
      op, group_of(comm), [&](auto& held) { return detail::call_of(held, rows, options); });
}
/// The same in MPI's shape: Plan<T>::of_vectors.
template <class T, class Result = T, class Op, Communicator C>
Pending<VectorPlan<T, Result>> start_bind_of_vectors(const Op& op, std::uint64_t count, const C& comm,
                                                     const Options& options = {}) {
  return detail::start_plan<VectorPlan<T, Result>, T, Result>(
      op, group_of(comm), [&](auto& held) { return detail::call_of_vectors(held, count, options); });
}
/// Starts to bind a bundle's plan: bundle.bind(comm).
template <Communicator C>
Pending<BundlePlan> start_bind(const Bundle& bundle, const C& comm, const BundleOptions& options = {}) {
  return detail::start_plan_of(bundle, group_of(comm), options);
}

}  // namespace steadfold

#endif
