// Blocks of segments, one per rank, for schedules that reduce each block on a rank of its own.
// Cost: O(1). Source: ours.
#pragma once

#include "schedule/step.hpp"

namespace steadfold::schedule {

/// Which segments belong to which rank in the end: as the context says, else shares as equal as can be, the first for
/// the root (rank 0 if all ranks get the value). A rank may have none.
class Blocks {
 public:
  explicit Blocks(const Context& c)
      : rank_(c.rank),
        rank_count_(c.rank_count),
        root_(c.rooted() ? c.root : 0),
        segments_(c.segments),
        given_(c.blocks) {}

  /// The rank `distance` ranks ahead of this one, cyclically.
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

}  // namespace steadfold::schedule
