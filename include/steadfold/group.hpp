// Reductions over groups of ranks, for C++17 and later. Every function here takes a group or, with mpi.hpp, an MPI
// communicator.
//
// Distributed elements: every rank holds some of N elements. The bits do not depend on the number of ranks.
//   double s = sf::sum(x, comm);                                            // correctly rounded
//   double t = sf::sum(x, comm, {.method = sf::tree(), .layout = sf::Layout::contiguous(x.size(), comm)});
//   Matrix m = sf::reduce(matrices, multiply, comm, {.layout = layout});    // any operator, in the fixed tree
//
// MPI's shape: every rank has one vector, so N is the number of ranks. The bits depend on that number alone.
//   sf::allreduce(buffer, sf::plus, comm);                                 // reduce_to, scan, exscan, reduce_scatter
//
// All calls are collective: every rank makes them, in the same order. If a call fails on one rank, every rank gets an
// Error.
#pragma once

#include "steadfold/steadfold.hpp"

#if __cplusplus >= 201703L

#include <numeric>

namespace steadfold {

namespace detail {

/// A call in MPI's shape, cut into blocks.
template <class T, class Op>
sf_call call_of_blocks(HeldOperator<T, Op>& held, View<const std::uint64_t> blocks, const Options& options) {
  const auto columns = std::accumulate(blocks.begin(), blocks.end(), std::uint64_t{0});
  sf_call call = detail::call_of_vectors(held, columns, options, SF_REDUCE_SCATTER);
  call.blocks = blocks.data();
  call.block_count = blocks.size();
  return call;
}

/// Whether R can be a buffer in which results replace the elements: any contiguous range of variables.
template <class Op, class R>
constexpr bool is_writable() {
  using Range = bare_t<R>;
  if constexpr (!is_readable<Op, Range>()) {
    return false;
  } else {
    constexpr bool stays = lasts<R>;
    static_assert(stays, "results are written to the buffer: give a variable, not a temporary");
    using T = element_t<R>;
    constexpr bool is_mutable = std::is_convertible_v<R&, View<T>>;
    static_assert(is_mutable, "results are written to the buffer: its elements must not be const");
    constexpr bool fits = std::is_same_v<result_t<T, Op>, T>;
    static_assert(fits, "results are written over the elements, but have a different type: convert the elements");
    return stays && is_mutable && fits;
  }
}
template <class Op, class R>
View<read_t<Op, R>> results_in(R&& buffer) {
  if constexpr (is_writable<Op, R>())
    return buffer;
  else
    return {};
}

/// Describes the error if the buffer for a rank's block has the wrong size; empty if there is none. The library itself
/// reports errors of the blocks, such as a block that is larger than all values.
inline std::string misfit(View<const std::uint64_t> blocks, Group group, std::size_t values, std::size_t room) {
  const auto own = static_cast<std::size_t>(group.rank());
  if (own >= blocks.size() || blocks[own] == room || blocks[own] > values) return {};
  return "room for " + std::to_string(room) + " results (this rank's block has " + std::to_string(blocks[own]) +
         " elements), give room for all elements of the block";
}

/// A call in MPI's shape: in place, or cut into blocks.
template <class T, class Op>
class CallOfVectors : public Call<T, Op> {
 public:
  CallOfVectors(View<T> buffer, const Op& op, const Options& options, sf_collective collective)
      : Call<T, Op>(op, [&](auto& held) { return detail::call_of_vectors(held, buffer.size(), options, collective); }),
        results_(buffer.data()) {
    this->first_ = buffer.data();
  }
  CallOfVectors(View<const T> values, View<const std::uint64_t> blocks, View<T> result, const Op& op, Group group,
                const Options& options)
      : Call<T, Op>(op, [&](auto& held) { return detail::call_of_blocks(held, blocks, options); }) {
    this->call_.columns = values.size();
    this->fault_ = misfit(blocks, group, values.size(), result.size());
    this->first_ = values.data();
    results_ = result.data();
  }
  void* results() noexcept { return results_; }
  void take(sf_status status) { this->conclude(status); }

 private:
  T* results_ = nullptr;
};

template <class Mode, class R, class Op>
auto reduce_in_place(const Mode& mode, R&& buffer, const Op& op, const Options& options, sf_collective collective) {
  const auto& combine = operator_for<R>(op);
  using Made = CallOfVectors<read_t<Op, R>, std::decay_t<decltype(combine)>>;
  return mode.template reduce<Made>(results_in<Op>(std::forward<R>(buffer)), combine, options, collective);
}
template <class Mode, class R, class S, class Op>
auto reduce_blocks(const Mode& mode, const R& values, View<const std::uint64_t> blocks, S&& result, const Op& op,
                   const Options& options) {
  using T = read_t<Op, R>;
  constexpr bool is_alike = std::is_same_v<read_t<Op, S>, T>;
  static_assert(is_alike, "values and results need elements of the same type: convert the values or the results");
  const auto& combine = operator_for<R>(op);
  using Made = CallOfVectors<T, std::decay_t<decltype(combine)>>;
  View<T> results;
  if constexpr (is_alike) results = results_in<Op>(std::forward<S>(result));
  return mode.template reduce<Made>(elements_of<Op>(values), blocks, results, combine, mode.group, options);
}

}  // namespace detail

/// Combines the buffers of all ranks, in MPI's shape and in place: buffer[i] receives the buffer[i] of all ranks,
/// combined by `op` in the binary tree over ranks. The bits depend on the number of ranks, but not on algorithm,
/// topology or MPI library. The options `method` and `schedule` have an effect. The buffer is any contiguous range of
/// writable elements.
template <class R, class Op, class C, class = detail::if_group<C>>
void allreduce(R&& buffer, const Op& op, const C& comm, const Options& options = {}) {
  detail::reduce_in_place(detail::Waiting(comm), std::forward<R>(buffer), op, options, SF_REDUCE);
}
/// Combines the buffers of all ranks as `allreduce` does, but only into the buffer of rank `root`; the other buffers
/// stay unchanged.
template <class R, class Op, class C, class = detail::if_group<C>>
void reduce_to(int root, R&& buffer, const Op& op, const C& comm, Options options = {}) {
  options.root = root;
  detail::reduce_in_place(detail::Waiting(comm), std::forward<R>(buffer), op, options, SF_REDUCE);
}
/// Combines the buffers of the ranks up to this one, in MPI's shape and in place: buffer[i] receives the buffer[i] of
/// ranks 0 to this rank, combined by `op` in the binary tree over these ranks.
template <class R, class Op, class C, class = detail::if_group<C>>
void scan(R&& buffer, const Op& op, const C& comm, const Options& options = {}) {
  detail::reduce_in_place(detail::Waiting(comm), std::forward<R>(buffer), op, options, SF_SCAN);
}
/// Combines the buffers of the ranks below this one, in MPI's shape and in place. The buffer of rank 0 stays unchanged.
template <class R, class Op, class C, class = detail::if_group<C>>
void exscan(R&& buffer, const Op& op, const C& comm, const Options& options = {}) {
  detail::reduce_in_place(detail::Waiting(comm), std::forward<R>(buffer), op, options, SF_EXSCAN);
}

/// Combines the vectors of all ranks by `op`, in MPI's shape, and gives every rank a block of the result: rank r gets
/// blocks[r] elements, which follow those of the lower ranks. The bits are the same as with allreduce. `values` has as
/// many elements as all blocks together, `result` as many as this rank's block. `result` may be part of `values`.
template <class R, class S, class Op, class C, class = detail::if_group<C>>
void reduce_scatter(const R& values, View<const std::uint64_t> blocks, S&& result, const Op& op, const C& comm,
                    const Options& options = {}) {
  detail::reduce_blocks(detail::Waiting(comm), values, blocks, std::forward<S>(result), op, options);
}
/// Makes the call `reduce_scatter` with equal blocks, one per rank. `values` has as many elements as all blocks
/// together.
template <class R, class S, class Op, class C, class = detail::if_group<C>>
void reduce_scatter_block(const R& values, S&& result, const Op& op, const C& comm, const Options& options = {}) {
  const Group group = steadfold::group_of(comm);
  const auto ranks = static_cast<std::size_t>(group.size());
  const auto blocks = detail::told(
      group, [&] { return std::vector<std::uint64_t>(ranks, detail::elements_of<Op>(values).size() / ranks); });
  steadfold::reduce_scatter(values, blocks, std::forward<S>(result), op, group, options);
}

}  // namespace steadfold

#include "steadfold/plan.hpp"

#endif
