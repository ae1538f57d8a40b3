// A collective call under way: what was asked for, how far it has come, and what came of it.
// Cost: 4 KiB, kept for the next call.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agreement/agreement.hpp"
#include "agreement/failure.hpp"
#include "agreement/footprint.hpp"
#include "execution/plan.hpp"
#include "session/plan_cache.hpp"
#include "session/task.hpp"

namespace steadfold::session {

using agreement::Asked;

/// Where this rank's rows begin when all stand in rank order, and the total.
struct RankOrder {
  order::Interval mine;
  Count element_count = 0;
};

/// Made by a Group, which carries it out.
class StartedCall {
 public:
  StartedCall() = default;
  StartedCall(const StartedCall&) = delete;
  StartedCall& operator=(const StartedCall&) = delete;

  bool done() const noexcept { return is_done_; }
  /// Throws what the call failed by, once it is done.
  void require_success() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }
  /// What a bind came to, once it is done.
  std::unique_ptr<execution::Plan> take_plan() noexcept { return std::move(plan_); }
  const RankOrder& rank_order() const noexcept { return rank_order_; }

 private:
  friend class Group;

  /// Copies the calls and what they point to besides their data, for callers that don't stay.
  void hold();
  /// As if it were new.
  void begin(Asked asked, std::span<const Call> calls);

  /// The memory behind a call that is held.
  struct Held {
    std::vector<order::Interval> intervals;
    std::vector<Count> blocks;
    std::string schedule;
    std::string operator_name;
    agreement::Array array;
    order::Grid grid;
  };

  Asked asked_ = Asked::reduction;
  std::uint64_t number_ = 0;     // of the group's calls
  std::span<const Call> calls_;  // a reduction has one; the caller's if that stays, else those of
  std::vector<Call> held_calls_;
  std::vector<Held> held_;
  agreement::Data data_;  // of a reduction, and
  agreement::Footprint footprint_;
  Count rows_ = 0;  // of a rank order
  std::optional<agreement::Failure> failure_;
  bool caller_stays_ = false;
  std::vector<std::shared_ptr<CachedPlan>> offered_;

  std::unique_ptr<execution::Plan> plan_;
  RankOrder rank_order_;
  bool is_done_ = false;
  std::exception_ptr thrown_;

  StartedCall* before_ = nullptr;  // among those under way, in the order of the starts
  StartedCall* next_ = nullptr;
  std::shared_ptr<StartedCall> self_;  // while it is under way, unless its caller stays
  Flow flow_;
  std::optional<Task<>> work_;  // ends before the flow
};

}  // namespace steadfold::session
