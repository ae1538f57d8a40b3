#include "order/layout.hpp"

#include <algorithm>
#include <numeric>

namespace steadfold::order {
namespace {

std::string text_of(Interval elements) {
  if (elements.size() == 1) return "element " + std::to_string(elements.begin) + " is";
  return "elements " + std::to_string(elements.begin) + " to " + std::to_string(elements.end - 1) + " are";
}

std::string text_of_ranks(Rank one, Rank other) {
  if (one == other) return " by rank " + std::to_string(one);
  return " by ranks " + std::to_string(std::min(one, other)) + " and " + std::to_string(std::max(one, other));
}

}  // namespace

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

Layout Layout::reordered(std::span<const Rank> ranks) const {
  std::vector<std::vector<Interval>> all;
  all.reserve(ranks.size());
  for (const Rank rank : ranks) {
    const auto held = intervals(rank);
    all.emplace_back(held.begin(), held.end());
  }
  return lists(all);
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
  if (shares_) return shares_->start(rank);
  const std::size_t first = first_[static_cast<std::size_t>(rank)];
  return first < intervals_.size() ? intervals_[first].begin : element_count_;
}

/// Which rank holds an interval of the table.
Rank Layout::rank_of(std::size_t interval) const noexcept {
  return static_cast<Rank>(std::ranges::upper_bound(first_, interval) - first_.begin()) - 1;
}

Rank Layout::owner(Index index) const noexcept {
  if (shares_) return shares_->rank_of(index);
  const auto interval = std::ranges::upper_bound(intervals_, index, {}, &Interval::begin) - intervals_.begin() - 1;
  return rank_of(static_cast<std::size_t>(interval));
}

IntervalSet Layout::rows_in_order(RankRange range) const {
  IntervalSet rows;
  const auto add = [&](Rank begin, Rank end) {
    if (shares_) return static_cast<void>(rows.add(shares_->rows(begin, end)));
    const std::size_t first = first_[static_cast<std::size_t>(begin)];
    const std::size_t last = first_[static_cast<std::size_t>(end)];
    if (first < last) rows.add({intervals_[first].begin, intervals_[last - 1].end});
  };
  const Rank beyond = std::max(range.first - rank_count() + range.count, 0);  // ranks that wrap around to 0, 1, ...
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

std::optional<Layout::Fault> Layout::fault() const {
  if (in_rank_order_) return std::nullopt;
  std::vector<std::size_t> ascending(intervals_.size());
  std::iota(ascending.begin(), ascending.end(), std::size_t{0});
  std::ranges::sort(ascending, {}, [&](std::size_t i) { return intervals_[i]; });
  Index covered = 0;
  std::size_t last = 0;  // the interval that ends there
  for (const std::size_t i : ascending) {
    const Interval interval = intervals_[i];
    if (interval.begin > covered) return Fault{Status::gap, text_of({covered, interval.begin}) + " listed nowhere"};
    if (interval.begin < covered)
      return Fault{Status::overlap, text_of({interval.begin, std::min(covered, interval.end)}) + " listed twice" +
                                        (rank_count() == 1 ? "" : text_of_ranks(rank_of(last), rank_of(i)))};
    covered = interval.end;
    last = i;
  }
  return std::nullopt;
}

}  // namespace steadfold::order
