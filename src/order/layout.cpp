#include "order/layout.hpp"

#include <algorithm>

namespace steadfold::order {

Layout Layout::contiguous(std::span<const Count> counts) {
  Layout layout;
  layout.in_rank_order_ = true;
  layout.intervals_.reserve(counts.size());
  layout.first_.reserve(counts.size() + 1);
  for (const Count count : counts) {
    if (count > 0) layout.intervals_.push_back({layout.element_count_, layout.element_count_ + count});
    layout.element_count_ += count;
    layout.first_.push_back(layout.intervals_.size());
  }
  return layout;
}

Layout Layout::contiguous(const TwoShares& shares, Rank mine) {
  Layout layout;
  layout.in_rank_order_ = true;
  layout.shares_ = shares;
  layout.element_count_ = shares.element_count();
  const Interval rows = shares.rows(mine, mine + 1);
  if (!rows.empty()) layout.intervals_.push_back(rows);
  return layout;
}

Layout Layout::lists(std::span<const std::vector<Interval>> lists) {
  Layout layout;
  layout.in_rank_order_ = true;
  layout.first_.reserve(lists.size() + 1);
  for (const auto& list : lists) {
    for (const Interval interval : list) {
      if (interval.empty()) continue;
      layout.in_rank_order_ = layout.in_rank_order_ && interval.begin == layout.element_count_;
      layout.intervals_.push_back(interval);
      layout.element_count_ += interval.size();
    }
    layout.first_.push_back(layout.intervals_.size());
  }
  return layout;
}

std::span<const Interval> Layout::intervals(Rank rank) const noexcept {
  if (shares_) return intervals_;
  const auto i = static_cast<std::size_t>(rank);
  return std::span(intervals_).subspan(first_[i], first_[i + 1] - first_[i]);
}

Count Layout::local_count(Rank rank) const noexcept {
  if (shares_) return shares_->count(rank);
  Count count = 0;
  for (const Interval interval : intervals(rank)) count += interval.size();
  return count;
}

Index Layout::start(Rank rank) const noexcept {
  const std::size_t first = first_[static_cast<std::size_t>(rank)];
  return first < intervals_.size() ? intervals_[first].begin : element_count_;
}

Rank Layout::owner(Index index) const noexcept {
  const auto interval = std::ranges::upper_bound(intervals_, index, {}, &Interval::begin) - intervals_.begin() - 1;
  const auto next = std::ranges::upper_bound(first_, static_cast<std::size_t>(interval));
  return static_cast<Rank>(next - first_.begin()) - 1;
}

IntervalSet Layout::rows_in_order(RankRange range) const {
  IntervalSet rows;
  const auto add = [&](Rank begin, Rank end) {
    if (shares_) return static_cast<void>(rows.add(shares_->rows(begin, end)));
    const std::size_t first = first_[static_cast<std::size_t>(begin)];
    const std::size_t last = first_[static_cast<std::size_t>(end)];
    if (first < last) rows.add({intervals_[first].begin, intervals_[last - 1].end});
  };
  const Rank beyond = std::max(range.first - rank_count() + range.count, 0);  // ranks counted from 0 again
  add(0, beyond);
  add(range.first, range.first + range.count - beyond);
  return rows;
}

IntervalSet Layout::rows(RankRange range) const {
  if (in_rank_order_) return rows_in_order(range);
  std::vector<Interval> held;
  for (Rank i = 0; i < range.count; ++i) {
    const auto of_rank = intervals((range.first + i) % rank_count());
    held.insert(held.end(), of_rank.begin(), of_rank.end());
  }
  std::sort(held.begin(), held.end());
  IntervalSet rows;
  for (const Interval interval : held) rows.add(interval);
  return rows;
}

std::optional<std::string> Layout::fault() const {
  if (in_rank_order_) return std::nullopt;
  std::vector<Interval> sorted = intervals_;
  std::sort(sorted.begin(), sorted.end());
  Index covered = 0;
  for (const Interval interval : sorted) {
    if (interval.begin > covered)
      return "elements " + std::to_string(covered) + " to " + std::to_string(interval.begin - 1) + " are on no rank";
    if (interval.begin < covered)
      return "elements " + std::to_string(interval.begin) + " to " +
             std::to_string(std::min(covered, interval.end) - 1) + " are listed twice";
    covered = interval.end;
  }
  return std::nullopt;
}

}  // namespace steadfold::order
