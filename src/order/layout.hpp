// A layout says which rank holds which elements: the intervals of every rank, in the order of its memory.
// Rank order: contiguous layouts follow it; grids and interval lists need not. Cost: 8 bytes per rank or 16 bytes per
// interval; no table if the starts have a closed form or the layout is a grid. Source: Stelz 2022, section 1.2 and eq.
// 3.2-3.4, extended to any list of intervals.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "order/grid.hpp"
#include "order/message.hpp"
#include "order/starts.hpp"

namespace steadfold::order {

/// Consecutive ranks first, first + 1, ..., modulo the rank count: after the last rank comes rank 0.
struct RankRange {
  Rank first = 0;
  Rank count = 0;

  friend constexpr bool operator==(const RankRange&, const RankRange&) = default;
};

/// The intervals of all ranks of a job. The table is the same on every rank.
class Layout {
 public:
  /// Makes the layout in which rank i holds counts[i] elements, in rank order.
  static Layout contiguous(std::span<const Count> counts);

  /// Makes the layout in which ranks hold these shares, in rank order. The layout keeps the closed form, not a table.
  static Layout contiguous(const TwoShares& shares);

  /// Makes the layout of a grid, which must be resolved and have no fault. The layout keeps no lists.
  static Layout of(const Grid& grid);

  /// Makes the layout in which rank i holds lists[i]; intervals that touch are joined. Lists that overlap or leave gaps
  /// are accepted; `fault` reports them.
  static Layout lists(std::span<const std::vector<Interval>> lists);

  /// Returns the layout in which rank i holds the elements that rank ranks[i] holds in this layout. `ranks` has every
  /// rank once. Makes lists.
  Layout reordered(std::span<const Rank> ranks) const;

  Rank rank_count() const noexcept;
  Count element_count() const noexcept { return element_count_; }

  /// Returns the non-empty intervals of one rank, in the order of its memory. Cost: O(intervals).
  std::vector<Interval> intervals(Rank rank) const;
  Count local_count(Rank rank) const noexcept;

  /// Whether the elements of ranks 0, 1, ... are contiguous and ascending, starting at index 0. Some ranks may have no
  /// elements.
  bool in_rank_order() const noexcept { return in_rank_order_; }
  /// start() returns the index at which a rank's elements begin (Stelz 2022, eq. 3.3); for the rank count it returns
  /// the element count. owner() returns the rank that holds an element (eq. 3.4). Only for layouts in rank order. Cost:
  /// O(1), or O(log p) with a table.
  Index start(Rank rank) const noexcept;
  Rank owner(Index index) const noexcept;

  /// Returns all rows that the ranks of `range` hold. The layout must have no fault. Cost: O(1) if it is in rank order.
  IntervalSet rows(RankRange range) const;

  /// The reason why the lists do not cover 0..N-1 exactly once.
  struct Fault {
    Status status;     // Status::gap or Status::overlap
    std::string text;  // describes the first wrong indices and, for an overlap, the ranks
  };
  /// Returns the first fault, or `nullopt` if the lists cover 0..N-1 exactly once.
  std::optional<Fault> fault() const;

  friend bool operator==(const Layout&, const Layout&) = default;

 private:
  IntervalSet rows_in_order(RankRange range) const;
  IntervalSet rows_of_grid(RankRange range) const;
  std::span<const Interval> listed(Rank rank) const noexcept;
  Rank rank_of(std::size_t interval) const noexcept;

  std::optional<TwoShares> shares_;  // if set, used instead of the table of intervals
  std::optional<Grid> grid_;         // if set, used instead of the table of intervals
  std::vector<Interval> intervals_;
  // By rank: index in intervals_ of the rank's first interval; then the number of intervals.
  std::vector<std::size_t> first_ = {0};
  Count element_count_ = 0;
  bool in_rank_order_ = false;  // whether intervals ascend from rank to rank and touch
};

}  // namespace steadfold::order
