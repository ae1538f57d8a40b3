// Rules that distribute the elements of an array to a grid of ranks, in blocks along every axis.
// Rank order: kept by some grids, see in_rank_order(). Cost: 96 bytes for any number of ranks; listing the intervals of
// n ranks takes time in proportion to their number of intervals.
// Source: the block-cyclic distribution of ScaLAPACK (Users' Guide, 1997, section 4.3.1), along several axes; ranks are
// numbered as in MPI_Cart_create.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "order/interval.hpp"

namespace steadfold::order {

/// The distribution of one axis: rank `first` gets the first block, the next rank the next block, and so on; after the
/// last rank comes rank 0.
struct GridAxis {
  Count extent = 1;
  Count ranks = 1;
  // Number of indices per block; 0: one block per rank, where the first extent % ranks blocks are one index larger.
  Count block = 0;
  Count first = 0;

  Count block_count() const noexcept { return block == 0 ? ranks : extent / block + (extent % block > 0 ? 1 : 0); }
  /// Returns the indices of block `b`, counted from 0.
  Interval indices(Count b) const noexcept;
  /// Returns the number of indices that a rank along the axis holds.
  Count count(Count rank) const noexcept;

  /// Calls `visit(rank, indices)` for the blocks of ranks begin, ..., end - 1 along the axis, in ascending order.
  template <class Visit>
  void visit_blocks(Count begin, Count end, Visit visit) const;

  friend bool operator==(const GridAxis&, const GridAxis&) = default;
};

/// The distribution of an array to a grid of ranks. The last axis varies fastest, for elements and for ranks. An array
/// with fewer axes uses the last axes. Element (i, j, k) has index (i * extent[1] + j) * extent[2] + k. Rank (a, b, c)
/// is rank (a * ranks[1] + b) * ranks[2] + c. A rank's elements are stored in ascending order. All functions except
/// `resolved`, `fault` and `text` need a grid that is `resolved` and has no `fault`.
struct Grid {
  std::array<GridAxis, 3> axes;

  /// Returns this grid with all numbers of ranks known. A number 0 becomes `rank_count` divided by the other numbers.
  Grid resolved(Rank rank_count) const noexcept;
  /// Says why `rank_count` ranks cannot hold this grid, as "problem (why), suggestion".
  std::optional<std::string> fault(Rank rank_count) const;

  /// Describes the grid for people: "100 x 30 elements on 2 x 2 ranks in blocks of 8 x 4".
  std::string text() const;

  Rank rank_count() const noexcept { return static_cast<Rank>(ranks_from(0)); }
  Count element_count() const noexcept { return extent_from(0); }
  Count count(Rank rank) const noexcept;
  /// Whether the elements of ranks 0, 1, ... are contiguous and ascending.
  bool in_rank_order() const noexcept;

  /// Calls `visit(interval)` for the intervals of ranks begin, ..., end - 1, in ascending order; intervals may touch.
  template <class Visit>
  void visit(Rank begin, Rank end, Visit visit) const {
    if (begin < end) visit_from(0, 0, static_cast<Count>(begin), static_cast<Count>(end), visit);
  }
  /// Replaces `out` by the intervals of one rank. Joins intervals that touch.
  void list(Rank rank, std::vector<Interval>& out) const;

  friend bool operator==(const Grid&, const Grid&) = default;

 private:
  Count ranks_from(std::size_t axis) const noexcept;
  Count extent_from(std::size_t axis) const noexcept;
  template <class Visit>
  void visit_from(std::size_t axis, Index base, Count begin, Count end, Visit& visit) const;
};

/// Calls `visit` for the ranks of a round of blocks. Block b goes to the rank at position b % ranks of a round; rank
/// `first` has position 0.
template <class Visit>
void GridAxis::visit_blocks(Count begin, Count end, Visit visit) const {
  const Count blocks = block_count();
  const Count behind = std::max(begin, std::min(end, first));  // ranks `begin` to `behind` - 1 have the last positions
  for (Count round = 0; round < blocks; round += ranks) {
    for (Count rank = behind; rank < end && round + (rank - first) < blocks; ++rank)
      visit(rank, indices(round + (rank - first)));
    for (Count rank = begin; rank < behind && round + (ranks - first + rank) < blocks; ++rank)
      visit(rank, indices(round + (ranks - first + rank)));
  }
}

/// Visits the part of the array that begins at element `base` and has the axes from `axis` on.
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
