// Plans that one-shot calls of the same shape and layout share.
// Cost: looking one up is a comparison per plan.
#pragma once

#include <algorithm>
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
///
/// Keeps 48 plans, enough for a Krylov solver whose calls have some forty widths in turn. Plans of wide rows take
/// memory: 16 of these.
class PlanCache {
 public:
  static constexpr std::size_t most = 48, most_wide = 16;
  static constexpr Bytes most_narrow_bytes = 1024;  // of a row

  /// The plans that fit this call and its rows, in `offered` and as ways to go on.
  Ways offer(const Description& description, const Call& call,
             std::vector<std::shared_ptr<CachedPlan>>& offered) const {
    Ways ways = execution::no_way;
    for (std::size_t i = 0; i < end_; ++i) {
      if (keys_[i] != Key{description.columns, call.rows} || !fits(*plans_[i], description, call)) continue;
      offered.push_back(plans_[i]);
      ways |= execution::by_cached_plan(place_of(*plans_[i]));
    }
    return ways;
  }

  /// Which of those offered the ranks take.
  static execution::Plan& taken(Ways ways, const std::vector<std::shared_ptr<CachedPlan>>& offered) {
    const std::size_t place = execution::cached_plan_of(ways);
    for (const auto& cached : offered)
      if (place_of(*cached) == place) return *cached->plan;
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
    const std::size_t place = made->number % most;
    plans_[place] = nullptr;
    keys_[place] = {description_of(*made).columns, made->rows};
    if (is_wide(*made)) drop_oldest_wide();
    plans_[place] = std::move(made);
    end_ = std::max(end_, place + 1);
  }

 private:
  /// What tells most plans apart. No call has 0 columns.
  struct Key {
    Count columns = 0;
    Count rows = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };

  /// Its place among all that can be told apart.
  static std::size_t place_of(const CachedPlan& cached) noexcept {
    return cached.number % execution::most_cached_plans;
  }
  /// A list of intervals says what no other field does.
  static bool fits(const CachedPlan& cached, const Description& description, const Call& call) noexcept {
    if (description_of(cached) != description) return false;
    return !is_listed(call) ||
           std::equal(cached.intervals.begin(), cached.intervals.end(), call.intervals.begin(), call.intervals.end());
  }
  static bool is_listed(const Call& call) noexcept { return call.layout == agreement::LayoutKind::intervals; }
  static const Description& description_of(const CachedPlan& cached) noexcept {
    return cached.plan->agreed().members.front().description;
  }
  static bool is_wide(const CachedPlan& cached) noexcept {
    return description_of(cached).row_bytes() > most_narrow_bytes;
  }
  /// Makes room for another one.
  void drop_oldest_wide() noexcept {
    std::size_t oldest = most;
    std::size_t count = 1;  // with the other one
    for (std::size_t i = 0; i < most; ++i) {
      if (plans_[i] == nullptr || !is_wide(*plans_[i])) continue;
      if (oldest == most || plans_[i]->number < plans_[oldest]->number) oldest = i;
      count += 1;
    }
    if (count <= most_wide) return;
    plans_[oldest] = nullptr;
    keys_[oldest] = {};
  }

  std::array<Key, most> keys_{};  // of no columns where there is no plan
  std::array<std::shared_ptr<CachedPlan>, most> plans_;
  std::size_t end_ = 0;  // of the places in use
  std::uint64_t next_number_ = 0;
};

}  // namespace steadfold::session
