#include "group/watch.hpp"

#include <sched.h>

#include <cstdio>

#include "call/failure.hpp"

namespace steadfold::group {

using call::Failure;

Watch::Watch(std::size_t callers, const char* what)
    : callers_(callers + 1), what_(what), is_on_(interrupt.load() != nullptr) {}

void Watch::set_limit(std::chrono::nanoseconds most) noexcept {
  limit_ = most;
  is_on_.store(true);
}

void Watch::enter(std::size_t caller) {
  // This store and the loads of `ended_` are sequentially consistent: either the caller that ends the watch sees this
  // call, or this call sees that the watch has ended.
  callers_[caller].calls.fetch_add(1);
  if (!ended_.load()) return;
  leave(caller);
  throw Failure(Status::transport_failed, why_);
}

void Watch::look(Wait& wait) {
  using std::chrono::steady_clock;
  constexpr std::chrono::milliseconds between_questions(100);
  if (ended_.load()) leave_for_good(wait.caller_);
  if (!wait.is_for_good_) return;
  const steady_clock::time_point now = steady_clock::now();
  if (wait.since_ == steady_clock::time_point{}) wait.since_ = wait.asked_ = now;
  if (limit_.count() > 0 && now - wait.since_ >= limit_) {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%g", std::chrono::duration<double>(limit_).count());
    end(wait.caller_, "a call on " + std::string(what_) + " took longer than its limit of " + seconds + " s" +
                          absent() + ", let every worker make the same calls, each on its own thread");
  }
  if (now - wait.asked_ < between_questions) return;
  wait.asked_ = now;
  const Interrupt asked = interrupt.load();
  if (asked != nullptr && asked() != 0)
    end(wait.caller_, std::string(what_) +
                          " can't be used any more (a call on it was interrupted), use another communicator or team");
}

/// Returns a text that lists the callers that are not in a call.
std::string Watch::absent() const {
  std::string list;
  for (std::size_t i = 0; i + 1 < callers_.size(); ++i)
    if (callers_[i].calls.load() == 0) list += (list.empty() ? "" : ", ") + std::to_string(i);
  return list.empty() ? "" : " (workers of this process that are in no call: " + list + ")";
}

void Watch::end(std::size_t caller, const std::string& why) {
  if (!is_ending_.exchange(true)) {
    why_ = why;
    ended_.store(true);
  }
  leave_for_good(caller);
}

void Watch::leave_for_good(std::size_t caller) {
  callers_[caller].has_left.store(true);
  while (!ended_.load()) sched_yield();  // waits while another caller writes `why_`
  for (const Caller& each : callers_)
    while (each.calls.load() != 0 && !each.has_left.load()) sched_yield();
  throw Failure(Status::transport_failed, why_);
}

}  // namespace steadfold::group
