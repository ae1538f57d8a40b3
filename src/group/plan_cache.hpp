// The cached plans of a group. One-shot calls with the same shape and layout share a plan.
// Cost: a look-up compares the call with every plan.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "group/handshake.hpp"
#include "plan/plan.hpp"

namespace steadfold::group {

using call::Call;
using call::Description;
using order::Bytes;
using order::Count;
using order::Rank;

struct CachedPlan {
  std::uint64_t number = 0;  // the number of the plan, the same on all ranks
  Count rows = 0;
  std::vector<order::Interval> intervals;
  std::unique_ptr<plan::Plan> plan;
};

/// Every rank makes and drops the same plans in the same order, so a number means the same plan on every rank. But
/// calls overlap: when two ranks offer plans for the same call, one rank may be some calls ahead of the other. So a
/// rank that offers a plan keeps the plan until the call is over, even if the cache drops the plan meanwhile.
///
/// The cache keeps 48 plans. This is enough for a Krylov solver, whose calls use about forty widths in turn. Plans of
/// wide rows take much memory, so the cache keeps only 16 of them.
class PlanCache {
 public:
  static constexpr std::size_t most = 48, most_wide = 16;
  static constexpr Bytes most_narrow_bytes = 1024;  // rows with more bytes count as wide

  /// Appends the plans that fit the call and its rows to `offered`, and returns them as ways to continue.
  Ways offer(const Description& description, const Call& call,
             std::vector<std::shared_ptr<CachedPlan>>& offered) const {
    Ways ways = no_way;
    for (std::size_t i = 0; i < end_; ++i) {
      if (keys_[i] != Key{description.columns, call.rows} || !fits(*plans_[i], description, call)) continue;
      offered.push_back(plans_[i]);
      ways |= by_cached_plan(bit_of(*plans_[i]));
    }
    return ways;
  }

  /// Returns the offered plan on which all ranks have agreed.
  static plan::Plan& taken(Ways ways, const std::vector<std::shared_ptr<CachedPlan>>& offered) {
    const std::size_t bit = cached_plan_of(ways);
    for (const auto& cached : offered)
      if (bit_of(*cached) == bit) return *cached->plan;
    throw std::logic_error(
        "no cached plan has the number on which all ranks agreed (an error in the library), report this error");
  }

  /// Makes a cache entry for a plan of this call; the caller adds the plan. Local.
  static std::shared_ptr<CachedPlan> made_for(const Call& call) {
    auto made = std::make_shared<CachedPlan>();
    made->rows = call.rows;
    if (is_listed(call)) made->intervals.assign(call.intervals.begin(), call.intervals.end());
    return made;
  }
  /// Adds an entry that has its plan to the cache. If the cache is full, drops the oldest plan. Collective.
  void keep(std::shared_ptr<CachedPlan> made) noexcept {
    made->number = next_number_++;
    const std::size_t index = made->number % most;
    plans_[index] = nullptr;
    keys_[index] = {description_of(*made).columns, made->rows};
    if (is_wide(*made)) drop_oldest_wide();
    plans_[index] = std::move(made);
    end_ = std::max(end_, index + 1);
  }

 private:
  /// Two facts of a plan that differ between most plans; a quick comparison before the full one. The number of columns
  /// is at least 1.
  struct Key {
    Count columns = 0;
    Count rows = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };

  /// Returns the bit of the plan in the set `Ways`.
  static std::size_t bit_of(const CachedPlan& cached) noexcept { return cached.number % most_cached_plans; }
  /// Returns whether a cached plan fits a call. The description lacks the lists of intervals, so this function compares
  /// them.
  static bool fits(const CachedPlan& cached, const Description& description, const Call& call) noexcept {
    if (description_of(cached) != description) return false;
    return !is_listed(call) ||
           std::equal(cached.intervals.begin(), cached.intervals.end(), call.intervals.begin(), call.intervals.end());
  }
  static bool is_listed(const Call& call) noexcept { return call.layout == call::LayoutKind::intervals; }
  static const Description& description_of(const CachedPlan& cached) noexcept {
    return cached.plan->agreed().members.front().description;
  }
  static bool is_wide(const CachedPlan& cached) noexcept {
    return description_of(cached).row_bytes() > most_narrow_bytes;
  }
  /// Drops the oldest plan of wide rows if the cache would otherwise have too many.
  void drop_oldest_wide() noexcept {
    std::size_t oldest = most;
    std::size_t count = 1;  // number of plans of wide rows, including the new plan
    for (std::size_t i = 0; i < most; ++i) {
      if (plans_[i] == nullptr || !is_wide(*plans_[i])) continue;
      if (oldest == most || plans_[i]->number < plans_[oldest]->number) oldest = i;
      count += 1;
    }
    if (count <= most_wide) return;
    plans_[oldest] = nullptr;
    keys_[oldest] = {};
  }

  std::array<Key, most> keys_{};  // the keys of the plans; 0 columns where there is no plan
  std::array<std::shared_ptr<CachedPlan>, most> plans_;
  std::size_t end_ = 0;  // index after the last entry in use
  std::uint64_t next_number_ = 0;
};

}  // namespace steadfold::group
