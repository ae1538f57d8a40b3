// A collective call under way: its arguments, its progress and its outcome. Cost: 5 KiB of memory, which the next call
// uses again.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "call/failure.hpp"
#include "call/footprint.hpp"
#include "call/held_arguments.hpp"
#include "group/plan_cache.hpp"
#include "group/task.hpp"
#include "plan/agreement.hpp"
#include "plan/plan.hpp"

namespace steadfold::group {

using plan::Asked;

/// The indices of this rank's rows in rank order, and the number of all rows.
struct RankOrder {
  order::Interval mine;
  Count element_count = 0;
};

/// A call that a Group has started and carries out.
class StartedCall {
 public:
  StartedCall();
  StartedCall(const StartedCall&) = delete;
  StartedCall& operator=(const StartedCall&) = delete;

  bool done() const noexcept { return is_done_; }
  /// Throws the error of the call if the call failed. The call must be done.
  void require_success() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }
  /// Returns the plan that a bind has made. The call must be done.
  std::unique_ptr<plan::Plan> take_plan() noexcept { return std::move(plan_); }
  const RankOrder& rank_order() const noexcept { return rank_order_; }

 private:
  friend class Group;

  /// Resets the object for a new call. Copies the calls. If the caller does not wait for the end, also copies
  /// everything to which the calls point, except their data. Copying one call whose caller waits allocates no memory.
  void begin(Asked asked, std::span<const Call> calls, bool caller_stays);

  Asked asked_ = Asked::reduction;
  std::uint64_t number_ = 0;  // the index of this call among all calls of the group
  std::vector<Call> calls_;   // one call for a reduction
  std::deque<call::HeldArguments> arguments_;
  call::Data data_;  // only for a reduction, like the footprint
  call::Footprint footprint_;
  Count rows_ = 0;  // number of rows; only for a call for rank order
  std::optional<call::Failure> failure_;
  bool caller_stays_ = false;
  std::vector<std::shared_ptr<CachedPlan>> offered_;

  std::unique_ptr<plan::Plan> plan_;
  RankOrder rank_order_;
  bool is_done_ = false;
  std::exception_ptr thrown_;

  // The call before this call in the list of calls under way, which is in the order of their starts.
  StartedCall* before_ = nullptr;
  StartedCall* next_ = nullptr;
  // Keeps this object alive while the call is under way, if its caller does not wait for the end.
  std::shared_ptr<StartedCall> self_;
  Flow flow_;
  std::optional<Task<>> work_;  // declared last, so that its destructor runs before the destructor of the flow
};

}  // namespace steadfold::group
