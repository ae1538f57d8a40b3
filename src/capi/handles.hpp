// The objects behind the handles of the C interface, and the rules for their use by threads.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "call/failure.hpp"
#include "capi/boundary.hpp"
#include "capi/motion.hpp"
#include "capi/progress_thread.hpp"
#include "group/group.hpp"
#include "group/watch.hpp"
#include "steadfold/steadfold_group.h"

namespace steadfold::capi {

/// The origin of a group, for error texts: its name, and advice if two threads use it at once.
struct MadeOf {
  const char* name;
  const char* suggestion;
};
inline constexpr MadeOf of_a_communicator = {"the communicator",
                                             "give every thread its own duplicate of the communicator"};
inline constexpr MadeOf of_a_worker = {"the worker of the team", "give every thread its own worker"};

}  // namespace steadfold::capi

struct sf_group final : steadfold::capi::InMotion {
  explicit sf_group(std::unique_ptr<steadfold::transport::Transport> transport, const steadfold::group::Watched& by,
                    steadfold::capi::MadeOf origin = steadfold::capi::of_a_communicator)
      : InMotion(this),
        made_of(origin),
        watched(by),
        group(std::move(transport), steadfold::schedule::registry(),
              {.is_any = steadfold::capi::is_any_in_motion,
               .move = steadfold::capi::move_others,
               .use = steadfold::capi::others_use},
              by) {}
  void move() noexcept override;
  bool uses(const steadfold::call::Footprint& memory) const noexcept override { return group.conflicts(memory); }

  const steadfold::capi::MadeOf made_of;
  const steadfold::group::Watched watched;  // the events that end waits of the group
  steadfold::group::Group group;
  // Number of owners: the communicator or team, and requests that may still use the group; the last one deletes it.
  std::atomic<std::size_t> owners = 1;
  std::shared_ptr<void> gaspi;  // the GASPI collective of the group that has not ended (capi/gaspi.cpp)
  // The progress thread, if the program asked for one; destroyed first.
  std::unique_ptr<steadfold::capi::ProgressThread> progress;
};

struct sf_plan final : steadfold::capi::InMotion {
  explicit sf_plan(const sf_group* group) : InMotion(group), watched(group->watched) {}
  void move() noexcept override;
  bool uses(const steadfold::call::Footprint& memory) const noexcept override { return plan->conflicts(memory); }

  const steadfold::group::Watched watched;
  std::unique_ptr<steadfold::plan::Plan> plan;  // null until the plan is bound
  // Whether a run has been started whose end has not been reported; depends only on the functions called, so it is the
  // same on all ranks.
  bool is_started = false;
};

namespace steadfold::capi {

/// Makes the failure that a layer above reports as the reason why it makes no call.
call::Failure failure_of(sf_status status, const char* text);
/// Starts a reduction as sf_group_start_reduce does. With `may_postpone` an operator may ask to be called later.
sf_status start_reduce(const sf_call* call, const call::Data& data, bool may_postpone, sf_group* group,
                       sf_request** request) noexcept;
/// Waits as sf_request_wait_for does, but also returns when `ends` returns true.
sf_status wait_for(sf_request* request, uint64_t timeout, const std::function<bool()>& ends, int* done) noexcept;

/// Removes one owner. The last owner deletes the group.
inline void release(sf_group* group) noexcept {
  if (group->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete group;
}
/// Ends the use of a group by its owner. With calls under way the group is kept, because a send under way cannot be
/// cancelled. Does nothing for null.
void end(sf_group* group) noexcept;

/// Uses a group during a call. After the call this thread advances the group's work under way whenever it waits.
class GroupInUse {
 public:
  explicit GroupInUse(sf_group* group)
      : group_(required(group)), turn_(group_, group_.made_of.name, group_.made_of.suggestion), stay_(group_.watched) {
    group_.group.require_usable();
  }
  ~GroupInUse() {
    group_.group.is_idle() || group_.watched.has_ended() ? group_.leave_motion() : group_.enter_motion();
  }
  GroupInUse(const GroupInUse&) = delete;
  GroupInUse& operator=(const GroupInUse&) = delete;
  group::Group* operator->() const noexcept { return &group_.group; }
  group::Group& operator*() const noexcept { return group_.group; }

 private:
  static sf_group& required(sf_group* group) {
    if (group == nullptr)
      throw call::Failure(Status::invalid_argument,
                          "no group (the pointer is null), get the group of a communicator with sf_group_of");
    return *group;
  }

  sf_group& group_;
  Turn turn_;
  group::Stay stay_;
};

/// Makes a collective call of the group with the function `body(own)`, as group::Group::in_turn does.
template <class Body>
void in_turn(sf_group* group, const Body& body) {
  const GroupInUse own(group);
  own->in_turn([&] { body(*own); });
}

}  // namespace steadfold::capi
