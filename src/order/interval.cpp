#include "order/interval.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace steadfold::order {

bool IntervalSet::add(Interval interval) {
  if (interval.empty()) return true;
  if (intervals_.empty() || interval.begin > intervals_.back().end) return intervals_.push_back(interval), true;
  if (interval.begin == intervals_.back().end) return intervals_.back().end = interval.end, true;
  const auto next = std::lower_bound(intervals_.begin(), intervals_.end(), interval,
                                     [](Interval a, Interval b) { return a.begin < b.begin; });
  const auto previous = next == intervals_.begin() ? intervals_.end() : next - 1;
  if (next != intervals_.end() && interval.end > next->begin) return false;
  if (previous != intervals_.end() && previous->end > interval.begin) return false;

  const bool joins_previous = previous != intervals_.end() && previous->end == interval.begin;
  const bool joins_next = next != intervals_.end() && next->begin == interval.end;
  if (joins_previous && joins_next) {
    previous->end = next->end;
    intervals_.erase(next);
  } else if (joins_previous) {
    previous->end = interval.end;
  } else if (joins_next) {
    next->begin = interval.begin;
  } else {
    intervals_.insert(next, interval);
  }
  return true;
}

bool IntervalSet::add(const IntervalSet& others) {
  std::vector<Interval> both(intervals_.size() + others.intervals_.size());
  std::ranges::merge(intervals_, others.intervals_, both.begin());
  IntervalSet united;
  for (const Interval interval : both)
    if (!united.add(interval)) return false;
  intervals_ = std::move(united.intervals_);
  return true;
}

Count IntervalSet::size() const noexcept {
  return std::accumulate(intervals_.begin(), intervals_.end(), Count{0},
                         [](Count n, Interval interval) { return n + interval.size(); });
}

Count IntervalSet::node_count() const noexcept {
  return std::accumulate(intervals_.begin(), intervals_.end(), Count{0},
                         [](Count n, Interval interval) { return n + order::node_count(interval); });
}

}  // namespace steadfold::order
