// The C functions over MPI.
// Rank order: that of the call. Cost: that of the call. Source: ours.
#include "transport/mpi.hpp"

#include <atomic>
#include <cstddef>

#include "capi/boundary.hpp"
#include "session/group.hpp"
#include "steadfold/steadfold_mpi.h"

namespace steadfold::capi {
namespace {

using agreement::Failure;
using session::Group;

struct AttachedGroup final : transport::Attached {
  explicit AttachedGroup(std::unique_ptr<transport::Transport> transport) : group(std::move(transport)) {}
  Group group;
  std::atomic<bool> busy = false;
};

std::unique_ptr<transport::Attached> make_attached(std::unique_ptr<transport::Transport> transport) {
  return std::make_unique<AttachedGroup>(std::move(transport));
}

/// Runs `body`; its std::runtime_error becomes the failure that MPI cannot be used.
template <class Body>
decltype(auto) usable(Body body) {
  try {
    return body();
  } catch (const std::runtime_error& unusable) {
    throw Failure(Status::invalid_argument, unusable.what());
  }
}

AttachedGroup& attached_to(MPI_Comm comm) {
  return static_cast<AttachedGroup&>(
      usable([&]() -> transport::Attached& { return transport::attach(comm, make_attached); }));
}

/// Marks a plan or communicator as in use during a call; a second call meanwhile is refused.
class Turn {
 public:
  Turn(std::atomic<bool>& busy, const char* what, const char* suggestion) : busy_(busy) {
    if (busy.exchange(true, std::memory_order_acquire))
      throw Failure(
          Status::invalid_argument,
          std::string(what) + " is in use by another thread (or by an operator that calls back), " + suggestion);
  }
  ~Turn() { busy_.store(false, std::memory_order_release); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::atomic<bool>& busy_;
};

/// What is kept on a communicator, for the length of a call.
class GroupInUse {
 public:
  explicit GroupInUse(MPI_Comm comm)
      : kept_(attached_to(comm)), turn_(kept_.busy, "the communicator", "give every thread a duplicate of its own") {}
  Group* operator->() const noexcept { return &kept_.group; }

 private:
  AttachedGroup& kept_;
  Turn turn_;
};

}  // namespace
}  // namespace steadfold::capi

using steadfold::Status;
using steadfold::agreement::Data;
using steadfold::agreement::Failure;
using steadfold::capi::bytes;
using steadfold::capi::GroupInUse;
using steadfold::capi::guarded;

struct sf_plan {
  std::unique_ptr<steadfold::execution::Plan> plan;
  std::string schedule;
  mutable std::atomic<bool> busy = false;
  sf_plan* given_up_before = nullptr;
};

namespace {

/// Keeps a plan for as long as the program runs, where tools that look for leaks find it.
void keep(sf_plan* plan) noexcept {
  static std::atomic<sf_plan*> last = nullptr;
  plan->given_up_before = last.load(std::memory_order_relaxed);
  while (!last.compare_exchange_weak(plan->given_up_before, plan, std::memory_order_relaxed)) {
  }
}

const sf_plan& require(const sf_plan* plan) {
  if (plan == nullptr)
    throw Failure(Status::invalid_argument, "no plan (the pointer is null), bind one with sf_plan_bind");
  return *plan;
}

/// A plan for the length of a call.
class PlanInUse {
 public:
  explicit PlanInUse(const sf_plan* plan)
      : plan_(*require(plan).plan), turn_(plan->busy, "the plan", "give every thread a plan of its own") {}
  steadfold::execution::Plan* operator->() const noexcept { return &plan_; }
  steadfold::execution::Plan& operator*() const noexcept { return plan_; }

 private:
  steadfold::execution::Plan& plan_;
  steadfold::capi::Turn turn_;
};

/// The same for calls that send messages.
PlanInUse ready(const sf_plan* plan) {
  require(plan);
  steadfold::capi::usable(steadfold::transport::require_mpi);
  return PlanInUse(plan);
}

void require_success(const steadfold::execution::Plan& plan) {
  if (plan.status() != Status::ok) throw plan.failure();
}

Failure nowhere(const char* what) {
  return {Status::invalid_argument, std::string(what) + " has nowhere to go (its address is null), give one"};
}

Data data_of(const void* first, const void* second, void* result) {
  return {.first = bytes(first), .second = bytes(second), .result = bytes(result)};
}

static_assert(sizeof(sf_data) == sizeof(Data) && offsetof(sf_data, result) == offsetof(Data, result));
std::span<const Data> data_of(const sf_data* data, size_t count) {
  if (data == nullptr) return {};
  return {reinterpret_cast<const Data*>(data), count};
}

void bind(std::span<const steadfold::agreement::Call> calls, std::optional<Failure> failure, MPI_Comm comm,
          sf_plan** plan) {
  if (!failure && plan == nullptr) failure = nowhere("the plan");
  auto bound = GroupInUse(comm)->bind(calls, std::move(failure));
  std::string schedule = bound->agreed().schedule_text;
  *plan = new sf_plan{std::move(bound), std::move(schedule)};
}

void require_place(const void* place, const char* what) {
  if (place == nullptr) throw nowhere(what);
}

}  // namespace

extern "C" {

const char SF_MPI_LINK = 1;

sf_status sf_reduce(const sf_call* call, const void* first, const void* second, void* result, MPI_Comm comm) {
  return guarded([&] {
    const auto [translated, failure] = steadfold::capi::translated(call);
    GroupInUse(comm)->reduce(translated, data_of(first, second, result), failure);
  });
}

sf_status sf_rank_order(uint64_t rows, MPI_Comm comm, sf_interval* mine, uint64_t* element_count) {
  return guarded([&] {
    const auto found = GroupInUse(comm)->rank_order(rows);
    require_place(mine, "the interval");
    require_place(element_count, "the element count");
    *mine = {found.mine.begin, found.mine.end};
    *element_count = found.element_count;
  });
}

sf_status sf_plan_bind(const sf_call* call, MPI_Comm comm, sf_plan** plan) {
  return guarded([&] {
    auto [translated, failure] = steadfold::capi::translated(call);
    bind(std::span(&translated, 1), std::move(failure), comm, plan);
  });
}

sf_status sf_plan_start(sf_plan* plan, const void* first, const void* second, void* result) {
  return guarded([&] { ready(plan)->start(data_of(first, second, result)); });
}

sf_status sf_plan_test(sf_plan* plan, int* done) {
  return guarded([&] {
    require_place(done, "the answer");
    const PlanInUse bound = ready(plan);
    *done = bound->test() ? 1 : 0;
    if (*done != 0) require_success(*bound);
  });
}

sf_status sf_plan_wait(sf_plan* plan) {
  return guarded([&] {
    const PlanInUse bound = ready(plan);
    bound->wait();
    require_success(*bound);
  });
}

sf_status sf_plan_run(sf_plan* plan, const void* first, const void* second, void* result) {
  return guarded([&] {
    const PlanInUse bound = ready(plan);
    bound->run(data_of(first, second, result));
    require_success(*bound);
  });
}

sf_status sf_bundle_bind(const sf_call* calls, size_t count, MPI_Comm comm, sf_plan** plan) {
  return guarded([&] {
    std::vector<steadfold::agreement::Call> translated;
    std::optional<Failure> failure;
    if (calls == nullptr && count > 0)
      failure = Failure(Status::invalid_argument, "no calls (the pointer is null), give their address");
    for (size_t i = 0; calls != nullptr && i < count; ++i) {
      auto each = steadfold::capi::translated(calls + i);
      translated.push_back(each.call);
      if (each.failure && !failure)
        failure = Failure(each.failure->status(), steadfold::agreement::in_bundle(i, count) + each.failure->what());
    }
    bind(translated, std::move(failure), comm, plan);
  });
}

sf_status sf_bundle_start(sf_plan* plan, const sf_data* data, size_t count) {
  return guarded([&] { ready(plan)->start(data_of(data, count)); });
}

sf_status sf_bundle_run(sf_plan* plan, const sf_data* data, size_t count) {
  return guarded([&] {
    const PlanInUse bound = ready(plan);
    bound->run(data_of(data, count));
    require_success(*bound);
  });
}

sf_status sf_bundle_status(const sf_plan* plan, size_t call) {
  return guarded([&] {
    const PlanInUse bound(plan);
    if (call >= bound->member_count())
      throw Failure(Status::invalid_argument, "call " + std::to_string(call) + " (the plan was bound for " +
                                                  std::to_string(bound->member_count()) + "), count from 0");
    const Status status = bound->status(call);
    if (status == bound->status()) require_success(*bound);
    if (status != Status::ok) throw Failure(status, steadfold::agreement::text_of(status));
  });
}

sf_status sf_plan_trace(sf_plan* plan, int on) {
  return guarded([&] { PlanInUse(plan)->trace(on != 0); });
}

sf_status sf_plan_figures(const sf_plan* plan, sf_figures* figures) {
  return guarded([&] {
    const PlanInUse bound(plan);
    require_place(figures, "the figures");
    const auto traffic = bound->traffic_of_last_run();
    *figures = {traffic.messages, traffic.bytes, bound->rounds()};
  });
}

const char* sf_plan_describe(const sf_plan* plan) { return plan == nullptr ? "" : plan->plan->description().c_str(); }

const char* sf_plan_schedule(const sf_plan* plan) { return plan == nullptr ? "" : plan->schedule.c_str(); }

/// A run under way is given up: MPI cannot take back what is being sent, so the memory that is sent from stays. A plan
/// that another thread is using stays whole.
void sf_plan_free(sf_plan* plan) {
  if (plan == nullptr || plan->busy.exchange(true, std::memory_order_acquire)) return;
  if (plan->plan->running()) return keep(plan);
  delete plan;
}

const char* sf_mpi_library(void) {
  static const std::string text = steadfold::transport::mpi_library();
  return text.c_str();
}
}
