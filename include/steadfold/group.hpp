// Steadfold for C++20 over groups of ranks. mpi.hpp has MPI's communicators; every function here takes either.
//
// Distributed elements: every rank holds some of N elements, and the bits do not depend on how many ranks there are.
//   double s = sf::sum(x, comm);                                            // correctly rounded
//   double t = sf::sum(x, comm, {.method = sf::tree(), .layout = sf::Layout::contiguous(x.size(), comm)});
//   Matrix m = sf::reduce(matrices, multiply, comm, {.layout = layout});    // any operator, in the fixed tree
//
// MPI's shape: every rank brings one vector, N is the number of ranks. The bits depend on that number alone.
//   sf::allreduce(buffer, sf::plus, comm);                                 // reduce_to, scan, exscan, reduce_scatter
//
// All calls are collective: every rank makes them, in the same order. A failure on one rank is an Error on all.
// Header-only over the C functions of steadfold_group.h.
#pragma once

#include "steadfold/steadfold.hpp"

#if __cplusplus >= 202002L

#include <algorithm>
#include <numeric>
#include <vector>

#include "steadfold/common_group.hpp"

namespace steadfold {

namespace detail {

/// A call in MPI's shape, cut into blocks.
template <class T, class Op>
sf_call call_of_blocks(HeldOperator<T, Op>& held, std::span<const std::uint64_t> blocks, const Options& options) {
  const auto columns = std::accumulate(blocks.begin(), blocks.end(), std::uint64_t{0});
  sf_call call = call_of_vectors(held, columns, options, SF_REDUCE_SCATTER);
  call.blocks = blocks.data();
  call.block_count = blocks.size();
  return call;
}

/// Calls over what has a group.
template <class C>
  requires requires(const C& comm) { GroupOf<C>::group(comm); }
struct Over<C> : GroupOf<C> {
  using Options = steadfold::Options;

  template <class Prepare>
  static auto told(Group group, const Prepare& prepare) -> decltype(prepare()) {
    return detail::told(group, prepare);
  }

  /// A call whose data are those of its arrays.
  static sf_status reduce(const sf_call& call, void* results, Group group) {
    return sf_group_reduce(&call, nullptr, nullptr, results, group.handle());
  }

  /// If two vectors differ in size, the call is made without the second, reads neither and fails on all ranks, so that
  /// none waits for a rank that threw.
  template <class T, class Op>
  static result_t<T, Op> reduce(const Operands<T>& x, const Op& op, Group group, const Options& options) {
    HeldOperator<T, std::decay_t<Op>> held(op);
    const std::string fault = misfit(x, op);
    const sf_call call = call_of(held, std::max(x.first.size(), x.second_size), options);
    auto result = no_result<result_t<T, Op>>();
    const sf_status status =
        sf_group_reduce(&call, x.first.data(), fault.empty() ? x.second : nullptr, &result, group.handle());
    if (!fault.empty()) throw Error(SF_INVALID_ARGUMENT, fault);
    check(status, &held);
    return result;
  }
};

/// A buffer for results in place of elements: any contiguous range of variables.
template <class Op, class R>
constexpr bool is_writable() {
  if constexpr (!is_readable<Op, std::remove_cvref_t<R>>()) {
    return false;
  } else {
    constexpr bool stays = std::is_lvalue_reference_v<R> || std::ranges::borrowed_range<R>;
    static_assert(stays, "results are written to the buffer: give a variable, a temporary is gone after the call");
    constexpr bool is_mutable = !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;
    static_assert(is_mutable, "results are written to the buffer: its elements must not be const");
    using T = element_t<R>;
    constexpr bool fits = std::same_as<result_t<T, Op>, T>;
    static_assert(fits, "results take the place of elements here, and these have another type: convert the elements");
    return stays && is_mutable && fits;
  }
}
template <class Op, class R>
std::span<read_t<Op, R>> results_in(R&& buffer) {
  if constexpr (is_writable<Op, R>())
    return {std::ranges::data(buffer), std::ranges::size(buffer)};
  else
    return {};
}

template <class R, class Op>
void reduce_in_place(R&& buffer, const Op& op, Group group, const Options& options,
                     sf_collective collective = SF_REDUCE) {
  const auto& combine = operator_for<R>(op);
  const auto results = results_in<Op>(std::forward<R>(buffer));
  HeldOperator<read_t<Op, R>, std::decay_t<decltype(combine)>> held(combine);
  const sf_call call = call_of_vectors(held, results.size(), options, collective);
  check(sf_group_reduce(&call, results.data(), nullptr, results.data(), group.handle()), &held);
}

/// What is wrong with the room for a rank's block; empty if nothing is.
inline std::string misfit(std::span<const std::uint64_t> blocks, Group group, std::size_t room) {
  const auto own = static_cast<std::size_t>(group.rank());
  if (own >= blocks.size() || blocks[own] == room) return {};
  return "room for " + std::to_string(room) + " results (this rank's block has " + std::to_string(blocks[own]) +
         " elements), give room for as many";
}

/// If the result has another size than this rank's block, the call is made without data and fails on all ranks, so that
/// none waits for a rank that threw.
template <class T, class Op>
void reduce_blocks(std::span<const T> values, std::span<const std::uint64_t> blocks, std::span<T> result, const Op& op,
                   Group group, const Options& options) {
  HeldOperator<T, std::decay_t<Op>> held(op);
  sf_call call = call_of_blocks(held, blocks, options);
  call.columns = values.size();
  const std::string fault = misfit(blocks, group, result.size());
  const bool fits = fault.empty();
  const sf_status status =
      sf_group_reduce(&call, fits ? values.data() : nullptr, nullptr, fits ? result.data() : nullptr, group.handle());
  if (!fits) throw Error(SF_INVALID_ARGUMENT, fault);
  check(status, &held);
}

}  // namespace detail

/// The group of a communicator, which code that knows no MPI can pass on. Collective when a communicator is used for
/// the first time. Throws Error.
template <Communicator C>
Group group_of(const C& comm) {
  return detail::Over<C>::group(comm);
}

/// MPI's shape, in place: buffer[i] of all ranks combined by `op` in the binary tree over ranks. The bits depend on the
/// number of ranks, but not on algorithm, topology or MPI library. Options: method and schedule. The buffer is any
/// contiguous range of elements that may be written to.
template <class R, class Op, Communicator C>
void allreduce(R&& buffer, const Op& op, const C& comm, const Options& options = {}) {
  detail::reduce_in_place(std::forward<R>(buffer), op, group_of(comm), options);
}

/// The same, for rank `root` only: the buffers of other ranks stay as they are.
template <class R, class Op, Communicator C>
void reduce_to(int root, R&& buffer, const Op& op, const C& comm, Options options = {}) {
  options.root = root;
  detail::reduce_in_place(std::forward<R>(buffer), op, group_of(comm), options);
}

/// MPI's shape, in place: buffer[i] of ranks 0 to this one, combined by `op` in the binary tree over those ranks.
template <class R, class Op, Communicator C>
void scan(R&& buffer, const Op& op, const C& comm, const Options& options = {}) {
  detail::reduce_in_place(std::forward<R>(buffer), op, group_of(comm), options, SF_SCAN);
}

/// The same over the ranks below this one; the buffer of rank 0 stays as it is.
template <class R, class Op, Communicator C>
void exscan(R&& buffer, const Op& op, const C& comm, const Options& options = {}) {
  detail::reduce_in_place(std::forward<R>(buffer), op, group_of(comm), options, SF_EXSCAN);
}

/// MPI's shape: combines the vectors of all ranks by `op`; rank r gets blocks[r] elements, after those of the lower
/// ranks. The bits are those of allreduce. `values` has as many elements as all blocks together, `result` as many as
/// this rank's block; it may be part of `values`.
template <class R, class S, class Op, Communicator C>
void reduce_scatter(const R& values, std::span<const std::uint64_t> blocks, S&& result, const Op& op, const C& comm,
                    const Options& options = {}) {
  using T = detail::read_t<Op, R>;
  constexpr bool is_alike = std::same_as<detail::read_t<Op, S>, T>;
  static_assert(is_alike, "values and results have elements of one type: convert one of them");
  if constexpr (is_alike)
    detail::reduce_blocks(detail::elements_of<Op>(values), blocks, detail::results_in<Op>(std::forward<S>(result)),
                          detail::operator_for<R>(op), group_of(comm), options);
}

/// The same in blocks of one size.
template <class R, class S, class Op, Communicator C>
void reduce_scatter_block(const R& values, S&& result, const Op& op, const C& comm, const Options& options = {}) {
  const Group group = group_of(comm);
  const auto ranks = static_cast<std::size_t>(group.size());
  const auto blocks = detail::told(
      group, [&] { return std::vector<std::uint64_t>(ranks, detail::elements_of<Op>(values).size() / ranks); });
  reduce_scatter(values, blocks, std::forward<S>(result), op, group, options);
}

}  // namespace steadfold

#include "steadfold/plan.hpp"

#endif
