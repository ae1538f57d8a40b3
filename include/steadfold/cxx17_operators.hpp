// The operators of Steadfold for C++17, built-in and the caller's own: what they take, what they return, and what a
// call says of them. Included by cxx17.hpp, which is the header to include.
#pragma once

#include "steadfold/common_array.hpp"
#include "steadfold/common_bundle.hpp"
#include "steadfold/common_team.hpp"

#if __cplusplus >= 201703L

#include <iterator>

namespace steadfold::cxx17 {

using steadfold::Array;
using steadfold::Axes;
using steadfold::Bfloat16;
using steadfold::binned;
using steadfold::Binned;
using steadfold::Error;
using steadfold::exact;
using steadfold::Float16;
using steadfold::GridAxis;
using steadfold::Group;
using steadfold::Guarantees;
using steadfold::Interval;
using steadfold::Layout;
using steadfold::LocalOptions;
using steadfold::Located;
using steadfold::MaybeArray;
using steadfold::MaybeLabels;
using steadfold::Method;
using steadfold::named;
using steadfold::Options;
using steadfold::plain;
using steadfold::Statistics;
using steadfold::Team;
using steadfold::tree;
using steadfold::Vectors;
using steadfold::View;
using steadfold::view;
using namespace steadfold::guarantees;

template <sf_operation id, class Result>
struct BuiltIn;

namespace detail {

using steadfold::detail::call_of;
using steadfold::detail::call_of_vectors;
using steadfold::detail::check;
using steadfold::detail::GroupOf;
using steadfold::detail::if_vector;
using steadfold::detail::is_vector;
using steadfold::detail::made;
using steadfold::detail::no_result;
using steadfold::detail::OperatorHolder;
using steadfold::detail::ResultForm;
using steadfold::detail::root_of;
using steadfold::detail::row_of;
using steadfold::detail::Run;
using steadfold::detail::Second;
using steadfold::detail::second_of;
using steadfold::detail::SecondRows;
using steadfold::detail::Shape;
using steadfold::detail::SizedPlan;
using steadfold::detail::told;
using steadfold::detail::type_of;

template <class C, class = void>
inline constexpr bool has_group = false;
template <class C>
inline constexpr bool has_group<C, std::void_t<decltype(GroupOf<C>::group(std::declval<const C&>()))>> = true;

template <class C>
using if_group = std::enable_if_t<has_group<C>>;

template <class R>
using element_t = steadfold::detail::data_element_t<R>;

/// The type of value that a built-in operation makes of elements of type T.
template <class T, sf_operation id, class Result>
struct ValueOf {
  using type = Result;
};
template <class T, sf_operation id>
struct ValueOf<T, id, void> : steadfold::detail::OwnValue<T, row_of(id).result> {};

/// What belongs to a call's operator: the caller's own, which must stay where it is while a call or a plan uses it.
template <class T, class Op>
class Held final : public steadfold::detail::CallersOperator<T, Op> {
 public:
  using Result = T;
  using steadfold::detail::CallersOperator<T, Op>::CallersOperator;
};
template <class T, sf_operation id, class To>
class Held<T, BuiltIn<id, To>> final : public OperatorHolder {
  static_assert(type_of<T>() != SF_BYTES,
                "built-in operators take float, double, integers of 32 and 64 bits, complex numbers, sf17::Float16 and "
                "sf17::Bfloat16: convert the elements, or sf17::reduce them with an operator of your own");
  using Value = typename ValueOf<T, id, To>::type;
  static constexpr ResultForm form = row_of(id).result;

 public:
  using Result = std::conditional_t<form == ResultForm::statistics, Statistics,
                                    std::conditional_t<form == ResultForm::located, Located<T>, Value>>;

  using Operator = BuiltIn<id, To>;
  explicit Held(Operator /*op*/) {}
  void describe(sf_call& call) {
    call.operation = id;
    call.type = type_of<T>();
    call.result_type = type_of<Value>();
  }
};
template <class R, class Op>
using held_t = Held<element_t<R>, std::decay_t<Op>>;
template <class R, class Op>
using result_t = typename held_t<R, Op>::Result;

/// The other factors of a dot product, or a mask.
template <class T, class S>
SecondRows second_rows(const S& y) {
  constexpr bool are_factors = std::is_same_v<element_t<S>, T>;
  static_assert(are_factors || sizeof(element_t<S>) == 1,
                "factors have elements of one type, a mask has one byte per element: convert one of the vectors");
  return {are_factors ? Second::factors : Second::mask, std::data(y), std::size(y)};
}
template <sf_operation id, class R, class S>
SecondRows second_rows_of(const R& /*x*/, const S& y) {
  static_assert(second_of(id) != Second::none, "this operation takes one vector, then a communicator or options");
  constexpr bool are_factors = std::is_same_v<element_t<S>, element_t<R>>;
  static_assert((second_of(id) == Second::factors) == are_factors,
                "a dot product takes two vectors of one type, a masked sum a vector and a mask");
  return second_rows<element_t<R>>(y);
}

}  // namespace detail

}  // namespace steadfold::cxx17

#endif
