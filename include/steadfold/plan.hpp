// Steadfold for C++20 over groups of ranks: reductions agreed on once and run often. Included by group.hpp.
//
//   sf::Plan<double> plan(sf::dot, x.size(), comm);
//   double d = plan.run(x, y);                      // sends the reduction's messages and nothing else
//   plan.start(x, y, result), compute(), plan.wait();
//
// Header-only over the C functions of steadfold_group.h.
#pragma once

#include "steadfold/group.hpp"

#if __cplusplus >= 202002L

namespace steadfold {

namespace detail {

/// Ranges outlive the statement that they are given to.
template <class... R>
constexpr void must_last() {
  static_assert(((std::is_lvalue_reference_v<R> || std::ranges::borrowed_range<R>)&&...),
                "the call uses the elements until it has ended: give a range with a name, not a temporary");
}

/// A run's second vector or mask.
template <class T>
struct Beside : SecondRows {
  Beside() = default;
  template <Vector R>
    requires std::same_as<element_t<R>, T> || Mask<R>
  Beside(const R& x)
      : SecondRows{std::same_as<element_t<R>, T> ? Second::factors : Second::mask, std::ranges::data(x),
                   std::ranges::size(x)} {}
};

template <class T, class Result>
Run run_of(std::span<const T> first, const Beside<T>& second, std::span<Result> result) {
  return {first.data(), first.size(), second, result.data(), result.size()};
}

/// A plan of one reduction.
class SinglePlan : public SizedPlan {
 protected:
  friend struct PlanAccess;
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
    constexpr bool is_combined = is_combinable<T, std::decay_t<Op>>();
    constexpr bool fits = !is_combined || std::same_as<result_t<T, Op>, Result>;
    static_assert(fits,
                  "the operator's results have another type than the plan's: name it, as in "
                  "sf::Plan<double, sf::Located<double>> or sf::Plan<float, double>");
    if constexpr (is_combined && fits) {
      const sf_call call = told(group, [&] {
        auto held = std::make_shared<HeldOperator<T, std::decay_t<Op>>>(op);
        own(held);
        return make_call(*held);
      });
      bind_call(call);
      expect(Shape::of(call, group.rank()));
    }
  }
};

}  // namespace detail

/// A reduction to several results per rank, agreed on once and run often; bound by Plan<T>::of_vectors and its like. A
/// run sends nothing but the reduction itself and allocates nothing. Move-only; one thread at a time; unusable after
/// MPI_Finalize. Collective. Wrong sizes are an Error, also on every rank that would wait for this one.
template <class T, class Result = T>
class VectorPlan : public detail::SinglePlan {
 public:
  /// `values` has the size of the vectors, `result` that of this rank's part of the result; on a rank that gets nothing
  /// it may be empty. `result` may be `values`; in a reduce_scatter it may be part of them.
  void run(std::span<const T> values, std::span<Result> result) {
    this->run_on(detail::run_of<T, Result>(values, {}, result));
  }
  /// In place.
  void run(std::span<T> buffer)
    requires std::same_as<T, Result>
  {
    run(buffer, buffer);
  }

  /// In two phases, with `test`, `wait` and `wait_for`; the plan uses the memory until the run has ended.
  template <class R>
    requires std::convertible_to<R, std::span<const T>>
  void start(R&& values, std::span<Result> result) {
    detail::must_last<R>();
    this->start_on(detail::run_of<T, Result>(values, {}, result));
  }
  void start(std::span<T> buffer)
    requires std::same_as<T, Result>
  {
    start(buffer, buffer);
  }

 private:
  template <class, class>
  friend class Plan;
  friend struct detail::PlanAccess;
  VectorPlan() = default;
};

/// A reduction of distributed elements to one result, agreed on once and run often: a run sends nothing but the
/// reduction itself and allocates nothing. Move-only; one thread at a time; unusable after MPI_Finalize. Collective. T:
/// the elements; Result: T, except for locations (Located<T>) and results of another type. Wrong sizes are an Error,
/// also on every rank that would wait for this one.
template <class T, class Result = T>
class Plan : public detail::SinglePlan {
 public:
  using Vectors = VectorPlan<T, Result>;

  /// `rows` elements on this rank, combined by `op`: sf::plus, sf::dot, sf::norm2, ..., or one of your own.
  template <class Op, Communicator C>
  Plan(const Op& op, std::uint64_t rows, const C& comm, const Options& options = {}) {
    this->template bind<T, Result>(op, group_of(comm),
                                   [&](auto& held) { return detail::call_of(held, rows, options); });
  }

  /// The same for the name of a function: Plan<double>(sf::sum, rows, comm).
  template <Communicator C>
  Plan(detail::Sum<T>& /*sum*/, std::uint64_t rows, const C& comm, const Options& options = {})
      : Plan(plus, rows, comm, options) {}

  /// The result, if this rank gets one (else a NaN; integers: 0). `second`: what sf::dot multiplies with, or the mask
  /// of sf::masked_sum.
  Result run(std::span<const T> first, const detail::Beside<T>& second = {}) {
    auto result = detail::no_result<Result>();
    this->run_on(detail::run_of<T, Result>(first, second, {&result, 1}));
    return result;
  }

  /// In two phases, with `test`, `wait` and `wait_for`; the plan uses the memory until the run has ended. `result` has
  /// one element; on a rank that gets no result it may be empty.
  template <class R>
    requires std::convertible_to<R, std::span<const T>>
  void start(R&& first, std::span<Result> result) {
    detail::must_last<R>();
    this->start_on(detail::run_of<T, Result>(first, {}, result));
  }
  template <class R, class S>
    requires std::convertible_to<R, std::span<const T>> && std::convertible_to<S, detail::Beside<T>>
  void start(R&& first, S&& second, std::span<Result> result) {
    detail::must_last<R, S>();
    this->start_on(detail::run_of<T, Result>(first, detail::Beside<T>(second), result));
  }

  /// MPI's shape: every rank brings one vector of `count` elements.
  template <class Op, Communicator C>
  static Vectors of_vectors(const Op& op, std::uint64_t count, const C& comm, const Options& options = {}) {
    return of_count(SF_REDUCE, op, count, comm, options);
  }
  /// The same for scan, exscan and reduce_scatter.
  template <class Op, Communicator C>
  static Vectors of_scan(const Op& op, std::uint64_t count, const C& comm, const Options& options = {}) {
    return of_count(SF_SCAN, op, count, comm, options);
  }
  template <class Op, Communicator C>
  static Vectors of_exscan(const Op& op, std::uint64_t count, const C& comm, const Options& options = {}) {
    return of_count(SF_EXSCAN, op, count, comm, options);
  }
  template <class Op, Communicator C>
  static Vectors of_reduce_scatter(const Op& op, std::span<const std::uint64_t> blocks, const C& comm,
                                   const Options& options = {}) {
    Vectors plan;
    plan.template bind<T, Result>(op, group_of(comm),
                                  [&](auto& held) { return detail::call_of_blocks(held, blocks, options); });
    return plan;
  }

 private:
  friend struct detail::PlanAccess;
  Plan() = default;

  template <class Op, Communicator C>
  static Vectors of_count(sf_collective collective, const Op& op, std::uint64_t count, const C& comm,
                          const Options& options) {
    Vectors plan;
    plan.template bind<T, Result>(
        op, group_of(comm), [&](auto& held) { return detail::call_of_vectors(held, count, options, collective); });
    return plan;
  }
};

/// A reduction of an array, see Axes, agreed on once and run often: a run sends nothing but the reduction itself and
/// allocates nothing. The elements, mask, weights and labels are read where they stood when the plan was bound; the
/// arrays themselves may go. Move-only; one thread at a time; unusable after MPI_Finalize. Collective.
///
///   sf::ArrayPlan heat(sf::plus, temperature, {.keep = {0}, .where = ocean, .weights = area}, comm);
///   std::span<const double> per_level = heat.run();
template <class T, class Result = T>
class ArrayPlan : public detail::SinglePlan {
 public:
  template <class Op, Communicator C>
  ArrayPlan(const Op& op, const Array<T>& x, const Axes& axes, const C& comm, const Options& options = {})
      : ArrayPlan(op, x, axes.weights, axes, group_of(comm), options, nullptr) {}
  /// `y`: the factors of a dot product, stretched to the shape of x.
  template <class Op, Communicator C>
  ArrayPlan(const Op& op, const Array<T>& x, const Array<T>& y, const Axes& axes, const C& comm,
            const Options& options = {})
      : ArrayPlan(op, x, y, axes, group_of(comm), options, nullptr) {}

  /// The results, which stand in the plan and change with the next run: in C order of the indices that are kept, those
  /// of group 0 first. On ranks that get none NaNs (integers: 0).
  std::span<const Result> run() {
    check(sf_plan_run(get(), nullptr, nullptr, room_));
    return *results_;
  }
  /// In two phases, with `test`, `wait` and `wait_for`; `results` are there afterwards.
  void start() { check(sf_plan_start(get(), nullptr, nullptr, room_)); }
  std::span<const Result> results() const noexcept { return *results_; }

 private:
  template <class Op>
  ArrayPlan(const Op& op, const Array<T>& x, const MaybeArray& factors, const Axes& axes, Group group,
            const Options& options, std::nullptr_t /*private*/) {
    static_assert(std::same_as<detail::result_t<T, Op>, Result>,
                  "the operator's results have another type than the plan's: leave the types out, as in "
                  "sf::ArrayPlan plan(sf::min_location, array, axes, comm)");
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
    -> ArrayPlan<T, detail::result_t<T, Op>>;
template <class Op, class T, class C>
ArrayPlan(const Op&, const Array<T>&, const Array<T>&, const Axes&, const C&, const Options& = {})
    -> ArrayPlan<T, detail::result_t<T, Op>>;

}  // namespace steadfold

#endif
