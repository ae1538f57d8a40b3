// The built-in operators as functions, and the operands of their calls. Included by steadfold.hpp, which is the header
// to include.
#pragma once

#include "steadfold/array.hpp"

#if __cplusplus >= 201703L

namespace steadfold {

namespace detail {

/// The second operand of a call: the second factors of a dot product, or a mask of one byte per element.
struct SecondRows {
  Second kind = Second::none;
  const void* data = nullptr;
  std::size_t size = 0;

  bool fits(std::size_t first_size) const noexcept { return kind == Second::none || size == first_size; }
  /// Describes the error if the second operand has the wrong size; empty if there is none.
  std::string misfit(std::size_t first_size) const {
    if (kind == Second::factors) return misfit_of_factors(first_size, size);
    return "elements and mask differ in size (" + std::to_string(first_size) + " and " + std::to_string(size) +
           "), give one byte per element";
  }
};

/// The operands of one call on this rank.
template <class T>
struct Operands {
  View<const T> first;
  SecondRows second;
};

template <class Op, class R>
constexpr bool reads() {
  if constexpr (is_vector<R>)
    return combines<element_t<R>, Op>();
  else
    return false;
}

/// The type of the elements of a range that `Op` combines. If `Op` cannot combine them, only `elements_of` reports the
/// reason: all other code compiles as if the elements were doubles.
template <class Op, class R, class = void>
struct Read {
  using type = double;
};
template <class Op, class R>
struct Read<Op, R, std::enable_if_t<reads<Op, R>()>> {
  using type = element_t<R>;
};
template <class Op, class T>
struct Read<Op, Array<T>> {
  using type = T;
};
template <class Op, class R>
using read_t = typename Read<Op, bare_t<R>>::type;

/// The type of the result of an operator over a range.
template <class Op, class R>
using answer_t = result_t<read_t<Op, R>, Op>;

template <class R>
constexpr bool is_contiguous() {
  constexpr bool is_number = std::is_arithmetic_v<R> || type_of<R>() != SF_BYTES;
  static_assert(!is_number,
                "give a range of this rank's elements, not a number (for one number: sf::view(&number, 1))");
  static_assert(
      !is_array<R>,
      "the second operand of an array must be an array of the same type, or axes: give two arrays of the same type");
  static_assert(is_vector<R> || is_number || is_array<R>,
                "give contiguous elements: a std::vector (not of bool), std::array or std::span of them");
  return is_vector<R>;
}

template <class Op, class R>
constexpr bool is_readable() {
  if constexpr (is_contiguous<R>())
    return is_combinable<element_t<R>, Op>();
  else
    return false;
}

/// Returns the elements of a range, in place.
template <class Op, class R>
View<const read_t<Op, R>> elements_of(const R& x) {
  if constexpr (is_readable<Op, R>())
    return x;
  else
    return {};
}

template <class Op>
constexpr void require_one_vector() {
  static_assert(
      second_of(operation_of<Op>) == Second::none,
      "this operation takes two arguments: a dot product takes two vectors, a masked sum takes a vector and a mask");
}
template <class Op>
constexpr void require_two_vectors() {
  static_assert(second_of(operation_of<Op>) != Second::none,
                "this operation takes one vector, then a communicator or options");
}

/// Whether S can be the second operand of `Op`, beside a vector of type R.
template <class Op, class R, class S>
constexpr bool is_second() {
  require_two_vectors<Op>();
  constexpr Second second = second_of(operation_of<Op>);
  if constexpr (second == Second::none || !reads<Op, R>() || !is_contiguous<S>()) {
    return false;
  } else {
    constexpr bool is_mask = second != Second::mask || sizeof(element_t<S>) == 1;
    static_assert(is_mask, "a mask has one byte per element: std::uint8_t, char or std::byte");
    constexpr bool is_alike = second != Second::factors || std::is_same_v<element_t<S>, element_t<R>>;
    static_assert(is_alike,
                  "the two vectors of a dot product need elements of the same type: convert one of the vectors");
    return is_mask && is_alike;
  }
}

template <class Op, class R>
Operands<read_t<Op, R>> operands(const R& x) {
  require_one_vector<Op>();
  return {elements_of<Op>(x), {}};
}
template <class Op, class R, class S>
Operands<read_t<Op, R>> operands(const R& x, const S& y) {
  if constexpr (is_second<Op, R, S>())
    return {elements_of<Op>(x), {second_of(operation_of<Op>), std::data(y), std::size(y)}};
  else
    return {elements_of<Op>(x), {}};
}

template <class T>
struct ArrayOperands {
  const Array<T>& x;
  MaybeArray factors;
};
template <class Op, class T>
ArrayOperands<T> operands(const Array<T>& x) {
  require_one_vector<Op>();
  is_combinable<T, Op>();
  return {x, {}};
}
template <class Op, class T>
ArrayOperands<T> operands(const Array<T>& x, const Array<T>& y) {
  static_assert(second_of(operation_of<Op>) != Second::mask, "for an array, give the mask as Axes::where");
  require_two_vectors<Op>();
  is_combinable<T, Op>();
  return {x, y};
}

/// A call over a vector: rows of one element.
template <class T, class Op>
class CallOfRows : public Call<T, Op> {
 public:
  template <class SomeOptions>
  CallOfRows(const Operands<T>& x, const Op& op, const SomeOptions& options)
      : Call<T, Op>(op, [&](auto& held) { return detail::call_of(held, x.first.size(), options); }) {
    this->first_ = x.first.data();
    this->second_ = x.second.data;
    if (!x.second.fits(x.first.size())) this->fault_ = x.second.misfit(x.first.size());
  }
  void* results() noexcept { return &result_; }
  result_t<T, Op> take(sf_status status) {
    this->conclude(status);
    return result_;
  }

 private:
  result_t<T, Op> result_ = no_result<result_t<T, Op>>();
};

template <class Mode, class T, class Op, class SomeOptions>
auto reduce_rows(const Mode& mode, const Operands<T>& x, const Op& op, const SomeOptions& options) {
  return mode.template reduce<CallOfRows<T, std::decay_t<Op>>>(x, op, options);
}
template <class T, class Op>  // optimised by hand, because the whole call takes about 20 ns
auto reduce_rows(const Here& /*mode*/, const Operands<T>& x, const Op& op, const LocalOptions& options) {
  if (!x.second.fits(x.first.size())) throw Error(SF_INVALID_ARGUMENT, x.second.misfit(x.first.size()));
  HeldOperator<T, std::decay_t<Op>> held(op);
  const sf_call call = detail::call_of(held, x.first.size(), options);
  auto result = no_result<result_t<T, Op>>();
  detail::check(sf_reduce_local(&call, x.first.data(), x.second.data, &result), &held);
  return result;
}
template <class Mode, class T, class Op, class SomeOptions>
auto reduce_rows(const Mode& mode, const ArrayOperands<T>& x, const Op& op, const SomeOptions& options) {
  return detail::reduce_array(mode, x.x, x.factors, op, Axes(), options).front();
}

/// Whether S is a second vector, array or mask: neither a communicator, nor options, nor axes.
template <class S>
inline constexpr bool is_companion =
    !has_group<S> && !std::is_convertible_v<const S&, LocalOptions> && !std::is_same_v<S, Axes>;
template <class S>
using if_companion = std::enable_if_t<is_companion<bare_t<S>>>;

}  // namespace detail

/// A built-in operator. A built-in operator is an argument of `reduce` and of plans, and also a function over the
/// elements of this process, or of all ranks of a communicator. Throws Error. Result: void, or a type wider than the
/// elements, see `to`.
///
/// `x`: the elements of this rank, only read. This is a contiguous range, which may be empty (std::vector, std::array,
/// std::span, a C array), or an Array.
///
/// `y`: the second vector, of the same size as x: factors or weights of the type of x, or a mask of one byte per
/// element. An Array of factors is broadcast to the shape of x.
///
/// `axes`: the kept axes of an Array, with a mask, weights or labels. The results are a std::vector, with one result
/// for every index of the kept axes, in C order.
///
/// `comm`: an MPI_Comm, a Group, or a member of a Team. Every rank must make the call. Without `comm` the call reduces
/// the elements of this process alone.
///
/// `options`: method, layout, root, schedule, threads, and guarantees (see `require`). Without a layout, method `tree`
/// takes the elements in rank order. If there is a root, other ranks get a NaN (integers: 0).
template <sf_operation id, class Result>
struct BuiltIn {
  template <class R>
  detail::answer_t<BuiltIn, R> operator()(const R& x, const LocalOptions& options = {}) const {
    return detail::reduce_rows(detail::Here(), detail::operands<BuiltIn>(x), *this, options);
  }
  template <class R, class S, class = detail::if_companion<S>>
  detail::answer_t<BuiltIn, R> operator()(const R& x, const S& y, const LocalOptions& options = {}) const {
    return detail::reduce_rows(detail::Here(), detail::operands<BuiltIn>(x, y), *this, options);
  }
  template <class R, class C, class = detail::if_group<C>>
  detail::answer_t<BuiltIn, R> operator()(const R& x, const C& comm, const Options& options = {}) const {
    return detail::reduce_rows(detail::Waiting(comm), detail::operands<BuiltIn>(x), *this, options);
  }
  template <class R, class S, class C, class = detail::if_companion<S>, class = detail::if_group<C>>
  detail::answer_t<BuiltIn, R> operator()(const R& x, const S& y, const C& comm, const Options& options = {}) const {
    return detail::reduce_rows(detail::Waiting(comm), detail::operands<BuiltIn>(x, y), *this, options);
  }

  /// Reduces an Array: one result for every index of the kept axes. `y`: the second factors of a dot product, broadcast
  /// to the shape of x.
  template <class T>
  detail::results_t<T, BuiltIn> operator()(const Array<T>& x, const Axes& axes,
                                           const LocalOptions& options = {}) const {
    return detail::reduce_array(detail::Here(), x, axes.weights, *this, axes, options);
  }
  template <class T>
  detail::results_t<T, BuiltIn> operator()(const Array<T>& x, const Array<T>& y, const Axes& axes,
                                           const LocalOptions& options = {}) const {
    detail::require_two_vectors<BuiltIn>();
    return detail::reduce_array(detail::Here(), x, y, *this, axes, options);
  }
  template <class T, class C, class = detail::if_group<C>>
  detail::results_t<T, BuiltIn> operator()(const Array<T>& x, const Axes& axes, const C& comm,
                                           const Options& options = {}) const {
    return detail::reduce_array(detail::Waiting(comm), x, axes.weights, *this, axes, options);
  }
  template <class T, class C, class = detail::if_group<C>>
  detail::results_t<T, BuiltIn> operator()(const Array<T>& x, const Array<T>& y, const Axes& axes, const C& comm,
                                           const Options& options = {}) const {
    detail::require_two_vectors<BuiltIn>();
    return detail::reduce_array(detail::Waiting(comm), x, y, *this, axes, options);
  }
};

/// Makes a built-in operator whose result is wider than the elements: sf::reduce(floats, sf::to<double>(sf::plus)).
/// Every element is converted first; exact sums are rounded once, to the wider type.
template <class Result, sf_operation id>
constexpr BuiltIn<id, Result> to(BuiltIn<id> /*op*/) {
  return {};
}

}  // namespace steadfold

#endif
