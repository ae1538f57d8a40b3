// Calls of Steadfold for C++17: reductions of elements, over this process or over ranks, and vectors in MPI's shape.
// Included by cxx17.hpp, which is the header to include.
#pragma once

#include "steadfold/cxx17_array.hpp"

#if __cplusplus >= 201703L

namespace steadfold::cxx17 {

namespace detail {

template <class R, class Op>
result_t<R, Op> reduce_here(const R& x, const SecondRows& second, const Op& op, const LocalOptions& options) {
  held_t<R, Op> held(op);
  const sf_call call = call_of(held, std::size(x), options);
  const std::string fault = steadfold::detail::misfit(second.kind, std::size(x), second.size);
  if (!fault.empty()) throw Error(SF_INVALID_ARGUMENT, fault);
  auto result = no_result<result_t<R, Op>>();
  check(sf_reduce_local(&call, std::data(x), second.data, &result), &held);
  return result;
}

/// If two vectors differ in size, the call is made without the second, reads neither and fails on all ranks, so that
/// none waits for a rank that threw.
template <class R, class Op>
result_t<R, Op> reduce_over(Group group, const R& x, const SecondRows& second, const Op& op, const Options& options) {
  held_t<R, Op> held(op);
  const sf_call call = call_of(held, std::max<std::size_t>(std::size(x), second.size), options);
  const std::string fault = steadfold::detail::misfit(second.kind, std::size(x), second.size);
  auto result = no_result<result_t<R, Op>>();
  const sf_status status =
      sf_group_reduce(&call, std::data(x), fault.empty() ? second.data : nullptr, &result, group.handle());
  if (!fault.empty()) throw Error(SF_INVALID_ARGUMENT, fault);
  check(status, &held);
  return result;
}

template <class R, class Op>
void reduce_in_place(Group group, R& buffer, const Op& op, const Options& options, sf_collective collective) {
  using T = std::remove_pointer_t<decltype(std::data(buffer))>;
  static_assert(!std::is_const_v<T>, "results are written to the buffer: its elements must not be const");
  static_assert(std::is_same_v<result_t<R, Op>, T>,
                "results take the place of elements here, and these have another type: convert the elements");
  held_t<R, Op> held(op);
  const sf_call call = call_of_vectors(held, std::size(buffer), options, collective);
  check(sf_group_reduce(&call, std::data(buffer), nullptr, std::data(buffer), group.handle()), &held);
}

/// The same, cut into blocks.
template <class AnyHeld>
sf_call call_of_blocks(AnyHeld& held, View<const std::uint64_t> blocks, const Options& options) {
  std::uint64_t columns = 0;
  for (const std::uint64_t block : blocks) columns += block;
  sf_call call = call_of_vectors(held, columns, options, SF_REDUCE_SCATTER);
  call.blocks = blocks.data();
  call.block_count = blocks.size();
  return call;
}

/// What is wrong with the room for a rank's block; empty if nothing is.
inline std::string misfit(View<const std::uint64_t> blocks, Group group, std::size_t room) {
  const auto own = static_cast<std::size_t>(group.rank());
  if (own >= blocks.size() || blocks[own] == room) return {};
  return "room for " + std::to_string(room) + " results (this rank's block has " + std::to_string(blocks[own]) +
         " elements), give room for as many";
}

/// If the result has another size than this rank's block, the call is made without data and fails on all ranks, so that
/// none waits for a rank that threw.
template <class T, class Op>
void reduce_blocks(View<const T> values, View<const std::uint64_t> blocks, View<T> result, const Op& op, Group group,
                   const Options& options) {
  Held<T, std::decay_t<Op>> held(op);
  sf_call call = call_of_blocks(held, blocks, options);
  call.columns = values.size();
  const std::string fault = misfit(blocks, group, result.size());
  const bool fits = fault.empty();
  const sf_status status =
      sf_group_reduce(&call, fits ? values.data() : nullptr, nullptr, fits ? result.data() : nullptr, group.handle());
  if (!fits) throw Error(SF_INVALID_ARGUMENT, fault);
  check(status, &held);
}

/// Results of MPI's shape that take the place of elements, or stand elsewhere.
template <class R, class S, class Op>
constexpr bool are_alike() {
  using T = std::remove_pointer_t<decltype(std::data(std::declval<S&>()))>;
  static_assert(!std::is_const_v<T>, "results are written to the buffer: its elements must not be const");
  static_assert(std::is_same_v<element_t<R>, T>, "values and results have elements of one type: convert one of them");
  static_assert(std::is_same_v<result_t<R, Op>, T>,
                "results take the place of elements here, and these have another type: convert the elements");
  return true;
}

}  // namespace detail

/// A built-in operator: an argument of `reduce`, of plans, and a function of vectors itself, over this process's
/// elements or those of all ranks. Without a layout `tree` takes elements in rank order. If there is a root, other
/// ranks get a NaN (integers: 0). Throws Error. Result: void, or a type wider than the elements, see `to`.
template <sf_operation id, class Result = void>
struct BuiltIn {
  template <class R, class = detail::if_vector<R>>
  auto operator()(const R& x, const LocalOptions& options = {}) const {
    expect_one_vector();
    return detail::reduce_here(x, {}, *this, options);
  }
  template <class R, class S, class = detail::if_vector<R>, class = detail::if_vector<S>>
  auto operator()(const R& x, const S& y, const LocalOptions& options = {}) const {
    return detail::reduce_here(x, detail::second_rows_of<id>(x, y), *this, options);
  }
  template <class R, class C, class = detail::if_vector<R>, class = detail::if_group<C>, class = void>
  auto operator()(const R& x, const C& comm, const Options& options = {}) const {
    expect_one_vector();
    return detail::reduce_over(detail::GroupOf<C>::group(comm), x, {}, *this, options);
  }
  template <class R, class S, class C, class = detail::if_vector<R>, class = detail::if_vector<S>,
            class = detail::if_group<C>>
  auto operator()(const R& x, const S& y, const C& comm, const Options& options = {}) const {
    return detail::reduce_over(detail::GroupOf<C>::group(comm), x, detail::second_rows_of<id>(x, y), *this, options);
  }

  /// Over an array: of all its elements, or, with `axes`, one result for every index that is kept. `y`: the factors of
  /// a dot product, stretched to the shape of x.
  template <class T>
  auto operator()(const Array<T>& x, const LocalOptions& options = {}) const {
    return detail::reduce_array(x, {}, *this, {}, options).front();
  }
  template <class T>
  auto operator()(const Array<T>& x, const Array<T>& y, const LocalOptions& options = {}) const {
    return detail::reduce_array(x, y, *this, {}, options).front();
  }
  template <class T>
  auto operator()(const Array<T>& x, const Axes& axes, const LocalOptions& options = {}) const {
    return detail::reduce_array(x, axes.weights, *this, axes, options);
  }
  template <class T>
  auto operator()(const Array<T>& x, const Array<T>& y, const Axes& axes, const LocalOptions& options = {}) const {
    return detail::reduce_array(x, y, *this, axes, options);
  }
  template <class T, class C, class = detail::if_group<C>>
  auto operator()(const Array<T>& x, const C& comm, const Options& options = {}) const {
    return detail::reduce_array(x, {}, *this, {}, detail::GroupOf<C>::group(comm), options).front();
  }
  template <class T, class C, class = detail::if_group<C>>
  auto operator()(const Array<T>& x, const Array<T>& y, const C& comm, const Options& options = {}) const {
    return detail::reduce_array(x, y, *this, {}, detail::GroupOf<C>::group(comm), options).front();
  }
  template <class T, class C, class = detail::if_group<C>>
  auto operator()(const Array<T>& x, const Axes& axes, const C& comm, const Options& options = {}) const {
    return detail::reduce_array(x, axes.weights, *this, axes, detail::GroupOf<C>::group(comm), options);
  }
  template <class T, class C, class = detail::if_group<C>>
  auto operator()(const Array<T>& x, const Array<T>& y, const Axes& axes, const C& comm,
                  const Options& options = {}) const {
    return detail::reduce_array(x, y, *this, axes, detail::GroupOf<C>::group(comm), options);
  }

 private:
  static constexpr void expect_one_vector() {
    static_assert(detail::second_of(id) == detail::Second::none,
                  "a dot product takes two vectors, a masked sum a vector and a mask");
  }
};
/// With results wider than the elements: sf17::to<double>(sf17::sum)(floats). Exact sums are rounded once, to the wider
/// type.
template <class Result, sf_operation id>
constexpr BuiltIn<id, Result> to(BuiltIn<id> /*op*/) {
  return {};
}

#include "steadfold/constants.inc"
inline constexpr BuiltIn<SF_SUM> sum{};

/// All elements combined by `op`, built-in or op(left, right) -> element, or op(left, right, result, count), in the
/// binary tree over their indices. What an operator throws comes back, on the rank where it threw.
template <class R, class Op>
auto reduce(const R& x, const Op& op, const LocalOptions& options = {}) {
  return detail::reduce_here(x, {}, op, options);
}
/// The same over all ranks.
template <class R, class Op, class C, class = detail::if_group<C>>
auto reduce(const R& x, const Op& op, const C& comm, const Options& options = {}) {
  return detail::reduce_over(detail::GroupOf<C>::group(comm), x, {}, op, options);
}

/// The sums of groups of elements: labels[i], 0 to groups - 1, says to which one x[i] belongs; below 0 to none. `Axes`
/// has groups for arrays, with weights and masks, and for every other operation.
template <class X, class L>
auto sum_by(const X& x, const L& labels, std::uint64_t groups, const LocalOptions& options = {}) {
  return sum(steadfold::detail::array_of(x), steadfold::detail::axes_of_groups(labels, groups), options);
}
template <class X, class L, class C, class = detail::if_group<C>>
auto sum_by(const X& x, const L& labels, std::uint64_t groups, const C& comm, const Options& options = {}) {
  return sum(steadfold::detail::array_of(x), steadfold::detail::axes_of_groups(labels, groups), comm, options);
}

/// dots(x, {y0, y1, ...}) has dot(x, yj) for every j, bit for bit; dotcs(x, {y0, y1, ...}) has dotc(yj, x), which
/// conjugates yj. x is read once, and over ranks there is one reduction. All have one size; at least one y, and as many
/// of them on every rank.
inline constexpr detail::Dots<SF_DOT> dots{};
inline constexpr detail::Dots<SF_DOTC> dotcs{};

/// The group of a communicator, or of a member of a team. Collective when it is first used.
template <class C, class = detail::if_group<C>>
Group group_of(const C& comm) {
  return detail::GroupOf<C>::group(comm);
}

/// MPI's shape, in place: buffer[i] of all ranks combined by `op` in the binary tree over ranks.
template <class R, class Op, class C>
void allreduce(R&& buffer, const Op& op, const C& comm, const Options& options = {}) {
  detail::reduce_in_place(group_of(comm), buffer, op, options, SF_REDUCE);
}
/// The same, for rank `root` only: the buffers of other ranks stay as they are.
template <class R, class Op, class C>
void reduce_to(int root, R&& buffer, const Op& op, const C& comm, Options options = {}) {
  options.root = root;
  detail::reduce_in_place(group_of(comm), buffer, op, options, SF_REDUCE);
}
/// Over ranks 0 to this one; over those below this one, where the buffer of rank 0 stays as it is.
template <class R, class Op, class C>
void scan(R&& buffer, const Op& op, const C& comm, const Options& options = {}) {
  detail::reduce_in_place(group_of(comm), buffer, op, options, SF_SCAN);
}
template <class R, class Op, class C>
void exscan(R&& buffer, const Op& op, const C& comm, const Options& options = {}) {
  detail::reduce_in_place(group_of(comm), buffer, op, options, SF_EXSCAN);
}

/// MPI's shape: combines the vectors of all ranks by `op`; rank r gets blocks[r] elements, after those of the lower
/// ranks. The bits are those of allreduce. `values` has as many elements as all blocks together, `result` as many as
/// this rank's block; it may be part of `values`.
template <class R, class S, class Op, class C>
void reduce_scatter(const R& values, View<const std::uint64_t> blocks, S&& result, const Op& op, const C& comm,
                    const Options& options = {}) {
  static_assert(detail::are_alike<R, S, Op>());
  using T = detail::element_t<R>;
  detail::reduce_blocks(View<const T>(values), blocks, View<T>(result), op, group_of(comm), options);
}
/// The same in blocks of one size.
template <class R, class S, class Op, class C>
void reduce_scatter_block(const R& values, S&& result, const Op& op, const C& comm, const Options& options = {}) {
  const Group group = group_of(comm);
  const auto ranks = static_cast<std::size_t>(group.size());
  const auto blocks = detail::told(group, [&] { return std::vector<std::uint64_t>(ranks, std::size(values) / ranks); });
  reduce_scatter(values, blocks, std::forward<S>(result), op, group, options);
}

}  // namespace steadfold::cxx17

#endif
