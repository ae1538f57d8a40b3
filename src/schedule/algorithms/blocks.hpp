// Blocks of segments, one block per rank, for schedules that reduce each block on a different rank.
// Cost: O(1).
#pragma once

#include <algorithm>

#include "schedule/make_step.hpp"

namespace steadfold::schedule {

/// Says which segments each rank owns after the reduction. Uses the blocks of the context, if the context has blocks.
/// Otherwise all blocks are as equal as possible, and the first is the root's (rank 0's if all ranks get the value). A
/// block may be empty.
class Blocks {
 public:
  explicit Blocks(const Context& c)
      : rank_(c.rank),
        rank_count_(c.rank_count),
        root_(c.rooted() ? c.root : 0),
        segments_(c.segments),
        given_(c.blocks) {}

  /// Returns the rank `distance` places ahead of this rank, cyclically.
  Rank ahead(Rank distance) const {
    const Rank rank = (rank_ + distance) % rank_count_;
    return rank < 0 ? rank + rank_count_ : rank;
  }
  std::uint32_t begin(Rank owner) const { return given_.empty() ? first(block_of(owner)) : given(owner); }
  std::uint32_t end(Rank owner) const { return given_.empty() ? first(block_of(owner) + 1) : given(owner + 1); }

 private:
  std::uint32_t given(Rank owner) const { return given_[static_cast<std::size_t>(owner)]; }
  Rank block_of(Rank owner) const { return (owner - root_ + rank_count_) % rank_count_; }
  std::uint32_t first(Rank block) const {
    const auto ranks = static_cast<Count>(rank_count_);
    return static_cast<std::uint32_t>((static_cast<Count>(block) * segments_ + ranks - 1) / ranks);
  }

  Rank rank_;
  Rank rank_count_;
  Rank root_;
  std::uint32_t segments_;
  std::span<const std::uint32_t> given_;
};

/// Returns the number of segments in each block. If there are fewer columns than ranks, there is one segment, owned by
/// the root.
constexpr Count segments_of_a_block(Context c) { return std::max(c.segments / c.ranks(), Count{1}); }

/// Return the numbers of messages and rounds if every rank except a segment's owner sends one partial of the segment,
/// and later receives its value. For reduce only the root receives values, of the segments that it does not own.
constexpr Count block_partials(Context c) { return (c.ranks() - 1) * c.segments; }
constexpr Count block_messages(Context c) {
  if (c.scatters()) return block_partials(c);
  return block_partials(c) + (c.rooted() ? c.segments - segments_of_a_block(c) : block_partials(c));
}
constexpr Count block_rounds(Context c) {
  const bool one_way = c.scatters() || (c.rooted() && c.segments == 1);
  return (c.ranks() - 1) * segments_of_a_block(c) * (one_way ? 1 : 2);
}

/// Makes the steps that send `value(1, s)` of every block from its owner directly to the root.
inline Steps gather_at_root(Context c) {
  const Blocks blocks(c);
  if (c.rank != c.root) {
    for (std::uint32_t s = blocks.begin(c.rank); s < blocks.end(c.rank); ++s)
      co_yield make::send(c.root, value(1, s), landing_value(0, s));
    co_return;
  }
  for (Rank distance = 1; distance < c.rank_count; ++distance) {
    const Rank owner = blocks.ahead(-distance);
    for (std::uint32_t s = blocks.begin(owner); s < blocks.end(owner); ++s)
      co_yield make::receive(owner, landing_value(0, s));
  }
  for (Rank distance = 1; distance < c.rank_count; ++distance) {
    const Rank owner = blocks.ahead(-distance);
    for (std::uint32_t s = blocks.begin(owner); s < blocks.end(owner); ++s)
      co_yield make::copy(value(0, s), landing_value(0, s));
  }
}

}  // namespace steadfold::schedule
