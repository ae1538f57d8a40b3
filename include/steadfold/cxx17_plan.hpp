// Plans of Steadfold for C++17: reductions agreed on once and run often. Included by cxx17.hpp, which is the header to
// include.
#pragma once

#include "steadfold/cxx17_calls.hpp"

#if __cplusplus >= 201703L

namespace steadfold::cxx17 {

namespace detail {

template <class R>
inline constexpr bool is_view = false;
template <class T>
inline constexpr bool is_view<View<T>> = true;

/// Ranges outlive the statement that they are given to.
template <class... R>
constexpr void must_last() {
  static_assert(((std::is_lvalue_reference_v<R> || is_view<std::decay_t<R>>)&&...),
                "the elements are read later: give a range with a name, not a temporary");
}

/// A plan of one reduction, with its operator.
class SinglePlan : public SizedPlan {
 protected:
  friend struct steadfold::detail::PlanAccess;
  template <class T, class Result, class Op, class MakeCall>
  void bind(const Op& op, Group group, MakeCall make_call) {
    bind_by<T, Result>(op, group, make_call, [&](const sf_call& call) {
      sf_plan* plan = nullptr;
      check(sf_group_bind(&call, 1, group.handle(), &plan));
      own(plan);
    });
  }
  template <class T, class Result, class Op, class MakeCall, class BindCall>
  void bind_by(const Op& op, Group group, MakeCall make_call, BindCall bind_call) {
    static_assert(std::is_same_v<typename Held<T, std::decay_t<Op>>::Result, Result>,
                  "the operator's results have another type than the plan's: name it, as in sf17::Plan<float, double>");
    const sf_call call = told(group, [&] {
      const auto held = std::make_shared<Held<T, std::decay_t<Op>>>(op);
      own(held);
      return make_call(*held);
    });
    bind_call(call);
    expect(Shape::of(call, group.rank()));
  }
};

}  // namespace detail

/// A reduction of vectors in MPI's shape, agreed on once and run often; bound by Plan<T>::of_vectors and its like. A
/// run sends nothing but the reduction itself and allocates nothing. Move-only; one thread at a time; collective. Wrong
/// sizes are an Error, also on every rank that would wait for this one.
template <class T, class Result = T>
class VectorPlan : public detail::SinglePlan {
 public:
  /// `values` has the size of the vectors, `result` that of this rank's part of the result; on a rank that gets nothing
  /// it may be empty. `result` may be `values`; in a reduce_scatter it may be part of them.
  void run(View<const T> values, View<Result> result) { this->run_on(run_of(values, result)); }
  /// In two phases, with `test`, `wait` and `wait_for`; the plan uses the memory until the run has ended.
  void start(View<const T> values, View<Result> result) { this->start_on(run_of(values, result)); }
  /// The same of what has data() and size().
  template <class V, class W>
  void run(const V& values, W&& result) {
    run(View<const T>(std::data(values), std::size(values)), View<Result>(std::data(result), std::size(result)));
  }
  template <class V, class W>
  void start(V&& values, W&& result) {
    detail::must_last<V, W>();
    start(View<const T>(std::data(values), std::size(values)), View<Result>(std::data(result), std::size(result)));
  }
  /// In place.
  template <class V>
  void run(V&& buffer) {
    run(buffer, buffer);
  }
  template <class V>
  void start(V&& buffer) {
    detail::must_last<V>();
    start(buffer, buffer);
  }

 private:
  template <class, class>
  friend class Plan;
  friend struct steadfold::detail::PlanAccess;
  VectorPlan() = default;
  static detail::Run run_of(View<const T> values, View<Result> result) {
    return {values.data(), values.size(), {}, result.data(), result.size()};
  }
};

/// A reduction of distributed elements to one result, agreed on once and run often: as VectorPlan. T: the elements;
/// Result: T, except for locations (Located<T>) and results of another type.
template <class T, class Result = T>
class Plan : public detail::SinglePlan {
 public:
  /// `rows` elements on this rank, combined by `op`: sf17::plus, sf17::dot, ..., or one of your own.
  template <class Op, class C>
  Plan(const Op& op, std::uint64_t rows, const C& comm, const Options& options = {}) {
    this->template bind<T, Result>(op, group_of(comm),
                                   [&](auto& held) { return detail::call_of(held, rows, options); });
  }

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
  void start(R&& x, Result& result) {
    detail::must_last<R>();
    this->start_on(run_of(x, {}, result));
  }
  template <class R, class S>
  void start(R&& x, S&& y, Result& result) {
    detail::must_last<R, S>();
    this->start_on(run_of(x, detail::second_rows<T>(y), result));
  }

  /// MPI's shape: every rank brings one vector of `count` elements.
  template <class Op, class C>
  static VectorPlan<T, Result> of_vectors(const Op& op, std::uint64_t count, const C& comm,
                                          const Options& options = {}) {
    return of_count(SF_REDUCE, op, count, comm, options);
  }
  /// The same for scan, exscan and reduce_scatter.
  template <class Op, class C>
  static VectorPlan<T, Result> of_scan(const Op& op, std::uint64_t count, const C& comm, const Options& options = {}) {
    return of_count(SF_SCAN, op, count, comm, options);
  }
  template <class Op, class C>
  static VectorPlan<T, Result> of_exscan(const Op& op, std::uint64_t count, const C& comm,
                                         const Options& options = {}) {
    return of_count(SF_EXSCAN, op, count, comm, options);
  }
  template <class Op, class C>
  static VectorPlan<T, Result> of_reduce_scatter(const Op& op, View<const std::uint64_t> blocks, const C& comm,
                                                 const Options& options = {}) {
    VectorPlan<T, Result> plan;
    plan.template bind<T, Result>(op, group_of(comm),
                                  [&](auto& held) { return detail::call_of_blocks(held, blocks, options); });
    return plan;
  }

 private:
  friend struct steadfold::detail::PlanAccess;
  Plan() = default;

  template <class Op, class C>
  static VectorPlan<T, Result> of_count(sf_collective collective, const Op& op, std::uint64_t count, const C& comm,
                                        const Options& options) {
    VectorPlan<T, Result> plan;
    plan.template bind<T, Result>(
        op, group_of(comm), [&](auto& held) { return detail::call_of_vectors(held, count, options, collective); });
    return plan;
  }
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

/// A reduction of an array, see Axes, agreed on once and run often: a run sends nothing but the reduction itself and
/// allocates nothing. The elements, mask, weights and labels are read where they stood when the plan was bound; the
/// arrays themselves may go. Move-only; one thread at a time; unusable after MPI_Finalize. Collective.
///
///   sf17::ArrayPlan heat(sf17::plus, temperature, axes, comm);
///   sf17::View<const double> per_level = heat.run();
template <class T, class Result = T>
class ArrayPlan : public detail::SinglePlan {
 public:
  template <class Op, class C>
  ArrayPlan(const Op& op, const Array<T>& x, const Axes& axes, const C& comm, const Options& options = {})
      : ArrayPlan(op, x, axes.weights, axes, group_of(comm), options, nullptr) {}
  /// `y`: the factors of a dot product, stretched to the shape of x.
  template <class Op, class C>
  ArrayPlan(const Op& op, const Array<T>& x, const Array<T>& y, const Axes& axes, const C& comm,
            const Options& options = {})
      : ArrayPlan(op, x, y, axes, group_of(comm), options, nullptr) {}

  /// The results, which stand in the plan and change with the next run: in C order of the indices that are kept, those
  /// of group 0 first. On ranks that get none NaNs (integers: 0).
  View<const Result> run() {
    check(sf_plan_run(get(), nullptr, nullptr, room_));
    return results();
  }
  /// In two phases, with `test`, `wait` and `wait_for`; `results` are there afterwards.
  void start() { check(sf_plan_start(get(), nullptr, nullptr, room_)); }
  View<const Result> results() const noexcept { return *results_; }

 private:
  template <class Op>
  ArrayPlan(const Op& op, const Array<T>& x, const MaybeArray& factors, const Axes& axes, Group group,
            const Options& options, std::nullptr_t /*private*/) {
    static_assert(std::is_same_v<typename detail::ArrayCall<T, Op>::Result, Result>,
                  "the operator's results have another type than the plan's: leave the types out, as in "
                  "sf17::ArrayPlan plan(sf17::min_location, array, axes, comm)");
    const auto made = detail::told(group, [&] {
      const auto call = std::make_shared<detail::ArrayCall<T, Op>>(x, factors, op, axes, options);
      own(std::shared_ptr<detail::OperatorHolder>(call, &call->holder()));
      return call;
    });
    sf_plan* plan = nullptr;
    const sf_status status = sf_group_bind(made->call(), 1, group.handle(), &plan);
    if (!made->fault().empty()) throw Error(SF_INVALID_ARGUMENT, made->fault());
    check(status);
    own(plan);
    room_ = made->results();
    results_ = &made->values();
  }

  void* room_ = nullptr;  // the same as `results_`, within what the operator's holder keeps
  const std::vector<Result>* results_ = nullptr;
};

template <class Op, class T, class C>
ArrayPlan(const Op&, const Array<T>&, const Axes&, const C&, const Options& = {})
    -> ArrayPlan<T, typename detail::ArrayCall<T, Op>::Result>;
template <class Op, class T, class C>
ArrayPlan(const Op&, const Array<T>&, const Array<T>&, const Axes&, const C&, const Options& = {})
    -> ArrayPlan<T, typename detail::ArrayCall<T, Op>::Result>;

}  // namespace steadfold::cxx17

#endif
