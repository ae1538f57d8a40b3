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

Layout Layout::contiguous(const TwoShares& shares) {
  Layout layout;
  layout.in_rank_order_ = true;
  layout.shares_ = shares;
  layout.element_count_ = shares.element_count();
  return layout;
}

Layout Layout::of(const Grid& grid) {
  if (grid.in_rank_order()) {
    std::vector<Count> counts(static_cast<std::size_t>(grid.rank_count()));
    for (Rank rank = 0; rank < grid.rank_count(); ++rank) counts[static_cast<std::size_t>(rank)] = grid.count(rank);
    return contiguous(counts);
  }
  Layout layout;
  layout.grid_ = grid;
  layout.element_count_ = grid.element_count();
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
      if (layout.intervals_.size() > layout.first_.back() && layout.intervals_.back().end == interval.begin)
        layout.intervals_.back().end = interval.end;
      else
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
  for (const Rank rank : ranks) all.push_back(intervals(rank));
  return lists(all);
}

std::span<const Interval> Layout::listed(Rank rank) const noexcept {
  const auto i = static_cast<std::size_t>(rank);
  return std::span(intervals_).subspan(first_[i], first_[i + 1] - first_[i]);
}

std::vector<Interval> Layout::intervals(Rank rank) const {
  std::vector<Interval> held;
  if (grid_) {
    grid_->list(rank, held);
  } else if (shares_) {
    if (shares_->count(rank) > 0) held.push_back(shares_->rows(rank, rank + 1));
  } else {
    held.assign(listed(rank).begin(), listed(rank).end());
  }
  return held;
}

Count Layout::local_count(Rank rank) const noexcept {
  if (grid_) return grid_->count(rank);
  if (shares_) return shares_->count(rank);
  Count count = 0;
  for (const Interval interval : listed(rank)) count += interval.size();
  return count;
}

Rank Layout::rank_count() const noexcept {
  if (grid_) return grid_->rank_count();
  return shares_ ? shares_->rank_count() : static_cast<Rank>(first_.size()) - 1;
}

Index Layout::start(Rank rank) const noexcept {
  if (shares_) return shares_->start(rank);
  const std::size_t first = first_[static_cast<std::size_t>(rank)];
  return first < intervals_.size() ? intervals_[first].begin : element_count_;
}

/// Returns the rank that holds an interval of the table.
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
  // Number of ranks after the last rank, counted from rank 0 again.
  const Rank beyond = std::max(range.first - rank_count() + range.count, 0);
  add(0, beyond);
  add(range.first, range.first + range.count - beyond);
  return rows;
}

IntervalSet Layout::rows_of_grid(RankRange range) const {
  // Number of ranks after the last rank, counted from rank 0 again.
  const Rank beyond = std::max(range.first - rank_count() + range.count, 0);
  IntervalSet rows;
  IntervalSet wrapped;
  grid_->visit(range.first, range.first + range.count - beyond, [&](Interval interval) { rows.add(interval); });
  grid_->visit(0, beyond, [&](Interval interval) { wrapped.add(interval); });
  if (beyond > 0) rows.add(wrapped);
  return rows;
}

IntervalSet Layout::rows(RankRange range) const {
  if (in_rank_order_) return rows_in_order(range);
  if (grid_) return rows_of_grid(range);
  std::vector<Interval> held;
  for (Rank i = 0; i < range.count; ++i) {
    const auto of_rank = listed((range.first + i) % rank_count());
    held.insert(held.end(), of_rank.begin(), of_rank.end());
  }
  std::sort(held.begin(), held.end());
  IntervalSet rows;
  for (const Interval interval : held) rows.add(interval);
  return rows;
}

std::optional<Layout::Fault> Layout::fault() const {
  if (in_rank_order_ || grid_) return std::nullopt;
  std::vector<std::size_t> ascending(intervals_.size());
  std::iota(ascending.begin(), ascending.end(), std::size_t{0});
  std::ranges::sort(ascending, {}, [&](std::size_t i) { return intervals_[i]; });
  Index covered = 0;
  std::size_t last = 0;  // index of the last interval that ends at `covered`
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
