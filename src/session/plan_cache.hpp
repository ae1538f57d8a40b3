// Plans that one-shot calls of the same shape and layout share.
// Cost: looking one up is a comparison per plan.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "execution/handshake.hpp"
#include "execution/plan.hpp"

namespace steadfold::session {

using agreement::Call;
using agreement::Description;
using execution::Ways;
using order::Bytes;
using order::Count;
using order::Rank;

struct CachedPlan {
  std::uint64_t number = 0;  // the same on all ranks
  Count rows = 0;
  std::vector<order::Interval> intervals;
  std::unique_ptr<execution::Plan> plan;
};

/// Every rank makes and drops the same plans in the same order, so that a number means the same plan everywhere. But
/// calls overlap, and one rank may have come further than another when both offer their plans for the same call. So
/// whoever offers a plan keeps it until the call is over, even if it is dropped here meanwhile.
class PlanCache {
 public:
  /// The plans that fit this call and its rows, in `offered` and as ways to go on.
  Ways offer(const Description& description, const Call& call,
             std::vector<std::shared_ptr<CachedPlan>>& offered) const {
    Ways ways = execution::no_way;
    for (const auto& cached : plans_) {
      if (cached == nullptr || !fits(*cached, description, call)) continue;
      offered.push_back(cached);
      ways |= execution::by_cached_plan(cached->number % execution::most_cached_plans);
    }
    return ways;
  }

  /// Which of those offered the ranks take.
  static execution::Plan& taken(Ways ways, const std::vector<std::shared_ptr<CachedPlan>>& offered) {
    const std::size_t place = execution::cached_plan_of(ways);
    for (const auto& cached : offered)
      if (cached->number % execution::most_cached_plans == place) return *cached->plan;
    throw std::logic_error("no plan is kept under the number that all ranks offered, please report it");
  }

  /// For a plan of this call. Local.
  static std::shared_ptr<CachedPlan> made_for(const Call& call) {
    auto made = std::make_shared<CachedPlan>();
    made->rows = call.rows;
    if (is_listed(call)) made->intervals.assign(call.intervals.begin(), call.intervals.end());
    return made;
  }
  /// Keeps what has its plan, and drops the oldest if there are many. Collective.
  void keep(std::shared_ptr<CachedPlan> made) noexcept {
    made->number = next_number_++;
    plans_[made->number % most] = std::move(made);
  }

 private:
  static constexpr std::size_t most = 16;

  /// Where a list says what no other field does.
  static bool is_listed(const Call& call) noexcept { return call.layout == agreement::LayoutKind::intervals; }
  static bool fits(const CachedPlan& cached, const Description& description, const Call& call) noexcept {
    if (cached.plan->agreed().members.front().description != description || cached.rows != call.rows) return false;
    return !is_listed(call) ||
           std::equal(cached.intervals.begin(), cached.intervals.end(), call.intervals.begin(), call.intervals.end());
  }

  std::array<std::shared_ptr<CachedPlan>, most> plans_;
  std::uint64_t next_number_ = 0;
};

}  // namespace steadfold::session
