// The operators of Steadfold for C++17, built-in and the caller's own: what they take, what they return, and what a
// call says of them. Included by cxx17.hpp, which is the header to include.
#pragma once

#include "steadfold/common_array.hpp"
#include "steadfold/common_bundle.hpp"
#include "steadfold/common_team.hpp"

#if __cplusplus >= 201703L

#include <iterator>

namespace steadfold::cxx17 {

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
using namespace steadfold::guarantees;

/// `size` elements at `data`, which stay the caller's. Made of whatever has data() and size(), or of a C array.
template <class T>
class View {
  template <class R>
  using element_of = std::remove_pointer_t<decltype(std::data(std::declval<R&>()))>;

 public:
  constexpr View() noexcept = default;
  constexpr View(T* data, std::size_t size) noexcept : data_(data), size_(size) {}
  template <class R, class = std::enable_if_t<!std::is_same_v<std::decay_t<R>, View> &&
                                              std::is_convertible_v<element_of<R> (*)[], T (*)[]>>>
  constexpr View(R&& range) noexcept  // NOLINT(google-explicit-constructor)
      : data_(std::data(range)), size_(std::size(range)) {}

  constexpr T* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr T* begin() const noexcept { return data_; }
  constexpr T* end() const noexcept { return data_ + size_; }
  constexpr T& operator[](std::size_t i) const noexcept { return data_[i]; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};
template <class T>
constexpr View<T> view(T* data, std::size_t size) noexcept {
  return {data, size};
}

template <sf_operation id, class Result>
struct BuiltIn;

namespace detail {

using steadfold::detail::check;
using steadfold::detail::GroupOf;
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

template <class R, class = void>
inline constexpr bool is_vector = false;
template <class R>
inline constexpr bool is_vector<
    R, std::void_t<decltype(std::data(std::declval<const R&>())), decltype(std::size(std::declval<const R&>()))>> =
    true;
template <class C, class = void>
inline constexpr bool has_group = false;
template <class C>
inline constexpr bool has_group<C, std::void_t<decltype(GroupOf<C>::group(std::declval<const C&>()))>> = true;

template <class R>
using if_vector = std::enable_if_t<is_vector<R>>;
template <class C>
using if_group = std::enable_if_t<has_group<C>>;

template <class R>
using element_t = std::remove_cv_t<std::remove_pointer_t<decltype(std::data(std::declval<const R&>()))>>;

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

  explicit Held(BuiltIn<id, To> /*op*/) {}
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

/// Writes a call's options into it, whichever of them these are. It points into them.
template <class SomeOptions>
void describe(const SomeOptions& options, sf_call& call) {
  options.method.describe(call);
  call.require = options.require.bits;
  call.threads = options.threads;
  if constexpr (!std::is_same_v<SomeOptions, LocalOptions>) options.layout.describe(call);
  if constexpr (std::is_same_v<SomeOptions, Options>) {
    call.root = root_of(options.root);
    call.schedule = options.schedule.empty() ? nullptr : options.schedule.c_str();
  }
}

/// A call in the form of the C interface; it points into `held` and `options`.
template <class AnyHeld, class SomeOptions>
sf_call call_of(AnyHeld& held, std::uint64_t rows, const SomeOptions& options) {
  sf_call call = sf_call_default();
  held.describe(call);
  describe(options, call);
  call.rows = rows;
  return call;
}

/// MPI's shape: every rank brings one row of `columns` elements.
template <class AnyHeld, class SomeOptions>
sf_call call_of_vectors(AnyHeld& held, std::uint64_t columns, const SomeOptions& options,
                        sf_collective collective = SF_REDUCE) {
  sf_call call = call_of(held, 1, options);
  call.layout = SF_ROW_PER_RANK;
  call.columns = columns;
  call.collective = collective;
  return call;
}

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
