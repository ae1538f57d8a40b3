// Steadfold for C++17: sums, products, user operators and plans, in one process and over groups of ranks. The names are
// those of the API for C++20 in a namespace of their own. cxx17_mpi.hpp adds MPI's communicators.
//
//   double s = sf17::sum(x);                                 // x: what has data() and size(), or a C array
//   double t = sf17::sum(sf17::view(pointer, n), comm);      // comm: a sf17::Group, or a member of a sf17::Team
//   double d = sf17::dot(x, y, comm, sf17::binned());
//   Matrix m = sf17::reduce(matrices, multiply, comm);       // any operator, in the fixed binary tree over indices
//   sf17::allreduce(buffer, sf17::plus, comm);               // MPI's shape, in place
//   sf17::Plan<double> plan(sf17::plus, x.size(), comm);     // agreed on once, run often
//   sf17::Options options;                                   // by name: options.threads = 8
//
// Header-only over the C functions of steadfold_group.h. Bits and errors (sf17::Error is sf::Error) are those of the
// API for C++20, whose headers say more; a source may include both. What is missing here is there only: arrays,
// bundles, started calls, accumulators.
#pragma once

#include "steadfold/common_group.hpp"
#include "steadfold/common_team.hpp"

#if __cplusplus >= 201703L

#include <iterator>

namespace steadfold::cxx17 {

using steadfold::Bfloat16;
using steadfold::binned;
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
using steadfold::Method;
using steadfold::named;
using steadfold::Options;
using steadfold::plain;
using steadfold::Statistics;
using steadfold::Team;
using steadfold::tree;
using namespace steadfold::guarantees;

/// `size` elements at `data`, which stay the caller's.
template <class T>
class View {
 public:
  constexpr View(T* data, std::size_t size) noexcept : data_(data), size_(size) {}
  constexpr T* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }

 private:
  T* data_;
  std::size_t size_;
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
using steadfold::detail::no_result;
using steadfold::detail::OperatorHolder;
using steadfold::detail::Run;
using steadfold::detail::Second;
using steadfold::detail::second_of;
using steadfold::detail::SecondRows;
using steadfold::detail::Shape;
using steadfold::detail::SizedPlan;
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
struct ValueOf<T, id, void> {
  using type =
      std::conditional_t<id == SF_STATISTICS, double, std::conditional_t<steadfold::detail::is_narrow<T>, float, T>>;
};
template <class T, sf_operation id>
struct ValueOf<std::complex<T>, id, void> {
  using type = std::conditional_t<id == SF_NORM2 || id == SF_SUM_SQUARES, T, std::complex<T>>;
};

/// What belongs to a call's operator: the caller's own, which must stay where it is while a call or a plan uses it.
template <class T, class Op>
class Held final : public OperatorHolder {
  static_assert(std::is_trivially_copyable_v<T>, "elements travel as bytes: they must be trivially copyable");
  static_assert(alignof(T) <= 16, "elements stand on 16-byte boundaries at most");
  static constexpr bool on_arrays = std::is_invocable_v<Op&, const T*, const T*, T*, std::size_t>;
  static constexpr bool on_elements = std::is_invocable_r_v<T, Op&, const T&, const T&>;
  static_assert(on_arrays || on_elements, "an operator is called as op(left, right) or op(left, right, result, count)");
  static constexpr bool never_fails = on_arrays ? std::is_nothrow_invocable_v<Op&, const T*, const T*, T*, std::size_t>
                                                : std::is_nothrow_invocable_v<Op&, const T&, const T&>;

 public:
  using Result = T;

  explicit Held(const Op& op) : op_(op) {}
  void describe(sf_call& call) {
    call.operation = SF_USER;
    call.type = call.result_type = SF_BYTES;
    call.element_bytes = sizeof(T);
    call.user = &apply;
    call.context = this;
    call.never_fails = never_fails ? 1 : 0;
    call.operator_name = name_of(op_);
  }

 private:
  template <class Any>
  static const char* name_of(const Any& /*op*/) {
    return steadfold::detail::type_name<T, Op>();
  }
  template <class Any>
  static const char* name_of(const steadfold::Named<Any>& op) {
    return op.operator_name.c_str();
  }
  static int apply(const void* left, const void* right, void* result, std::size_t count, void* context) noexcept {
    auto& self = *static_cast<Held*>(context);
    try {
      const auto* a = static_cast<const T*>(left);
      const auto* b = static_cast<const T*>(right);
      auto* r = static_cast<T*>(result);
      if constexpr (on_arrays) {
        self.op_(a, b, r, count);
      } else {
        for (std::size_t i = 0; i < count; ++i) r[i] = self.op_(a[i], b[i]);
      }
      return 0;
    } catch (...) {
      self.note(std::current_exception());
      return 1;
    }
  }

  Op op_;
};
template <class T, sf_operation id, class To>
class Held<T, BuiltIn<id, To>> final : public OperatorHolder {
  static_assert(type_of<T>() != SF_BYTES,
                "built-in operators take float, double, integers of 32 and 64 bits, complex numbers, sf17::Float16 and "
                "sf17::Bfloat16: convert the elements, or sf17::reduce them with an operator of your own");
  using Value = typename ValueOf<T, id, To>::type;
  static constexpr bool is_location = id == SF_MIN_LOCATION || id == SF_MAX_LOCATION;

 public:
  using Result =
      std::conditional_t<id == SF_STATISTICS, Statistics, std::conditional_t<is_location, Located<T>, Value>>;

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

/// A call in the form of the C interface; it points into `held` and `options`.
template <class AnyHeld, class SomeOptions>
sf_call call_of(AnyHeld& held, std::uint64_t rows, const SomeOptions& options) {
  sf_call call = sf_call_default();
  held.describe(call);
  options.method.describe(call);
  call.require = options.require.bits;
  call.threads = options.threads;
  call.rows = rows;
  if constexpr (std::is_same_v<SomeOptions, Options>) {
    options.layout.describe(call);
    call.root = options.root.value_or(SF_ALL_RANKS);
    call.schedule = options.schedule.empty() ? nullptr : options.schedule.c_str();
  }
  return call;
}

/// MPI's shape: every rank brings one row of `columns` elements.
inline void make_vectors(sf_call& call, std::uint64_t columns, sf_collective collective) {
  call.rows = 1;
  call.layout = SF_ROW_A_RANK;
  call.columns = columns;
  call.collective = collective;
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
  sf_call call = call_of(held, 1, options);
  make_vectors(call, std::size(buffer), collective);
  check(sf_group_reduce(&call, std::data(buffer), nullptr, std::data(buffer), group.handle()), &held);
}

/// A plan of one reduction, with its operator.
template <class T, class Result>
class SinglePlan : public SizedPlan {
 protected:
  template <class Op, class Adjust>
  SinglePlan(Group group, const Op& op, std::uint64_t rows, const Options& options, const Adjust& adjust) {
    const auto held = std::make_shared<Held<T, std::decay_t<Op>>>(op);
    static_assert(std::is_same_v<typename Held<T, std::decay_t<Op>>::Result, Result>,
                  "the operator's results have another type than the plan's: name it, as in sf17::Plan<float, double>");
    this->own(held);
    sf_call call = call_of(*held, rows, options);
    adjust(call);
    sf_plan* plan = nullptr;
    this->check(sf_group_bind(&call, 1, group.handle(), &plan));
    this->own(plan);
    this->expect(Shape::of(call, group.rank()));
  }
};

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

// What they are: steadfold.hpp.
inline constexpr BuiltIn<SF_SUM> sum{}, plus{};
inline constexpr BuiltIn<SF_PRODUCT> times{};
inline constexpr BuiltIn<SF_MIN> min{}, minimum{};
inline constexpr BuiltIn<SF_MAX> max{}, maximum{};
inline constexpr BuiltIn<SF_MIN_LOCATION> min_location{};
inline constexpr BuiltIn<SF_MAX_LOCATION> max_location{};
inline constexpr BuiltIn<SF_DOT> dot{}, weighted_sum{};
inline constexpr BuiltIn<SF_DOTC> dotc{};
inline constexpr BuiltIn<SF_ABS_SUM> abs_sum{}, norm1{};
inline constexpr BuiltIn<SF_SUM_SQUARES> sum_squares{};
inline constexpr BuiltIn<SF_MASKED_SUM> masked_sum{};
inline constexpr BuiltIn<SF_NORM2> norm2{};
inline constexpr BuiltIn<SF_NORMINF> norminf{};
inline constexpr BuiltIn<SF_MEAN> mean{};
inline constexpr BuiltIn<SF_WEIGHTED_MEAN> weighted_mean{};
inline constexpr BuiltIn<SF_STATISTICS> statistics{};

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
/// The same, for `root` only: the buffers of other ranks stay as they are.
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

/// A reduction of vectors in MPI's shape, agreed on once and run often; bound by Plan<T>::of_vectors and its like. A
/// run sends nothing but the reduction itself and allocates nothing. Move-only; one thread at a time; collective. Wrong
/// sizes are an Error, also on every rank that would wait for this one.
template <class T, class Result = T>
class VectorPlan : public detail::SinglePlan<T, Result> {
 public:
  /// `values` and `result` have the size of the vectors, and may be the same; a rank that gets nothing may leave
  /// `result` empty.
  void run(View<const T> values, View<Result> result) { this->run_on(run_of(values, result)); }
  /// In two phases, with `test`, `wait` and `wait_for`; the plan uses the memory until the run has ended.
  void start(View<const T> values, View<Result> result) { this->start_on(run_of(values, result)); }
  /// The same of what has data() and size().
  template <class V, class W>
  void run(const V& values, W&& result) {
    run(View<const T>(std::data(values), std::size(values)), View<Result>(std::data(result), std::size(result)));
  }
  template <class V, class W>
  void start(const V& values, W&& result) {
    start(View<const T>(std::data(values), std::size(values)), View<Result>(std::data(result), std::size(result)));
  }
  /// In place.
  template <class V>
  void run(V&& buffer) {
    run(buffer, buffer);
  }
  template <class V>
  void start(V&& buffer) {
    start(buffer, buffer);
  }

 private:
  template <class, class>
  friend class Plan;
  template <class Op>
  VectorPlan(Group group, const Op& op, std::uint64_t count, const Options& options, sf_collective collective)
      : detail::SinglePlan<T, Result>(group, op, 1, options,
                                      [&](sf_call& call) { detail::make_vectors(call, count, collective); }) {}
  static detail::Run run_of(View<const T> values, View<Result> result) {
    return {values.data(), values.size(), {}, result.data(), result.size()};
  }
};

/// A reduction of distributed elements to one result, agreed on once and run often: as VectorPlan. T: the elements;
/// Result: T, except for locations (Located<T>) and results of another type.
template <class T, class Result = T>
class Plan : public detail::SinglePlan<T, Result> {
 public:
  /// `rows` elements on this rank, combined by `op`: sf17::plus, sf17::dot, ..., or one of your own.
  template <class Op, class C>
  Plan(const Op& op, std::uint64_t rows, const C& comm, const Options& options = {})
      : detail::SinglePlan<T, Result>(group_of(comm), op, rows, options, [](sf_call& /*call*/) {}) {}

  /// The result, if this rank gets one (else a NaN; integers: 0). `y`: what `dot` multiplies with, or a mask.
  template <class R>
  Result run(const R& x) {
    return run_with(x, {});
  }
  template <class R, class S>
  Result run(const R& x, const S& y) {
    return run_with(x, detail::second_rows<T>(y));
  }

  /// In two phases, with `test`, `wait` and `wait_for`; elements and result stay where they are until the run has
  /// ended.
  template <class R>
  void start(const R& x, Result& result) {
    this->start_on(run_of(x, {}, result));
  }
  template <class R, class S>
  void start(const R& x, const S& y, Result& result) {
    this->start_on(run_of(x, detail::second_rows<T>(y), result));
  }

  /// MPI's shape: every rank brings one vector of `count` elements.
  template <class Op, class C>
  static VectorPlan<T, Result> of_vectors(const Op& op, std::uint64_t count, const C& comm,
                                          const Options& options = {}) {
    return {group_of(comm), op, count, options, SF_REDUCE};
  }
  template <class Op, class C>
  static VectorPlan<T, Result> of_scan(const Op& op, std::uint64_t count, const C& comm, const Options& options = {}) {
    return {group_of(comm), op, count, options, SF_SCAN};
  }
  template <class Op, class C>
  static VectorPlan<T, Result> of_exscan(const Op& op, std::uint64_t count, const C& comm,
                                         const Options& options = {}) {
    return {group_of(comm), op, count, options, SF_EXSCAN};
  }

 private:
  template <class R>
  static detail::Run run_of(const R& x, const detail::SecondRows& second, Result& result) {
    static_assert(std::is_same_v<detail::element_t<R>, T>, "the plan was bound for elements of another type");
    return {std::data(x), std::size(x), second, &result, 1};
  }
  template <class R>
  Result run_with(const R& x, const detail::SecondRows& second) {
    auto result = detail::no_result<Result>();
    this->run_on(run_of(x, second, result));
    return result;
  }
};

}  // namespace steadfold::cxx17

/// The short name with which calls are written.
namespace sf17 = steadfold::cxx17;

#endif
