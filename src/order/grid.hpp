// Rules by which the elements of an array are dealt to ranks: along every axis in blocks, to a grid of ranks.
// Rank order: kept by one block for each rank along the first axis, else not. Cost: 96 bytes for any number of ranks;
// listing what some ranks hold takes O(their intervals). Source: the block-cyclic distribution of ScaLAPACK (Users'
// Guide, 1997, section 4.3.1), along several axes; blocks in a grid as MPI_Cart_create numbers it.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "order/interval.hpp"

namespace steadfold::order {

/// How the indices of one axis are dealt to the ranks along it: in blocks, one after the other, to rank `first` and
/// those behind it, and round again.
struct GridAxis {
  Count extent = 1;
  Count ranks = 1;
  Count block = 0;  // indices in it; 0: one block for each rank, the first extent % ranks of them one larger
  Count first = 0;

  Count block_count() const noexcept { return block == 0 ? ranks : extent / block + (extent % block > 0 ? 1 : 0); }
  /// The indices of block `b`, counted from 0.
  Interval indices(Count b) const noexcept;
  /// How many indices one of the ranks along the axis holds.
  Count count(Count rank) const noexcept;

  /// Calls `visit(rank, indices)` for the blocks of ranks begin, ..., end - 1 along the axis, in ascending order.
  template <class Visit>
  void visit_blocks(Count begin, Count end, Visit visit) const;

  friend bool operator==(const GridAxis&, const GridAxis&) = default;
};

/// The last axis is the fastest, for elements as for ranks: those of an array of fewer axes are the last ones here.
/// Element (i, j, k) has index (i * extent[1] + j) * extent[2] + k, rank (a, b, c) is rank (a * ranks[1] + b) *
/// ranks[2] + c. A rank's elements stand in ascending order. What is asked below is asked of a grid without `fault`,
/// and of one that is `resolved`.
struct Grid {
  std::array<GridAxis, 3> axes;

  /// This grid with every number of ranks filled in: one that is 0 becomes what the others leave of `rank_count`.
  Grid resolved(Rank rank_count) const noexcept;
  /// Why so many ranks cannot hold this; "problem (why), suggestion".
  std::optional<std::string> fault(Rank rank_count) const;

  /// For people: "100 x 30 elements on 2 x 2 ranks in blocks of 8 x 4".
  std::string text() const;

  Rank rank_count() const noexcept { return static_cast<Rank>(ranks_from(0)); }
  Count element_count() const noexcept { return extent_from(0); }
  Count count(Rank rank) const noexcept;
  /// Whether the elements of ranks 0, 1, ... follow each other.
  bool in_rank_order() const noexcept;

  /// Calls `visit(interval)` for what ranks begin, ..., end - 1 hold, in ascending order; intervals may touch.
  template <class Visit>
  void visit(Rank begin, Rank end, Visit visit) const {
    if (begin < end) visit_from(0, 0, static_cast<Count>(begin), static_cast<Count>(end), visit);
  }
  /// What one rank holds, touching intervals joined: into `out`, in place of what is there.
  void list(Rank rank, std::vector<Interval>& out) const;

  friend bool operator==(const Grid&, const Grid&) = default;

 private:
  Count ranks_from(std::size_t axis) const noexcept;
  Count extent_from(std::size_t axis) const noexcept;
  template <class Visit>
  void visit_from(std::size_t axis, Index base, Count begin, Count end, Visit& visit) const;
};

/// Block b goes to the rank at place b % ranks of a round, in which rank `first` is at place 0.
template <class Visit>
void GridAxis::visit_blocks(Count begin, Count end, Visit visit) const {
  const Count blocks = block_count();
  const Count behind = std::max(begin, std::min(end, first));  // ranks begin to behind - 1 have the last places
  for (Count round = 0; round < blocks; round += ranks) {
    for (Count rank = behind; rank < end && round + (rank - first) < blocks; ++rank)
      visit(rank, indices(round + (rank - first)));
    for (Count rank = begin; rank < behind && round + (ranks - first + rank) < blocks; ++rank)
      visit(rank, indices(round + (ranks - first + rank)));
  }
}

/// Of the part of the array that begins at element `base` and has the axes from `axis` on.
template <class Visit>
void Grid::visit_from(std::size_t axis, Index base, Count begin, Count end, Visit& visit) const {
  if (begin == 0 && end == ranks_from(axis)) return visit(Interval{base, base + extent_from(axis)});
  const Count ranks = ranks_from(axis + 1);
  const Count extent = extent_from(axis + 1);
  axes[axis].visit_blocks(begin / ranks, (end + ranks - 1) / ranks, [&](Count rank, Interval indices) {
    const Count inner_begin = begin > rank * ranks ? begin - rank * ranks : 0;
    const Count inner_end = std::min(end - rank * ranks, ranks);
    if (inner_begin == 0 && inner_end == ranks)
      return visit(Interval{base + indices.begin * extent, base + indices.end * extent});
    for (Index i = indices.begin; i < indices.end; ++i)
      visit_from(axis + 1, base + i * extent, inner_begin, inner_end, visit);
  });
}

}  // namespace steadfold::order
