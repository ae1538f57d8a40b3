// Plans: reductions that are agreed on once and run often. Included by group.hpp.
//
//   sf::Plan<double> plan(sf::dot, x.size(), comm);
//   double d = plan.run(x, y);                      // sends only the messages of the reduction
//   plan.start(x, y, result), compute(), plan.wait();
#pragma once

#include "steadfold/group.hpp"

#if __cplusplus >= 201703L

namespace steadfold {

namespace detail {

struct PlanAccess;  // used by started.hpp

/// The common base of all plans.
class BoundPlan {
 public:
  /// Return a readable description of the agreed plan, a few lines of text, and the name of the schedule in use.
  std::string describe() const { return sf_plan_describe(plan_.get()); }
  std::string schedule() const { return sf_plan_schedule(plan_.get()); }
  /// Returns the cost of the last run on this rank.
  sf_figures figures() const {
    sf_figures figures{};
    detail::check(sf_plan_figures(plan_.get(), &figures));
    return figures;
  }
  void trace(bool on) { detail::check(sf_plan_trace(plan_.get(), on ? 1 : 0)); }

 protected:
  /// Throws the exception that the operator threw, or else the library's error.
  void check(sf_status status) const {
    if (status == SF_OK) return;
    for (const auto& holder : holders_) holder->rethrow();
    detail::check(status);
  }
  /// Waits at most the given time and returns whether the run has ended; `status` receives its status.
  template <class Count, class Period>
  bool done_within(std::chrono::duration<Count, Period> timeout, sf_status& status) {
    int done = 0;
    status = sf_plan_wait_for(plan_.get(), nanoseconds_of(timeout), &done);
    return done != 0;
  }
  sf_plan* get() const { return plan_.get(); }
  void own(sf_plan* plan) { plan_.reset(plan); }
  void own(std::shared_ptr<OperatorHolder> holder) { holders_.push_back(std::move(holder)); }

 private:
  friend struct PlanAccess;
  struct Free {
    void operator()(sf_plan* plan) const { sf_plan_free(plan); }
  };
  std::vector<std::shared_ptr<OperatorHolder>> holders_;  // objects of the operators, which must outlive the plan
  std::unique_ptr<sf_plan, Free> plan_;
};

/// The memory that a run reads and writes on this rank.
struct Run {
  const void* first = nullptr;
  std::size_t elements = 0;
  SecondRows second;
  void* result = nullptr;
  std::size_t results = 0;
};
template <class T, class Result>
Run run_of(View<const T> first, const SecondRows& second, View<Result> result) {
  return {first.data(), first.size(), second, result.data(), result.size()};
}

/// The sizes of the memory that a run reads and writes on this rank.
struct Shape {
  Second second = Second::none;
  std::uint64_t elements = 0;
  std::uint64_t results = 0;
  bool gets_result = true;  // whether this rank gets a result; if not, it may leave `result` out

  static Shape of(const sf_call& call, int rank) {
    Shape shape;
    shape.second = second_of(call.operation);
    shape.elements = call.rows * call.columns;
    shape.results = call.columns;
    if (call.block_count > 0) shape.results = call.blocks[rank];
    shape.gets_result = call.collective == SF_EXSCAN ? rank > 0 : call.root == SF_ALL_RANKS || call.root == rank;
    return shape;
  }

  /// Describes the error in the sizes given to a run; empty if there is none.
  std::string misfit(const Run& run) const {
    const auto bound_for = [](std::size_t given, const char* what, std::uint64_t bound) {
      return std::to_string(given) + what + " (the plan was bound for " + std::to_string(bound) +
             " on this rank), give the same number as at binding";
    };
    if (run.elements != elements) return bound_for(run.elements, " elements", elements);
    if (run.second.kind != second) return misfit(second);
    if (second == Second::factors && run.second.size != elements)
      return bound_for(run.second.size, " elements in the second vector", elements);
    if (second == Second::mask && run.second.size != elements)
      return bound_for(run.second.size, " bytes in the mask", elements);
    if (run.results != results && (gets_result || run.results != 0))
      return bound_for(run.results, " places for results", results);
    return {};
  }
  static std::string misfit(Second wanted) {
    if (wanted == Second::factors)
      return "no second vector (a dot product takes two vectors of one type), give a second vector";
    if (wanted == Second::mask) return "no mask (a masked sum takes one byte per element), give a mask";
    return "a second vector or a mask was given (the plan's operation takes one vector), leave out the second argument";
  }
};

/// Checks that ranges outlive the statement in which they are arguments.
template <class... R>
constexpr void must_last() {
  static_assert((lasts<R> && ...),
                "the call uses the elements until the call has ended: give a variable, not a temporary");
}

/// The second vector, or the mask, of a run.
template <class T>
struct Beside : SecondRows {
  Beside() = default;
  template <class R, class = std::enable_if_t<std::is_same_v<element_t<R>, T> || sizeof(element_t<R>) == 1>>
  Beside(const R& x)
      : SecondRows{std::is_same_v<element_t<R>, T> ? Second::factors : Second::mask, std::data(x), std::size(x)} {}
};

/// A plan of one reduction. Every run compares its sizes with the sizes of the plan.
class SinglePlan : public BoundPlan {
 public:
  /// Return whether the run has ended: `test` checks once, `wait` blocks until the end. Throw the errors of the run.
  bool test() { return wait_for(std::chrono::nanoseconds(0)); }
  void wait() { wait_for(std::chrono::nanoseconds::max()); }
  /// Waits at most the given time and returns whether the run has ended. If the run has not ended, it continues: call
  /// this function, `test` or `wait` again.
  template <class Count, class Period>
  bool wait_for(std::chrono::duration<Count, Period> timeout) {
    sf_status status = SF_OK;
    const bool is_done = done_within(timeout, status);
    conclude(status);
    return is_done;
  }

 protected:
  // Starts a run and waits for its end. If a size is wrong, this rank takes part without data. The library reports the
  // error to all ranks, so that no rank waits for this rank; this rank throws at the end of the run.
  void run_on(const Run& run) {
    const std::string fault = shape_.misfit(run);
    if (fault.empty()) return check(sf_plan_run(get(), run.first, run.second.data, run.result));
    sf_bundle_run(get(), nullptr, 0);
    throw Error(SF_INVALID_ARGUMENT, fault);
  }
  void start_on(const Run& run) {
    std::string fault = shape_.misfit(run);
    check(fault.empty() ? sf_plan_start(get(), run.first, run.second.data, run.result)
                        : sf_bundle_start(get(), nullptr, 0));
    // If another thread uses the plan, the call is refused, and this thread writes nothing.
    if (!fault.empty() || !fault_.empty()) fault_ = std::move(fault);
  }

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
    constexpr bool fits = !is_combined || std::is_same_v<result_t<T, std::decay_t<Op>>, Result>;
    static_assert(fits,
                  "the operator's results have a different type than the plan: name the types, as in sf::Plan<double, "
                  "sf::Located<double>> or sf::Plan<float, double>");
    if constexpr (is_combined && fits) {
      const sf_call call = told(group, [&] {
        auto held = std::make_shared<HeldOperator<T, std::decay_t<Op>>>(op);
        own(held);
        return make_call(*held);
      });
      bind_call(call);
      shape_ = Shape::of(call, group.rank());
    }
  }

 private:
  void conclude(sf_status status) {
    if (status != SF_OK && !fault_.empty()) throw Error(SF_INVALID_ARGUMENT, std::exchange(fault_, {}));
    check(status);
  }

  Shape shape_;
  std::string fault_;  // the error of the run under way; empty if there is none
};

}  // namespace detail

/// A plan of a reduction to several results per rank, bound by Plan<T>::of_vectors and similar functions. A run sends
/// only the messages of the reduction and allocates nothing. Movable, not copyable. Only one thread at a time may use
/// the object. The plan cannot be used after MPI_Finalize. Collective. Wrong sizes are an Error on this rank and on
/// every rank that would wait for it.
template <class T, class Result = T>
class VectorPlan : public detail::SinglePlan {
 public:
  /// Runs the plan. `values` has the size of the vectors, and `result` the size of this rank's part of the result; on a
  /// rank that gets no result it may be empty. `result` may be `values`; in a reduce_scatter it may be a part of
  /// `values`.
  void run(View<const T> values, View<Result> result) { this->run_on(detail::run_of<T, Result>(values, {}, result)); }
  /// Runs the plan in place: the results replace the values.
  template <class To = Result, class = std::enable_if_t<std::is_same_v<To, T>>>
  void run(View<T> buffer) {
    run(buffer, buffer);
  }

  /// Starts a run, which `test`, `wait` or `wait_for` ends. The plan uses the memory of the vectors until the run has
  /// ended.
  template <class R, class = std::enable_if_t<std::is_convertible_v<R, View<const T>>>>
  void start(R&& values, View<Result> result) {
    detail::must_last<R>();
    this->start_on(detail::run_of<T, Result>(values, {}, result));
  }
  template <class To = Result, class = std::enable_if_t<std::is_same_v<To, T>>>
  void start(View<T> buffer) {
    start(buffer, buffer);
  }

 private:
  template <class, class>
  friend class Plan;
  friend struct detail::PlanAccess;
  VectorPlan() = default;
};

/// A plan of a reduction of distributed elements to one result, with the properties of VectorPlan. T: the type of the
/// elements. Result: T, except for locations (Located<T>) and results of another type.
template <class T, class Result = T>
class Plan : public detail::SinglePlan {
 public:
  /// Makes a plan for `rows` elements on this rank, combined by `op`: sf::plus, sf::dot, sf::norm2, ..., or your own
  /// operator.
  template <class Op, class C, class = detail::if_group<C>>
  Plan(const Op& op, std::uint64_t rows, const C& comm, const Options& options = {}) {
    this->template bind<T, Result>(op, steadfold::group_of(comm),
                                   [&](auto& held) { return detail::call_of(held, rows, options); });
  }

  /// Makes a plan of the function sf::sum: Plan<double>(sf::sum, rows, comm).
  template <class C, class = detail::if_group<C>>
  Plan(detail::Sum<T>& /*sum*/, std::uint64_t rows, const C& comm, const Options& options = {})
      : Plan(plus, rows, comm, options) {}

  /// Runs the plan and returns the result, if this rank gets one (else a NaN; integers: 0). `second`: the second
  /// factors of sf::dot, or the mask of sf::masked_sum.
  Result run(View<const T> first, const detail::Beside<T>& second = {}) {
    auto result = detail::no_result<Result>();
    this->run_on(detail::run_of<T, Result>(first, second, {&result, 1}));
    return result;
  }

  /// Starts a run, which `test`, `wait` or `wait_for` ends. The plan uses the memory of the vectors until the run has
  /// ended. `result` has one element; on a rank that gets no result it may be empty.
  template <class R, class = std::enable_if_t<std::is_convertible_v<R, View<const T>>>>
  void start(R&& first, View<Result> result) {
    detail::must_last<R>();
    this->start_on(detail::run_of<T, Result>(first, {}, result));
  }
  template <class R, class S, class = std::enable_if_t<std::is_convertible_v<R, View<const T>>>,
            class = std::enable_if_t<std::is_convertible_v<S, detail::Beside<T>>>>
  void start(R&& first, S&& second, View<Result> result) {
    detail::must_last<R, S>();
    this->start_on(detail::run_of<T, Result>(first, detail::Beside<T>(second), result));
  }
  /// Starts a run whose result is written to a variable, which must exist until the run has ended.
  template <class R>
  void start(R&& first, Result& result) {
    start(std::forward<R>(first), View<Result>(&result, 1));
  }
  template <class R, class S>
  void start(R&& first, S&& second, Result& result) {
    start(std::forward<R>(first), std::forward<S>(second), View<Result>(&result, 1));
  }

  /// Makes a plan in MPI's shape: every rank has one vector of `count` elements.
  template <class Op, class C, class = detail::if_group<C>>
  static VectorPlan<T, Result> of_vectors(const Op& op, std::uint64_t count, const C& comm,
                                          const Options& options = {}) {
    return of_count(SF_REDUCE, op, count, comm, options);
  }
  /// Make plans of scan, exscan and reduce_scatter in MPI's shape. In a reduce_scatter rank r gets blocks[r] elements.
  template <class Op, class C, class = detail::if_group<C>>
  static VectorPlan<T, Result> of_scan(const Op& op, std::uint64_t count, const C& comm, const Options& options = {}) {
    return of_count(SF_SCAN, op, count, comm, options);
  }
  template <class Op, class C, class = detail::if_group<C>>
  static VectorPlan<T, Result> of_exscan(const Op& op, std::uint64_t count, const C& comm,
                                         const Options& options = {}) {
    return of_count(SF_EXSCAN, op, count, comm, options);
  }
  template <class Op, class C, class = detail::if_group<C>>
  static VectorPlan<T, Result> of_reduce_scatter(const Op& op, View<const std::uint64_t> blocks, const C& comm,
                                                 const Options& options = {}) {
    VectorPlan<T, Result> plan;
    plan.template bind<T, Result>(op, steadfold::group_of(comm),
                                  [&](auto& held) { return detail::call_of_blocks(held, blocks, options); });
    return plan;
  }

 private:
  friend struct detail::PlanAccess;
  Plan() = default;

  template <class Op, class C, class = detail::if_group<C>>
  static VectorPlan<T, Result> of_count(sf_collective collective, const Op& op, std::uint64_t count, const C& comm,
                                        const Options& options) {
    VectorPlan<T, Result> plan;
    plan.template bind<T, Result>(op, steadfold::group_of(comm), [&](auto& held) {
      return detail::call_of_vectors(held, count, options, collective);
    });
    return plan;
  }
};

/// A plan of a reduction of an array, see Axes, with the properties of VectorPlan. Elements, mask, weights and labels
/// are read at the addresses that they had when the plan was bound; the Array objects may be destroyed.
///
///   sf::ArrayPlan heat(sf::plus, temperature, {.keep = {0}, .where = ocean, .weights = area}, comm);
///   sf::View<const double> per_level = heat.run();
template <class T, class Result = T>
class ArrayPlan : public detail::SinglePlan {
 public:
  template <class Op, class C, class = detail::if_group<C>>
  ArrayPlan(const Op& op, const Array<T>& x, const Axes& axes, const C& comm, const Options& options = {})
      : ArrayPlan(op, x, axes.weights, axes, Binding{steadfold::group_of(comm), options}) {}
  /// Makes a plan of the reduction of an array. `y` has the second factors of a dot product, broadcast to the shape of
  /// x.
  template <class Op, class C, class = detail::if_group<C>>
  ArrayPlan(const Op& op, const Array<T>& x, const Array<T>& y, const Axes& axes, const C& comm,
            const Options& options = {})
      : ArrayPlan(op, x, y, axes, Binding{steadfold::group_of(comm), options}) {}

  /// Runs the plan and returns the results, in C order of the kept indices, the results of group 0 first. The plan owns
  /// them, and the next run changes them. On ranks that get no result they are NaNs (integers: 0).
  View<const Result> run() {
    check(sf_plan_run(get(), nullptr, nullptr, room_));
    return *results_;
  }
  /// Starts a run, which `test`, `wait` or `wait_for` ends; then `results` returns the results.
  void start() { check(sf_plan_start(get(), nullptr, nullptr, room_)); }
  View<const Result> results() const noexcept { return *results_; }

 private:
  struct Binding {
    Group group;
    const Options& options;
  };

  template <class Op>
  ArrayPlan(const Op& op, const Array<T>& x, const MaybeArray& factors, const Axes& axes, const Binding& binding) {
    constexpr bool fits = std::is_same_v<detail::result_t<T, Op>, Result>;
    static_assert(fits,
                  "the operator's results have a different type than the plan: leave out the types, as in "
                  "sf::ArrayPlan plan(sf::min_location, array, axes, comm)");
    const auto made = detail::told(binding.group, [&] {
      const auto call =
          std::make_shared<detail::CallOfArrays<T, std::decay_t<Op>>>(x, factors, op, axes, binding.options);
      own(std::shared_ptr<detail::OperatorHolder>(call, &call->holder()));
      if (!call->fault().empty()) throw Error(SF_INVALID_ARGUMENT, call->fault());
      return call;
    });
    sf_plan* plan = nullptr;
    check(sf_group_bind(made->call(), 1, binding.group.handle(), &plan));
    own(plan);
    room_ = made->results();
    if constexpr (fits) results_ = &made->values();
  }

  void* room_ = nullptr;  // the same memory as `results_`, within the object of the operator's holder
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
