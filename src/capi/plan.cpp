// The C functions of plans and bundles.
// Rank order and cost: those of the call.
#include <cstddef>

#include "capi/boundary.hpp"
#include "capi/handles.hpp"

using steadfold::Status;
using steadfold::call::Data;
using steadfold::call::Failure;
using steadfold::capi::at_once;
using steadfold::capi::data_of;
using steadfold::capi::deadline_after;
using steadfold::capi::guarded;
using steadfold::capi::require_address;

namespace {

sf_plan& require(const sf_plan* plan) {
  if (plan == nullptr)
    throw Failure(Status::invalid_argument, "no plan (the pointer is null), bind one with sf_plan_bind");
  return const_cast<sf_plan&>(*plan);  // read-only functions also take the turn, which changes the plan
}

/// Uses a plan during a call.
class PlanInUse {
 public:
  explicit PlanInUse(const sf_plan* plan)
      : handle_(require(plan)), turn_(handle_, "the plan", "give every thread its own plan"), stay_(handle_.watched) {}
  steadfold::plan::Plan* operator->() const noexcept { return handle_.plan.get(); }
  steadfold::plan::Plan& operator*() const noexcept { return *handle_.plan; }

  /// Starts a run, which this thread advances whenever it waits.
  void start(std::span<const Data> data) const {
    begin(data, false);
    handle_.is_started = true;
    if (handle_.plan->running()) handle_.enter_motion();
  }
  bool wait_until(std::chrono::steady_clock::time_point deadline) const {
    return steadfold::capi::wait_until(handle_.watched, deadline, [this] {
      if (!handle_.plan->test()) return false;
      handle_.leave_motion();
      handle_.is_started = false;
      return true;
    });
  }
  void run(std::span<const Data> data) const {
    begin(data, true);
    steadfold::capi::wait_for(handle_.watched, [this] { return handle_.plan->test(); });
  }

 private:
  void begin(std::span<const Data> data, bool stays) const {
    steadfold::plan::Plan& plan = *handle_.plan;
    if (handle_.is_started) throw steadfold::plan::plan_is_running();
    const bool conflicts = steadfold::capi::is_any_in_motion() && !plan.running() &&
                           plan.would_conflict(data, steadfold::capi::others_use);
    conflicts ? plan.refuse(steadfold::call::conflict()) : plan.start(data, stays);
  }

  sf_plan& handle_;
  steadfold::capi::Turn turn_;
  steadfold::group::Stay stay_;
};

/// Uses a plan during a call that sends messages. Throws Failure if its transport can no longer send.
PlanInUse ready(const sf_plan* plan) {
  require(plan).plan->require_usable();
  return PlanInUse(plan);
}

void require_success(const steadfold::plan::Plan& plan) {
  if (plan.status() != Status::ok) throw plan.failure();
}

static_assert(sizeof(sf_data) == sizeof(Data) && offsetof(sf_data, mask) == offsetof(Data, mask) &&
              offsetof(sf_data, label) == offsetof(Data, label));

/// Converts the data of a bundle.
std::span<const Data> data_of(const sf_data* data, size_t count) {
  if (data == nullptr) return {};
  return {reinterpret_cast<const Data*>(data), count};
}

}  // namespace

extern "C" {

sf_status sf_plan_start(sf_plan* plan, const void* first, const void* second, void* result) {
  return guarded([&] {
    const Data data = data_of(first, second, result);
    ready(plan).start({&data, 1});
  });
}

sf_status sf_plan_test(sf_plan* plan, int* done) {
  return guarded([&] {
    require_address(done, "the answer");
    const PlanInUse bound = ready(plan);
    *done = bound.wait_until(at_once) ? 1 : 0;
    if (*done != 0) require_success(*bound);
  });
}

sf_status sf_plan_wait(sf_plan* plan) {
  return guarded([&] {
    const PlanInUse bound = ready(plan);
    bound.wait_until(std::chrono::steady_clock::time_point::max());
    require_success(*bound);
  });
}

sf_status sf_plan_wait_for(sf_plan* plan, uint64_t timeout, int* done) {
  return guarded([&] {
    require_address(done, "the answer");
    const PlanInUse bound = ready(plan);
    *done = bound.wait_until(deadline_after(timeout)) ? 1 : 0;
    if (*done != 0) require_success(*bound);
  });
}

sf_status sf_plan_run(sf_plan* plan, const void* first, const void* second, void* result) {
  return guarded([&] {
    const PlanInUse bound = ready(plan);
    const Data data = data_of(first, second, result);
    bound.run({&data, 1});
    require_success(*bound);
  });
}

sf_status sf_bundle_start(sf_plan* plan, const sf_data* data, size_t count) {
  return guarded([&] { ready(plan).start(data_of(data, count)); });
}

sf_status sf_bundle_run(sf_plan* plan, const sf_data* data, size_t count) {
  return guarded([&] {
    const PlanInUse bound = ready(plan);
    bound.run(data_of(data, count));
    require_success(*bound);
  });
}

sf_status sf_bundle_status(const sf_plan* plan, size_t call) {
  return guarded([&] {
    const PlanInUse bound(plan);
    if (call >= bound->member_count())
      throw Failure(Status::invalid_argument, "call " + std::to_string(call) +
                                                  " does not exist (the number of calls of the plan is " +
                                                  std::to_string(bound->member_count()) + "), count calls from 0");
    const Status status = bound->status(call);
    if (status == bound->status()) require_success(*bound);
    if (status != Status::ok) throw Failure(status, steadfold::call::text_of(status));
  });
}

sf_status sf_plan_trace(sf_plan* plan, int on) {
  return guarded([&] { PlanInUse(plan)->trace(on != 0); });
}

sf_status sf_plan_figures(const sf_plan* plan, sf_figures* figures) {
  return guarded([&] {
    const PlanInUse bound(plan);
    require_address(figures, "the cost of the run");
    const auto traffic = bound->traffic_of_last_run();
    *figures = {traffic.messages, traffic.bytes, bound->rounds()};
  });
}

const char* sf_plan_describe(const sf_plan* plan) { return plan == nullptr ? "" : plan->plan->description().c_str(); }

const char* sf_plan_schedule(const sf_plan* plan) {
  return plan == nullptr ? "" : plan->plan->agreed().chosen.schedule.c_str();
}

/// Frees a plan, and gives up its run under way. MPI cannot cancel a send, so memory from which it sends is kept. A
/// plan that another thread is using is not freed.
void sf_plan_free(sf_plan* plan) {
  if (plan == nullptr || !plan->retire()) return;
  if (!plan->plan->running()) {
    delete plan;
    return;
  }
  try {
    const steadfold::group::Stay stay(plan->watched);
    plan->plan->require_usable();
    plan->plan->give_up();
  } catch (const std::exception&) {  // MPI or the team has ended, so no other rank waits
  }
  steadfold::capi::keep_for_ever(plan);
}
}

void sf_plan::move() noexcept {
  try {
    const steadfold::group::Stay stay(watched.as_mover());
    plan->require_usable();
    if (plan->test()) leave_motion();
  } catch (const std::exception&) {  // the next test or wait reports the error
    if (watched.has_ended()) leave_motion();
  }
}
