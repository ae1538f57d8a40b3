// What the APIs for C++20 and C++17 share of calls that are started and ended later. Included by started.hpp and
// cxx17.hpp, which are the headers to include.
#pragma once

#include "steadfold/common_array.hpp"
#include "steadfold/common_bundle.hpp"

#if __cplusplus >= 201703L

namespace steadfold {

namespace detail {

/// A call under way, with all that it uses besides the caller's ranges.
struct UnderWay {
  UnderWay() = default;
  virtual ~UnderWay() { sf_request_free(request); }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

  /// What the caller's operator belongs to, if there is one.
  virtual OperatorHolder* holder() { return nullptr; }

  sf_request* request = nullptr;
  std::string fault;  // of the caller's sizes: the call fails on all ranks
};

/// The same to a value, or to none.
template <class T>
struct UnderWayTo : UnderWay {
  virtual T take() = 0;
};

/// Keeps what nobody waits for any more, where tools that look for leaks find it.
inline void abandon(std::unique_ptr<UnderWay> call) {
  static std::mutex mutex;
  static auto* const abandoned = new std::vector<std::unique_ptr<UnderWay>>;
  const std::lock_guard lock(mutex);
  abandoned->push_back(std::move(call));
}

/// A reduction to one result, and one whose results go to the caller's memory.
template <class HeldOp>
struct StartedResult final : UnderWayTo<typename HeldOp::Result> {
  using Value = typename HeldOp::Result;
  template <class Op>
  explicit StartedResult(const Op& op) : held(op) {}
  OperatorHolder* holder() override { return &held; }
  Value take() override { return result; }
  HeldOp held;
  Value result = no_result<Value>();
};
template <class HeldOp>
struct StartedVectors final : UnderWayTo<void> {
  template <class Op>
  explicit StartedVectors(const Op& op) : held(op) {}
  OperatorHolder* holder() override { return &held; }
  void take() override {}
  HeldOp held;
};
template <class T, class HeldOp>
struct StartedDots final : UnderWayTo<std::vector<typename HeldOp::Result>> {
  StartedDots(View<const T> x, const Vectors<T>& ys, const Options& options) : made(x, ys, options) {
    this->fault = made.fault();
  }
  std::vector<typename HeldOp::Result> take() override { return made.take(SF_OK); }
  CallOfDots<T, HeldOp> made;
};
template <class T, class HeldOp>
struct StartedArray final : UnderWayTo<std::vector<typename HeldOp::Result>> {
  template <class Op>
  StartedArray(const Array<T>& x, const MaybeArray& factors, const Op& op, const Axes& axes, const Options& options)
      : made(x, factors, op, axes, options) {
    this->fault = made.fault();
  }
  OperatorHolder* holder() override { return &made.holder(); }
  std::vector<typename HeldOp::Result> take() override { return made.take(SF_OK); }
  CallOfArrays<T, HeldOp> made;
};

}  // namespace detail

/// A call under way to a value of type T, or to none. Move-only, and what was moved from throws
/// Error(SF_INVALID_ARGUMENT); one thread at a time. If it is destroyed before the call has ended, the call goes on and
/// uses the caller's ranges.
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

  /// Whether the call has ended; looks once. Throws Error if it failed. Merges of wide rows take several looks, each
  /// some ten microseconds; the rows of a segment are read, and results copied, in one.
  bool test() { return wait_for(std::chrono::nanoseconds(0)); }
  void wait() { wait_for(std::chrono::nanoseconds::max()); }
  /// Waits at most this long; says whether the call has ended. If not, it goes on: ask again.
  template <class Count, class Period>
  bool wait_for(std::chrono::duration<Count, Period> timeout) {
    require_call();
    int done = 0;
    const sf_status status = sf_request_wait_for(call_->request, detail::nanoseconds_of(timeout), &done);
    has_ended_ = has_ended_ || done != 0;
    if (status != SF_OK && !call_->fault.empty()) throw Error(SF_INVALID_ARGUMENT, call_->fault);
    detail::check(status, call_->holder());
    return has_ended_;
  }
  /// Waits for the value and hands it out.
  T get() {
    wait();
    return call_->take();
  }

 private:
  void require_call() const {
    if (call_ == nullptr)
      throw Error(SF_INVALID_ARGUMENT, "no call (its Pending was moved from), ask the one that it was moved to");
  }

  std::unique_ptr<detail::UnderWayTo<T>> call_;
  bool has_ended_ = false;
};

/// While it lives, a thread moves on what is started on the communicator, and runs of plans bound over it. It calls
/// user operators, too. Throws Error(SF_UNSUPPORTED) unless MPI was initialised with MPI_THREAD_MULTIPLE. Local.
class ProgressThread {
 public:
  template <class C, class = decltype(detail::GroupOf<C>::group(std::declval<const C&>()))>
  explicit ProgressThread(const C& comm) : group_(detail::GroupOf<C>::group(comm)) {
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
/// What started binds do to the plans that they make.
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
  template <class B>
  static const BundlePlan::Members& members_of(const B& bundle) {
    return bundle.members_;
  }
};

template <class P>
struct StartedPlan final : UnderWayTo<P> {
  explicit StartedPlan(P unbound) : plan(std::move(unbound)) {}
  ~StartedPlan() override { sf_plan_free(bound); }
  P take() override {
    PlanAccess::give(plan, std::exchange(bound, nullptr));
    return std::move(plan);
  }
  P plan;  // without a handle until then
  sf_plan* bound = nullptr;
};

/// Starts to bind P, a plan of elements T to results Result.
template <class P, class T, class Result, class Op, class MakeCall>
Pending<P> start_plan(const Op& op, Group group, MakeCall make_call) {
  auto call = told(group, [] { return std::make_unique<StartedPlan<P>>(PlanAccess::unbound<P>()); });
  PlanAccess::bind_by<T, Result>(call->plan, op, group, make_call, [&](const sf_call& described) {
    check(sf_group_start_bind(&described, 1, group.handle(), &call->bound, &call->request));
  });
  return Pending<P>(std::move(call));
}
template <class B>
Pending<BundlePlan> start_plan_of(const B& bundle, Group group, const BundleOptions& options) {
  std::unique_ptr<StartedPlan<BundlePlan>> call;
  const std::vector<sf_call> calls = told(group, [&] {
    call = std::make_unique<StartedPlan<BundlePlan>>(PlanAccess::unbound<BundlePlan>(PlanAccess::members_of(bundle)));
    return PlanAccess::calls_of(call->plan, options);
  });
  check(sf_group_start_bind(calls.data(), calls.size(), group.handle(), &call->bound, &call->request));
  return Pending<BundlePlan>(std::move(call));
}

inline Pending<> start_barrier_of(Group group) {
  auto call = made<StartedBarrier>(group);
  check(sf_group_start_barrier(group.handle(), &call->request));
  return Pending<>(std::move(call));
}
inline Pending<Layout> start_layout_of(std::uint64_t rows, Group group) {
  auto call = made<StartedLayout>(group);
  check(sf_group_start_rank_order(rows, group.handle(), &call->found.mine, &call->found.element_count, &call->request));
  return Pending<Layout>(std::move(call));
}

}  // namespace detail

}  // namespace steadfold

#endif
