// Layouts, which say which elements of the whole job a rank holds. Included by options.hpp.
#pragma once

#if __cplusplus < 201703L
#error "Steadfold needs C++17 (the compiler is set to an older C++), compile with -std=c++17 or a later one"
#else

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "steadfold/steadfold.h"

namespace steadfold {

/// A range of indices of the whole job: begin, ..., end - 1.
using Interval = sf_interval;
/// Says how the indices of one axis are distributed over the ranks along the axis; see steadfold.h.
using GridAxis = sf_grid_axis;

namespace detail {
/// The indices of a rank's elements if all elements are in rank order.
struct RankOrder {
  Interval mine{};
  std::uint64_t element_count = 0;
};

/// Finds the group of an object that has one, and the index of a rank's first row in the group. Specialised for groups
/// in communicator.hpp, for workers in team.hpp, for MPI communicators in mpi.hpp.
template <class C, class = void>
struct GroupOf;

/// Converts a root for the C interface. In the C interface -1 is SF_ALL_RANKS. In C++ -1, like every negative number,
/// is not a rank and must be refused; it is converted to INT32_MIN, which the library shows as -1.
inline std::int32_t root_of(const std::optional<int>& root) {
  if (!root) return SF_ALL_RANKS;
  return *root == SF_ALL_RANKS ? std::numeric_limits<std::int32_t>::min() : *root;
}

}  // namespace detail

/// Says which elements of the whole job this rank holds. Method `exact` needs no layout.
class Layout {
 public:
  /// Makes an unspecified layout, for methods that need none. Method `tree` then uses rank order, and finds the ranks'
  /// first indices in each call.
  Layout() = default;

  /// Makes the layout in rank order: this rank has `rows` elements, which follow the elements of the lower ranks. Every
  /// rank of `communicator` makes this call.
  template <class C, class = decltype(detail::GroupOf<C>::group(std::declval<const C&>()))>
  static Layout contiguous(std::uint64_t rows, const C& communicator) {
    const detail::RankOrder found = detail::GroupOf<C>::rank_order(rows, detail::GroupOf<C>::group(communicator));
    return intervals({found.mine}, found.element_count);
  }

  /// Makes the layout of intervals: this rank has the elements of `mine`, in the order of its memory. All ranks
  /// together must cover 0..N-1 exactly once.
  static Layout intervals(std::vector<Interval> mine, std::uint64_t element_count = SF_UNKNOWN) {
    Layout layout;
    layout.kind_ = SF_INTERVALS;
    layout.intervals_ = std::move(mine);
    layout.element_count_ = element_count;
    return layout;
  }

  /// Makes ScaLAPACK's block-cyclic distribution of `element_count` elements: `first_rank` gets the first block of
  /// `block` elements, the next rank the next block, and so on; after the last rank comes rank 0. The ranks exchange
  /// nothing about the layout.
  static Layout block_cyclic(std::uint64_t element_count, std::uint64_t block, std::uint64_t first_rank = 0) {
    const GridAxis axis[] = {{element_count, 0, block, first_rank}};
    return grid(axis);
  }

  /// Makes the layout of an array of one to three axes, cut into one block for each rank of a grid. Along an axis of
  /// extent n with p ranks, the first n % p ranks have one index more. Array indices, the ranks, and a rank's own
  /// elements are in C order, as MPI_Cart_create numbers ranks: the last axis varies fastest. One entry of `ranks` may
  /// be 0; it follows from the others and the number of ranks.
  template <class N, class P, std::size_t axes>
  static Layout blocks(const N (&extents)[axes], const P (&ranks)[axes]) {
    static_assert(std::is_integral_v<N> && std::is_integral_v<P>, "extents and numbers of ranks must be integers");
    GridAxis all[axes] = {};
    for (std::size_t i = 0; i < axes; ++i)
      all[i] = {static_cast<std::uint64_t>(extents[i]), static_cast<std::uint64_t>(ranks[i]), 0, 0};
    return grid(all);
  }

  /// Makes the block-cyclic layout of an array: along every axis, blocks of any size go to the ranks in turn, as
  /// ScaLAPACK distributes matrices.
  template <std::size_t axes>
  static Layout grid(const GridAxis (&all)[axes]) {
    static_assert(axes <= SF_MOST_GRID_AXES, "a grid has one to three axes");
    Layout layout;
    layout.kind_ = SF_GRID;
    layout.grid_.axis_count = axes;
    std::copy(all, all + axes, layout.grid_.axes);
    return layout;
  }

  void describe(sf_call& call) const noexcept {
    call.layout = kind_;
    call.grid = kind_ == SF_GRID ? &grid_ : nullptr;
    call.element_count = element_count_;
    call.intervals = intervals_.data();
    call.interval_count = intervals_.size();
  }

 private:
  sf_layout kind_ = SF_ANYWHERE;
  std::vector<Interval> intervals_;
  sf_grid grid_{};
  std::uint64_t element_count_ = SF_UNKNOWN;
};

}  // namespace steadfold

#endif
