// Calls of Steadfold for C++17 that are started, and ended later. Included by cxx17.hpp, which is the header to
// include.
//
//   auto sum = sf17::start(sf17::plus, x, comm);     // every rank starts the same calls in the same order
//   auto peak = sf17::start(sf17::max, z, comm);
//   compute();                                       // now and then: sum.test(), which moves all that is under way
//   if (!peak.wait_for(1ms)) compute_more();         // that the time is over is no failure
//   use(sum.get(), peak.get());                      // in any order
//
// Bits are those of the calls that wait. A range that is given stays as it is until its call has ended.
#pragma once

#include "steadfold/common_started.hpp"
#include "steadfold/cxx17_bundle.hpp"

#if __cplusplus >= 201703L

namespace steadfold::cxx17 {

using steadfold::Pending;
using steadfold::ProgressThread;

namespace detail {

/// If two vectors differ in size, the call is made without the second and fails on all ranks.
template <class R, class Op>
Pending<result_t<R, Op>> start_reduce(const R& x, const SecondRows& second, const Op& op, Group group,
                                      const Options& options) {
  auto call = made<steadfold::detail::StartedResult<held_t<R, Op>>>(group, op);
  call->fault = steadfold::detail::misfit(second.kind, std::size(x), second.size);
  const sf_call described = call_of(call->held, std::max<std::size_t>(std::size(x), second.size), options);
  check(sf_group_start_reduce(&described, std::data(x), call->fault.empty() ? second.data : nullptr, &call->result,
                              group.handle(), &call->request));
  return Pending<result_t<R, Op>>(std::move(call));
}

/// A call that has its data, and room for its results.
template <class Value, class Call>
Pending<std::vector<Value>> start_made(std::unique_ptr<Call> call, Group group) {
  check(
      sf_group_start_reduce(call->made.call(), nullptr, nullptr, call->made.results(), group.handle(), &call->request));
  return Pending<std::vector<Value>>(std::move(call));
}
template <class T, class Op>
auto start_array(const Array<T>& x, const MaybeArray& factors, const Op& op, const Axes& axes, Group group,
                 const Options& options) {
  return start_made<typename ArrayCall<T, Op>::Result>(
      made<steadfold::detail::StartedArray<T, Held<T, std::decay_t<Op>>>>(group, x, factors, op, axes, options), group);
}
template <sf_operation id, class R>
auto start_dots(R&& x, const Vectors<element_t<R>>& ys, Group group, const Options& options) {
  must_last<R>();
  using T = element_t<R>;
  return start_made<typename DotsCall<T, id>::Result>(
      made<steadfold::detail::StartedDots<T, Held<T, BuiltIn<id>>>>(group, x, ys, options), group);
}

template <class R, class Op>
Pending<> start_in_place(R&& buffer, const Op& op, Group group, const Options& options, sf_collective collective) {
  must_last<R>();
  static_assert(are_alike<R, R, Op>());
  auto call = made<steadfold::detail::StartedVectors<held_t<R, Op>>>(group, op);
  const sf_call described = call_of_vectors(call->held, std::size(buffer), options, collective);
  check(
      sf_group_start_reduce(&described, std::data(buffer), nullptr, std::data(buffer), group.handle(), &call->request));
  return Pending<>(std::move(call));
}

template <class T, class Op>
Pending<> start_blocks(View<const T> values, View<const std::uint64_t> blocks, View<T> result, const Op& op,
                       Group group, const Options& options) {
  auto call = made<steadfold::detail::StartedVectors<Held<T, std::decay_t<Op>>>>(group, op);
  sf_call described = call_of_blocks(call->held, blocks, options);
  described.columns = values.size();
  call->fault = misfit(blocks, group, result.size());
  const bool fits = call->fault.empty();
  check(sf_group_start_reduce(&described, fits ? values.data() : nullptr, nullptr, fits ? result.data() : nullptr,
                              group.handle(), &call->request));
  return Pending<>(std::move(call));
}

}  // namespace detail

/// Starts the reduction of the elements of all ranks by `op`: sf17::plus, sf17::max, ..., or one of your own. The value
/// is that of the call that waits.
template <class Op, class R, class C, class = detail::if_vector<R>, class = detail::if_group<C>>
auto start(const Op& op, R&& x, const C& comm, const Options& options = {}) {
  detail::must_last<R>();
  return detail::start_reduce(x, {}, op, group_of(comm), options);
}
/// The same with a second vector (sf17::dot), or a mask (sf17::masked_sum).
template <sf_operation id, class To, class R, class S, class C, class = detail::if_vector<R>,
          class = detail::if_vector<S>, class = detail::if_group<C>>
auto start(const BuiltIn<id, To>& op, R&& x, S&& y, const C& comm, const Options& options = {}) {
  detail::must_last<R, S>();
  return detail::start_reduce(x, detail::second_rows_of<id>(x, y), op, group_of(comm), options);
}
/// The same over an array, see Axes. The array may go, its elements must stay. `y`: the factors of a dot product.
template <class Op, class T, class C, class = detail::if_group<C>>
auto start(const Op& op, const Array<T>& x, const Axes& axes, const C& comm, const Options& options = {}) {
  return detail::start_array(x, axes.weights, op, axes, group_of(comm), options);
}
template <class Op, class T, class C, class = detail::if_group<C>>
auto start(const Op& op, const Array<T>& x, const Array<T>& y, const Axes& axes, const C& comm,
           const Options& options = {}) {
  return detail::start_array(x, y, op, axes, group_of(comm), options);
}

/// dots(x, ys, comm) and dotcs(x, ys, comm), started. `ys` may go, its elements must stay.
template <class R, class C, class = detail::if_group<C>>
auto start_dots(R&& x, const Vectors<detail::element_t<R>>& ys, const C& comm, const Options& options = {}) {
  return detail::start_dots<SF_DOT>(std::forward<R>(x), ys, group_of(comm), options);
}
template <class R, class C, class = detail::if_group<C>>
auto start_dotcs(R&& x, const Vectors<detail::element_t<R>>& ys, const C& comm, const Options& options = {}) {
  return detail::start_dots<SF_DOTC>(std::forward<R>(x), ys, group_of(comm), options);
}

/// MPI's shape, in place, as the functions of the same names that wait.
template <class R, class Op, class C>
Pending<> start_allreduce(R&& buffer, const Op& op, const C& comm, const Options& options = {}) {
  return detail::start_in_place(std::forward<R>(buffer), op, group_of(comm), options, SF_REDUCE);
}
template <class R, class Op, class C>
Pending<> start_reduce_to(int root, R&& buffer, const Op& op, const C& comm, Options options = {}) {
  options.root = root;
  return detail::start_in_place(std::forward<R>(buffer), op, group_of(comm), options, SF_REDUCE);
}
template <class R, class Op, class C>
Pending<> start_scan(R&& buffer, const Op& op, const C& comm, const Options& options = {}) {
  return detail::start_in_place(std::forward<R>(buffer), op, group_of(comm), options, SF_SCAN);
}
template <class R, class Op, class C>
Pending<> start_exscan(R&& buffer, const Op& op, const C& comm, const Options& options = {}) {
  return detail::start_in_place(std::forward<R>(buffer), op, group_of(comm), options, SF_EXSCAN);
}
template <class R, class S, class Op, class C>
Pending<> start_reduce_scatter(R&& values, View<const std::uint64_t> blocks, S&& result, const Op& op, const C& comm,
                               const Options& options = {}) {
  detail::must_last<R, S>();
  static_assert(detail::are_alike<R, S, Op>());
  using T = detail::element_t<R>;
  return detail::start_blocks(View<const T>(values), blocks, View<T>(result), op, group_of(comm), options);
}

/// Done on no rank before every rank has called, or started, it.
template <class C, class = detail::if_group<C>>
void barrier(const C& comm) {
  detail::check(sf_group_barrier(group_of(comm).handle()));
}
template <class C, class = detail::if_group<C>>
Pending<> start_barrier(const C& comm) {
  return steadfold::detail::start_barrier_of(group_of(comm));
}

/// Layout::contiguous, started.
template <class C, class = detail::if_group<C>>
Pending<Layout> start_layout(std::uint64_t rows, const C& comm) {
  return steadfold::detail::start_layout_of(rows, group_of(comm));
}

/// Starts to bind a plan: start_bind<double>(sf17::plus, rows, comm) is Plan<double>(sf17::plus, rows, comm).
template <class T, class Result = T, class Op, class C>
Pending<Plan<T, Result>> start_bind(const Op& op, std::uint64_t rows, const C& comm, const Options& options = {}) {
  return steadfold::detail::start_plan<Plan<T, Result>, T, Result>(
      op, group_of(comm), [&](auto& held) { return detail::call_of(held, rows, options); });
}
/// The same in MPI's shape: Plan<T>::of_vectors.
template <class T, class Result = T, class Op, class C>
Pending<VectorPlan<T, Result>> start_bind_of_vectors(const Op& op, std::uint64_t count, const C& comm,
                                                     const Options& options = {}) {
  return steadfold::detail::start_plan<VectorPlan<T, Result>, T, Result>(
      op, group_of(comm), [&](auto& held) { return detail::call_of_vectors(held, count, options); });
}
/// Starts to bind a bundle's plan: bundle.bind(comm).
template <class C, class = detail::if_group<C>>
Pending<BundlePlan> start_bind(const Bundle& bundle, const C& comm, const BundleOptions& options = {}) {
  return steadfold::detail::start_plan_of(bundle, group_of(comm), options);
}

}  // namespace steadfold::cxx17

#endif
