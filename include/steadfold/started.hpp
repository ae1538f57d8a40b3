// Started calls over a group of ranks: calls that proceed while the program computes, and are ended later. For MPI
// communicators include mpi.hpp, too.
//
//   auto sum = sf::start(sf::plus, x, comm);   // every rank starts the same calls in the same order
//   auto peak = sf::start(sf::max, z, comm);
//   compute();                                 // now and then: sum.test(), which advances all calls under way
//   if (!peak.wait_for(1ms)) compute_more();   // a timeout is not an error
//   use(sum.get(), peak.get());                // in any order
//
// The bits are the same as with the blocking calls. A range must not change until its call has ended. steadfold_group.h
// describes which calls of the library advance started calls.
#pragma once

#include "steadfold/bundle.hpp"
#include "steadfold/steadfold_fortran.h"  // for sf_group_start_refuse

#if __cplusplus >= 201703L

namespace steadfold {

namespace detail {

/// A call under way, with everything that it uses besides the caller's ranges.
struct UnderWay {
  UnderWay() = default;
  virtual ~UnderWay() { sf_request_free(request); }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

  /// Throws if the call failed.
  virtual void conclude(sf_status status) { check(status); }

  sf_request* request = nullptr;
};

/// A call under way with a value of type T, or without a value.
template <class T>
struct UnderWayTo : UnderWay {
  virtual T take() = 0;
};

/// Keeps the memory of an abandoned call reachable, so that leak detectors do not report it.
inline void abandon(std::unique_ptr<UnderWay> call) {
  static std::mutex mutex;
  static auto* const abandoned = new std::vector<std::unique_ptr<UnderWay>>;
  const std::lock_guard lock(mutex);
  abandoned->push_back(std::move(call));
}

}  // namespace detail

/// A call under way with a value of type T, or without a value. Movable, not copyable; an object that was moved from
/// throws Error(SF_INVALID_ARGUMENT). Only one thread at a time may use the object. If the object is destroyed before
/// the call has ended, the call continues and still uses the caller's ranges.
template <class T = void>
class Pending {
 public:
  explicit Pending(std::unique_ptr<detail::UnderWayTo<T>> call) : call_(std::move(call)) {}
  Pending(Pending&&) noexcept = default;
  Pending& operator=(Pending&& other) noexcept {
    std::swap(call_, other.call_);
    std::swap(has_ended_, other.has_ended_);
    return *this;
  }
  ~Pending() {
    if (call_ != nullptr && !has_ended_) detail::abandon(std::move(call_));
  }

  /// Returns whether the call has ended; checks once. Throws Error if the call failed. Combining wide rows takes
  /// several tests, about 10 microseconds each; one test reads the rows of a segment, or copies the results, as a
  /// whole.
  bool test() { return wait_for(std::chrono::nanoseconds(0)); }
  void wait() { wait_for(std::chrono::nanoseconds::max()); }
  /// Waits at most the given time and returns whether the call has ended. If the call has not ended, it continues: call
  /// the function again.
  template <class Count, class Period>
  bool wait_for(std::chrono::duration<Count, Period> timeout) {
    if (call_ == nullptr)
      throw Error(SF_INVALID_ARGUMENT,
                  "no call (this Pending was moved from), use the Pending that now holds the call");
    int done = 0;
    const sf_status status = sf_request_wait_for(call_->request, detail::nanoseconds_of(timeout), &done);
    has_ended_ = has_ended_ || done != 0;
    call_->conclude(status);
    return has_ended_;
  }
  /// Waits for the end of the call and returns its value.
  T get() {
    wait();
    return call_->take();
  }

 private:
  std::unique_ptr<detail::UnderWayTo<T>> call_;
  bool has_ended_ = false;
};

/// A thread that advances the started calls on a communicator, and runs of plans bound over it, as long as the object
/// exists. The thread also calls user operators. Throws Error(SF_UNSUPPORTED) unless MPI was initialised with
/// MPI_THREAD_MULTIPLE. Local.
class ProgressThread {
 public:
  /// Starts the thread for the calls on `comm`.
  template <class C, class = detail::if_group<C>>
  explicit ProgressThread(const C& comm) : group_(steadfold::group_of(comm)) {
    detail::check(sf_group_progress_thread(group_.handle(), 1));
  }
  ~ProgressThread() { sf_group_progress_thread(group_.handle(), 0); }
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

 private:
  Group group_;
};

namespace detail {

struct StartedBarrier final : UnderWayTo<void> {
  void take() override {}
};
struct StartedLayout final : UnderWayTo<Layout> {
  Layout take() override { return Layout::intervals({found.mine}, found.element_count); }
  RankOrder found;
};
/// Gives started binds access to the plans that they make.
struct PlanAccess {
  template <class P, class... From>
  static P unbound(From&&... from) {
    return P(std::forward<From>(from)...);
  }
  template <class P>
  static void give(P& plan, sf_plan* bound) {
    plan.own(bound);
  }
  template <class T, class Result, class P, class... Arguments>
  static void bind_by(P& plan, Arguments&&... arguments) {
    plan.template bind_by<T, Result>(std::forward<Arguments>(arguments)...);
  }
  static std::vector<sf_call> calls_of(BundlePlan& plan, const BundleOptions& options) {
    return plan.take_calls(options);
  }
  static const BundlePlan::Members& members_of(const Bundle& bundle) { return bundle.members_; }
};

template <class P>
struct StartedPlan final : UnderWayTo<P> {
  explicit StartedPlan(P unbound) : plan(std::move(unbound)) {}
  ~StartedPlan() override { sf_plan_free(bound); }
  P take() override {
    PlanAccess::give(plan, std::exchange(bound, nullptr));
    return std::move(plan);
  }
  P plan;  // a plan without a handle until the bind has ended
  sf_plan* bound = nullptr;
};

/// Starts to bind a plan of type P, with elements T and results Result.
template <class P, class T, class Result, class Op, class MakeCall>
Pending<P> start_plan(const Op& op, Group group, MakeCall make_call) {
  auto call = told(group, [] { return std::make_unique<StartedPlan<P>>(PlanAccess::unbound<P>()); });
  PlanAccess::bind_by<T, Result>(call->plan, op, group, make_call, [&](const sf_call& described) {
    check(sf_group_start_bind(&described, 1, group.handle(), &call->bound, &call->request));
  });
  return Pending<P>(std::move(call));
}

/// A started reduction.
template <class Made>
struct StartedCall final : UnderWayTo<decltype(std::declval<Made&>().take(SF_OK))> {
  template <class... From>
  explicit StartedCall(const From&... from) : made(from...) {}
  void conclude(sf_status status) override { made.conclude(status); }
  decltype(std::declval<Made&>().take(SF_OK)) take() override { return made.take(SF_OK); }
  Made made;
};

/// Starts calls over a group, without waiting for them.
struct Starting {
  template <class C>
  explicit Starting(const C& comm) : group(GroupOf<C>::group(comm)) {}
  template <class Made, class... From>
  auto reduce(const From&... from) const {
    auto call = detail::made<StartedCall<Made>>(group, from...);
    Made& made = call->made;
    check(made.fault().empty()
              ? sf_group_start_reduce(made.call(), made.first(), made.second(), made.results(), group.handle(),
                                      &call->request)
              : sf_group_start_refuse(group.handle(), SF_INVALID_ARGUMENT, made.fault().c_str(), &call->request));
    return Pending<decltype(call->take())>(std::move(call));
  }
  Group group;
};

template <class R>
constexpr bool needs_no_axes() {
  constexpr bool is_vector = !is_array<bare_t<R>>;
  static_assert(is_vector, "to start a call on an array, give its axes: sf::start(op, array, {}, comm)");
  return is_vector;
}

}  // namespace detail

/// Starts the reduction of the elements of all ranks by `op`: sf::plus, sf::max, sf::norm2, ..., or your own operator.
/// The value is that of the blocking call.
template <class Op, class R, class C, class = detail::if_group<C>>
Pending<detail::answer_t<Op, R>> start(const Op& op, R&& x, const C& comm, const Options& options = {}) {
  detail::must_last<R>();
  if constexpr (detail::needs_no_axes<R>())
    return detail::reduce_rows(detail::Starting(comm), detail::operands<Op>(x), detail::operator_for<R>(op), options);
}
/// Starts a reduction with a second vector (sf::dot) or a mask (sf::masked_sum).
template <class Op, class R, class S, class C, class = detail::if_companion<S>, class = detail::if_group<C>>
Pending<detail::answer_t<Op, R>> start(const Op& op, R&& x, S&& y, const C& comm, const Options& options = {}) {
  detail::must_last<R, S>();
  if constexpr (detail::needs_no_axes<R>())
    return detail::reduce_rows(detail::Starting(comm), detail::operands<Op>(x, y), op, options);
}
/// Starts the sum of the elements of all ranks: start(sf::sum, x, comm).
template <class R, class C, class = detail::if_group<C>>
Pending<detail::answer_t<BuiltIn<SF_SUM>, R>> start(detail::Sum<detail::element_t<R>>& /*sum*/, R&& x, const C& comm,
                                                    const Options& options = {}) {
  return steadfold::start(plus, std::forward<R>(x), comm, options);
}

/// Starts a reduction of an array, see Axes: start(sf::plus, field, {.keep = {0}}, comm). The Array object may be
/// destroyed; its elements must stay. `y`: the second factors of a dot product.
template <class Op, class T, class C, class = detail::if_group<C>>
Pending<detail::results_t<T, Op>> start(const Op& op, const Array<T>& x, const Axes& axes, const C& comm,
                                        const Options& options = {}) {
  return detail::reduce_array(detail::Starting(comm), x, axes.weights, op, axes, options);
}
template <class Op, class T, class C, class = detail::if_group<C>>
Pending<detail::results_t<T, Op>> start(const Op& op, const Array<T>& x, const Array<T>& y, const Axes& axes,
                                        const C& comm, const Options& options = {}) {
  return detail::reduce_array(detail::Starting(comm), x, y, op, axes, options);
}

/// Start dots(x, ys, comm) and dotcs(x, ys, comm). The object `ys` may be destroyed; its elements must stay.
template <class R, class C, class = detail::if_group<C>>
auto start_dots(R&& x, const Vectors<detail::element_t<R>>& ys, const C& comm, const Options& options = {}) {
  detail::must_last<R>();
  return detail::reduce_dots<SF_DOT>(detail::Starting(comm), x, ys, options);
}
template <class R, class C, class = detail::if_group<C>>
auto start_dotcs(R&& x, const Vectors<detail::element_t<R>>& ys, const C& comm, const Options& options = {}) {
  detail::must_last<R>();
  return detail::reduce_dots<SF_DOTC>(detail::Starting(comm), x, ys, options);
}

/// Start the calls in MPI's shape, in place. The functions take the same arguments as the blocking functions without
/// `start_`.
template <class R, class Op, class C, class = detail::if_group<C>>
Pending<> start_allreduce(R&& buffer, const Op& op, const C& comm, const Options& options = {}) {
  return detail::reduce_in_place(detail::Starting(comm), std::forward<R>(buffer), op, options, SF_REDUCE);
}
template <class R, class Op, class C, class = detail::if_group<C>>
Pending<> start_reduce_to(int root, R&& buffer, const Op& op, const C& comm, Options options = {}) {
  options.root = root;
  return detail::reduce_in_place(detail::Starting(comm), std::forward<R>(buffer), op, options, SF_REDUCE);
}
template <class R, class Op, class C, class = detail::if_group<C>>
Pending<> start_scan(R&& buffer, const Op& op, const C& comm, const Options& options = {}) {
  return detail::reduce_in_place(detail::Starting(comm), std::forward<R>(buffer), op, options, SF_SCAN);
}
template <class R, class Op, class C, class = detail::if_group<C>>
Pending<> start_exscan(R&& buffer, const Op& op, const C& comm, const Options& options = {}) {
  return detail::reduce_in_place(detail::Starting(comm), std::forward<R>(buffer), op, options, SF_EXSCAN);
}
template <class R, class S, class Op, class C, class = detail::if_group<C>>
Pending<> start_reduce_scatter(R&& values, View<const std::uint64_t> blocks, S&& result, const Op& op, const C& comm,
                               const Options& options = {}) {
  detail::must_last<R>();
  return detail::reduce_blocks(detail::Starting(comm), values, blocks, std::forward<S>(result), op, options);
}

/// Barriers, blocking and started. A barrier ends on no rank before every rank has made the call.
template <class C, class = detail::if_group<C>>
void barrier(const C& comm) {
  detail::check(sf_group_barrier(steadfold::group_of(comm).handle()));
}
template <class C, class = detail::if_group<C>>
Pending<> start_barrier(const C& comm) {
  const Group group = steadfold::group_of(comm);
  auto call = detail::made<detail::StartedBarrier>(group);
  detail::check(sf_group_start_barrier(group.handle(), &call->request));
  return Pending<>(std::move(call));
}

/// Starts to make the layout Layout::contiguous.
template <class C, class = detail::if_group<C>>
Pending<Layout> start_layout(std::uint64_t rows, const C& comm) {
  const Group group = steadfold::group_of(comm);
  auto call = detail::made<detail::StartedLayout>(group);
  detail::RankOrder& found = call->found;
  detail::check(sf_group_start_rank_order(rows, group.handle(), &found.mine, &found.element_count, &call->request));
  return Pending<Layout>(std::move(call));
}

/// Starts to bind a plan: start_bind<double>(sf::plus, rows, comm) makes Plan<double>(sf::plus, rows, comm).
template <class T, class Result = T, class Op, class C, class = detail::if_group<C>>
Pending<Plan<T, Result>> start_bind(const Op& op, std::uint64_t rows, const C& comm, const Options& options = {}) {
  return detail::start_plan<Plan<T, Result>, T, Result>(
      op, steadfold::group_of(comm), [&](auto& held) { return detail::call_of(held, rows, options); });
}
/// Starts to bind a plan in MPI's shape, as Plan<T>::of_vectors does.
template <class T, class Result = T, class Op, class C, class = detail::if_group<C>>
Pending<VectorPlan<T, Result>> start_bind_of_vectors(const Op& op, std::uint64_t count, const C& comm,
                                                     const Options& options = {}) {
  return detail::start_plan<VectorPlan<T, Result>, T, Result>(
      op, steadfold::group_of(comm), [&](auto& held) { return detail::call_of_vectors(held, count, options); });
}
/// Starts to bind the plan of a bundle, as bundle.bind(comm) does.
template <class C, class = detail::if_group<C>>
Pending<BundlePlan> start_bind(const Bundle& bundle, const C& comm, const BundleOptions& options = {}) {
  using detail::PlanAccess;
  const Group group = steadfold::group_of(comm);
  std::unique_ptr<detail::StartedPlan<BundlePlan>> call;
  const std::vector<sf_call> calls = detail::told(group, [&] {
    call = std::make_unique<detail::StartedPlan<BundlePlan>>(
        PlanAccess::unbound<BundlePlan>(PlanAccess::members_of(bundle)));
    return PlanAccess::calls_of(call->plan, options);
  });
  detail::check(sf_group_start_bind(calls.data(), calls.size(), group.handle(), &call->bound, &call->request));
  return Pending<BundlePlan>(std::move(call));
}

}  // namespace steadfold

#endif
