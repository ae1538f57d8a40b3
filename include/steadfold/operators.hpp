// The operators of Steadfold for C++20, built-in and the caller's own: what they take, what they return, and how ranks
// tell them apart. Included by steadfold.hpp, which is the header to include.
#pragma once

#include "steadfold/types.hpp"

#if __cplusplus >= 202002L

namespace steadfold {

namespace detail {
/// Makes an operator callable as a function of vectors; see steadfold.hpp.
template <class Op>
struct Calls;

}  // namespace detail

/// A built-in operator: an argument of `reduce`, of plans, and a function of vectors itself.
template <sf_operation id>
struct BuiltIn : detail::Calls<BuiltIn<id>> {
  static constexpr sf_operation operation = id;
};

/// A built-in operator whose result is wider than the elements: sf::reduce(floats, sf::to<double>(sf::plus)). Every
/// element is converted first; exact sums are rounded once, to the wider type.
template <Element Result, sf_operation id>
struct BuiltInTo : detail::Calls<BuiltInTo<Result, id>> {
  static constexpr sf_operation operation = id;
  using Value = Result;
};
template <Element Result, sf_operation id>
constexpr BuiltInTo<Result, id> to(BuiltIn<id> /*op*/) {
  return {};
}

/// Something that combines two elements: op(left, right) -> element, or op(left, right, result, count) on arrays, where
/// result may be left. If it throws, every rank's call fails, and the rank where it threw rethrows. If it is noexcept,
/// the ranks need not ask each other whether it threw. If a call asks for several threads, all of them call it at once,
/// and the first exception counts. Ranks whose operators have different types get SF_MISMATCH.
template <class Op, class T>
concept UserOperator =
    std::is_invocable_r_v<T, Op&, const T&, const T&> || std::is_invocable_v<Op&, const T*, const T*, T*, std::size_t>;

namespace detail {

/// The type of value that a built-in operator makes of elements of type T.
template <class T, class Op>
struct ValueOf {
  using type = T;
};
template <class T, sf_operation id>
struct ValueOf<T, BuiltIn<id>> : OwnValue<T, row_of(id).result> {};
template <class T, Element Result, sf_operation id>
struct ValueOf<T, BuiltInTo<Result, id>> {
  using type = Result;
};
template <class T, class Op>
using value_t = typename ValueOf<T, Op>::type;

template <class Op>
concept IsBuiltIn = requires { Op::operation; };

/// The type of result that an operator makes of elements of type T.
template <class T, class Op>
struct ResultOf {
  using type = T;
};
template <class T, IsBuiltIn Op>
struct ResultOf<T, Op> {
  using type = value_t<T, Op>;
};
template <class T, IsBuiltIn Op>
  requires(row_of(Op::operation).result == ResultForm::located)
struct ResultOf<T, Op> {
  using type = Located<T>;
};
template <class T, IsBuiltIn Op>
  requires(row_of(Op::operation).result == ResultForm::statistics)
struct ResultOf<T, Op> {
  using type = Statistics;
};
template <class T, class Op>
using result_t = typename ResultOf<T, std::remove_cvref_t<Op>>::type;

/// The type of result that a built-in operator makes of a range.
template <class R, sf_operation id>
using value_of_t = result_t<element_t<R>, BuiltIn<id>>;

/// Whether a built-in operator takes elements of type T.
template <class T>
constexpr bool serves(sf_operation operation) {
  return takes(operation, type_of<T>());
}

/// Whether an operator takes elements of type T.
template <class T, class Op>
constexpr bool combines() {
  if constexpr (IsBuiltIn<Op>)
    return serves<T>(Op::operation);
  else
    return std::is_trivially_copyable_v<T> && alignof(T) <= 16 && UserOperator<Op, T>;
}
/// The same; if it does not, a compiler error says why.
template <class T, class Op>
constexpr bool is_combinable() {
  if constexpr (IsBuiltIn<Op>) {
    constexpr bool is_element = Element<T>;
    static_assert(
        is_element,
        "built-in operators take float, double, integers of 32 and 64 bits, complex and extended numbers, "
        "sf::Float16 and sf::Bfloat16: convert the elements, or sf::reduce them with an operator of your own");
    constexpr bool is_served = !is_element || serves<T>(Op::operation);
    static_assert(is_served,
                  "this operation does not take elements of this type: the table in docs/guarantees.md says which do");
  } else {
    constexpr bool is_copyable = std::is_trivially_copyable_v<T>;
    static_assert(is_copyable, "elements travel as bytes: they must be trivially copyable");
    static_assert(alignof(T) <= 16, "elements stand on 16-byte boundaries at most");
    constexpr bool is_called = UserOperator<Op, T>;
    static_assert(is_called, "an operator is called as op(left, right) or op(left, right, result, count)");
  }
  return combines<T, Op>();
}

/// What a call says of a built-in operator on elements of type T.
template <class T, IsBuiltIn Op>
constexpr void describe_built_in(sf_call& call) {
  static_assert(is_combinable<T, Op>());
  call.operation = Op::operation;
  call.type = type_of<T>();
  call.result_type = type_of<value_t<T, Op>>();
}

/// A built-in operator, which needs nothing.
template <class T, class Op>
class HeldOperator final : public OperatorHolder {
 public:
  using Operator = Op;
  using Result = result_t<T, Op>;
  explicit HeldOperator(const Op& /*op*/) {}
  void describe(sf_call& call) { describe_built_in<T, Op>(call); }
};

template <class T, class Op>
  requires(!IsBuiltIn<Op>)
class HeldOperator<T, Op> final : public CallersOperator<T, Op> {
 public:
  using Result = T;
  using CallersOperator<T, Op>::CallersOperator;
};

}  // namespace detail

}  // namespace steadfold

#endif
