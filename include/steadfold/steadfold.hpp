// Steadfold for C++20: reductions that give the same bits every time, within one process. `mpi.hpp` adds MPI's
// communicators, `group.hpp` any group of ranks.
//
//   double s = sf::sum(x);                    // the correctly rounded sum, whatever the order of x
//   double t = sf::sum(x, sf::tree());        // the sum in the fixed binary tree over the indices of x
//   Matrix m = sf::reduce(matrices, multiply) // any operator, in the fixed tree
//   double u = sf::sum(x, {.threads = 8});    // the bits of s, by eight threads
//
// Header-only over the C functions of steadfold.h; no floating-point arithmetic happens here. Errors are thrown as
// sf::Error. Arguments are only read. Functions may be called by any number of threads at once.
#pragma once

#include "steadfold/array.hpp"
#include "steadfold/dots.hpp"
#include "steadfold/operators.hpp"

#if __cplusplus >= 202002L

#include <span>

namespace steadfold {

namespace detail {

/// What one call reads on this rank.
template <class T>
struct Operands {
  std::span<const T> first;
  const void* second = nullptr;
  std::size_t second_size = 0;
};

template <class Op, class R>
constexpr bool reads() {
  if constexpr (Vector<R>)
    return combines<element_t<R>, Op>();
  else
    return false;
}

/// The elements of a range that `Op` combines. If it cannot, only `elements_of` reports why: everything else compiles
/// as if they were doubles.
template <class Op, class R>
struct Read {
  using type = double;
};
template <class Op, class R>
  requires(reads<Op, R>())
struct Read<Op, R> {
  using type = element_t<R>;
};
template <class Op, class R>
using read_t = typename Read<Op, std::remove_cvref_t<R>>::type;

/// The result of an operator over a range.
template <class Op, class R>
using answer_t = result_t<read_t<Op, R>, Op>;

template <class R>
constexpr bool is_contiguous() {
  constexpr bool is_number = std::is_arithmetic_v<R> || Element<R>;
  static_assert(!is_number, "give this rank's elements: a number is none (for one: std::span(&number, 1))");
  constexpr bool is_vector = Vector<R> || is_number;
  static_assert(is_vector, "give contiguous elements: a std::vector (not of bool), std::array or std::span of them");
  return Vector<R>;
}

template <class Op, class R>
constexpr bool is_readable() {
  if constexpr (is_contiguous<R>())
    return is_combinable<element_t<R>, Op>();
  else
    return false;
}

/// The elements as they are in memory.
template <class Op, class R>
std::span<const read_t<Op, R>> elements_of(const R& x) {
  if constexpr (is_readable<Op, R>())
    return {std::ranges::data(x), std::ranges::size(x)};
  else
    return {};
}

template <class Op, class R>
Operands<read_t<Op, R>> operands(const R& x) {
  if constexpr (IsBuiltIn<Op>)
    static_assert(second_of(Op::operation) == Second::none, "a dot product takes two vectors, a masked sum a mask");
  return {.first = elements_of<Op>(x)};
}

template <class Op, class R, class S>
Operands<read_t<Op, R>> operands(const R& x, const S& y) {
  constexpr Second second = second_of(Op::operation);
  static_assert(second != Second::none, "this operation takes one vector, then a communicator or options");
  const auto first = elements_of<Op>(x);
  if constexpr (second == Second::none || !reads<Op, R>() || !is_contiguous<S>()) {
    return {.first = first};
  } else {
    constexpr bool is_mask = second != Second::mask || Mask<S>;
    static_assert(is_mask, "a mask has one byte per element: std::uint8_t, char or std::byte");
    constexpr bool is_alike = second != Second::factors || std::same_as<element_t<S>, element_t<R>>;
    static_assert(is_alike, "the two vectors of a dot product have elements of one type: convert one of them");
    return {.first = first, .second = std::ranges::data(y), .second_size = std::ranges::size(y)};
  }
}

/// What is wrong with the sizes of a call's vectors; empty if nothing is.
template <class T, class Op>
std::string misfit(const Operands<T>& x, const Op& /*op*/) {
  if constexpr (IsBuiltIn<Op>)
    if (second_of(Op::operation) != Second::none && x.first.size() != x.second_size)  // looked at here, without a call
      return misfit(second_of(Op::operation), x.first.size(), x.second_size);
  return {};
}

template <class T, class Op>
result_t<T, Op> reduce_local(const Operands<T>& x, const Op& op, const LocalOptions& options) {
  if (const std::string fault = misfit(x, op); !fault.empty()) throw Error(SF_INVALID_ARGUMENT, fault);
  sf_call call = call_of_defaults();
  describe(options, call);
  call.rows = x.first.size();
  auto result = no_result<result_t<T, Op>>();
  if constexpr (IsBuiltIn<Op>) {
    describe_built_in<T, Op>(call);
    check(sf_reduce_local(&call, x.first.data(), x.second, &result));
  } else {
    HeldOperator<T, std::decay_t<Op>> held(op);
    held.describe(call);
    check(sf_reduce_local(&call, x.first.data(), x.second, &result), &held);
  }
  return result;
}

/// A second vector or mask: neither a communicator nor options, nor an array or its axes.
template <class S>
concept Companion = !Communicator<S> && !std::convertible_to<const S&, LocalOptions> &&
                    !std::convertible_to<const S&, MaybeArray> && !std::same_as<std::remove_cvref_t<S>, Axes>;

/// A built-in operator as a function: over this process's elements, or those of all ranks of a communicator; over one
/// vector, two vectors, or a vector and a mask, as the operation takes them. Throws Error.
template <class Op>
struct Calls {
  template <class R>
  answer_t<Op, R> operator()(const R& x, const LocalOptions& options = {}) const {
    return reduce_local(operands<Op>(x), self(), options);
  }
  template <class R, Companion S>
  answer_t<Op, R> operator()(const R& x, const S& y, const LocalOptions& options = {}) const {
    return reduce_local(operands<Op>(x, y), self(), options);
  }
  template <class R, Communicator C>
  answer_t<Op, R> operator()(const R& x, C comm, const options_over_t<C>& options = {}) const {
    return Over<C>::reduce(operands<Op>(x), self(), Over<C>::group(comm), options);
  }
  template <class R, Companion S, Communicator C>
  answer_t<Op, R> operator()(const R& x, const S& y, C comm, const options_over_t<C>& options = {}) const {
    return Over<C>::reduce(operands<Op>(x, y), self(), Over<C>::group(comm), options);
  }

  /// Over an array: of all its elements, or one result for every index of the axes that are kept. `y`: the factors of a
  /// dot product, stretched to the shape of x.
  template <class T>
  result_t<T, Op> operator()(const Array<T>& x, const LocalOptions& options = {}) const {
    return reduce_array(x, {}, self(), {}, options).front();
  }
  template <class T>
  result_t<T, Op> operator()(const Array<T>& x, const Array<T>& y, const LocalOptions& options = {}) const {
    return reduce_array(x, y, self(), {}, options).front();
  }
  template <class T>
  std::vector<result_t<T, Op>> operator()(const Array<T>& x, const Axes& axes, const LocalOptions& options = {}) const {
    return reduce_array(x, axes.weights, self(), axes, options);
  }
  template <class T>
  std::vector<result_t<T, Op>> operator()(const Array<T>& x, const Array<T>& y, const Axes& axes,
                                          const LocalOptions& options = {}) const {
    return reduce_array(x, y, self(), axes, options);
  }
  template <class T, Communicator C>
  result_t<T, Op> operator()(const Array<T>& x, C comm, const options_over_t<C>& options = {}) const {
    return reduce_array(x, {}, self(), {}, comm, options).front();
  }
  template <class T, Communicator C>
  result_t<T, Op> operator()(const Array<T>& x, const Array<T>& y, C comm,
                             const options_over_t<C>& options = {}) const {
    return reduce_array(x, y, self(), {}, comm, options).front();
  }
  template <class T, Communicator C>
  std::vector<result_t<T, Op>> operator()(const Array<T>& x, const Axes& axes, C comm,
                                          const options_over_t<C>& options = {}) const {
    return reduce_array(x, axes.weights, self(), axes, comm, options);
  }
  template <class T, Communicator C>
  std::vector<result_t<T, Op>> operator()(const Array<T>& x, const Array<T>& y, const Axes& axes, C comm,
                                          const options_over_t<C>& options = {}) const {
    return reduce_array(x, y, self(), axes, comm, options);
  }

 private:
  const Op& self() const { return static_cast<const Op&>(*this); }
};

/// Stands for a result of the elements' own type.
struct Own;
template <class Result>
struct SumTo {
  using type = BuiltInTo<Result, SF_SUM>;
};
template <>
struct SumTo<Own> {
  using type = BuiltIn<SF_SUM>;
};
template <class Result>
using sum_to_t = typename SumTo<Result>::type;

}  // namespace detail

#include "steadfold/constants.inc"

/// The sum of all elements; without elements +0.0. A result wider than the elements: sum<double>(floats).
template <class Result = detail::Own, class R>
detail::answer_t<detail::sum_to_t<Result>, R> sum(const R& x, const LocalOptions& options = {}) {
  return detail::sum_to_t<Result>{}(x, options);
}
/// The same over all ranks. If there is a root, other ranks get a NaN (integers: 0).
template <class Result = detail::Own, class R, Communicator C>
detail::answer_t<detail::sum_to_t<Result>, R> sum(const R& x, C comm, const detail::options_over_t<C>& options = {}) {
  return detail::sum_to_t<Result>{}(x, comm, options);
}

/// The same over an array, see Axes; with weights, the sum of products.
template <class T>
detail::result_t<T, BuiltIn<SF_SUM>> sum(const Array<T>& x, const LocalOptions& options = {}) {
  return plus(x, options);
}
template <class T, Communicator C>
detail::result_t<T, BuiltIn<SF_SUM>> sum(const Array<T>& x, C comm, const detail::options_over_t<C>& options = {}) {
  return plus(x, comm, options);
}
template <class T>
std::vector<detail::result_t<T, BuiltIn<SF_SUM>>> sum(const Array<T>& x, const Axes& axes,
                                                      const LocalOptions& options = {}) {
  return plus(x, axes, options);
}
template <class T, Communicator C>
std::vector<detail::result_t<T, BuiltIn<SF_SUM>>> sum(const Array<T>& x, const Axes& axes, C comm,
                                                      const detail::options_over_t<C>& options = {}) {
  return plus(x, axes, comm, options);
}

/// The sums of groups of elements: labels[i], 0 to groups - 1, says to which one x[i] belongs; below 0 to none. `Axes`
/// has groups for arrays, with weights and masks, and for every other operation.
template <Vector X, Vector L>
std::vector<detail::value_of_t<X, SF_SUM>> sum_by(const X& x, const L& labels, std::uint64_t groups,
                                                  const LocalOptions& options = {}) {
  return sum(detail::array_of(x), detail::axes_of_groups(labels, groups), options);
}
template <Vector X, Vector L, Communicator C>
std::vector<detail::value_of_t<X, SF_SUM>> sum_by(const X& x, const L& labels, std::uint64_t groups, C comm,
                                                  const detail::options_over_t<C>& options = {}) {
  return sum(detail::array_of(x), detail::axes_of_groups(labels, groups), comm, options);
}

namespace detail {
/// `op` if it combines the elements of R, else some operator that does: `elements_of` has reported the error.
template <class R, class Op>
const auto& operator_for(const Op& op) {
  if constexpr (reads<Op, std::remove_cvref_t<R>>() || IsBuiltIn<Op>)
    return op;
  else
    return plus;
}

/// The type of the function `sum`, so that plans can take it by name.
template <class T>
using Sum = answer_t<BuiltIn<SF_SUM>, std::span<const T>>(const std::span<const T>&, const LocalOptions&);
}  // namespace detail

/// All elements combined by `op` in the binary tree over their indices. Throws Error(SF_EMPTY) if there are no elements
/// and the operator has no neutral element.
template <class R, class Op>
detail::answer_t<Op, R> reduce(const R& x, const Op& op, const LocalOptions& options = {}) {
  return detail::reduce_local(detail::operands<Op>(x), detail::operator_for<R>(op), options);
}
/// The same over all ranks. Without a layout the elements are in rank order.
template <class R, class Op, Communicator C>
detail::answer_t<Op, R> reduce(const R& x, const Op& op, C comm, const detail::options_over_t<C>& options = {}) {
  return detail::Over<C>::reduce(detail::operands<Op>(x), detail::operator_for<R>(op), detail::Over<C>::group(comm),
                                 options);
}

}  // namespace steadfold

/// The short name with which calls are written.
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
