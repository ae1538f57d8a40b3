// Binary trees of ranks in in-order numbering: first the left subtree's ranks, then the node itself, then the right
// subtree's ranks.
// Rank order: kept by construction. Cost: O(log p) to find a position.
// Source: textbook. The trees of Gruber & Freinberger, section 3.1, are numbered level by level, which keeps no order.
#pragma once

#include "schedule/step.hpp"

namespace steadfold::schedule {

/// The position of a rank in the tree. Its children are the tops of the ranks below and above it in its subtree.
struct InOrderPosition {
  Rank parent = -1;
  bool is_below = false;  // whether this rank is in its parent's left subtree
  RankRange left;
  RankRange right;

  RankRange subtree() const { return {left.first, left.count + 1 + right.count}; }
};

/// Returns the top of a subtree of consecutive ranks. The right half may be larger by one, so that its messages need
/// not wait for messages from the left half.
constexpr Rank top_of(RankRange run) noexcept { return run.first + (run.count - 1) / 2; }

/// Returns the position of `rank` in the tree over 0..p-1 whose top is `top`. All subtrees below are as balanced as
/// possible.
constexpr InOrderPosition in_order_position(Rank rank, Rank rank_count, Rank top) noexcept {
  InOrderPosition position{.left = {0, top}, .right = {top + 1, rank_count - 1 - top}};
  for (Rank at = top; at != rank;) {
    const bool below = rank < at;
    const RankRange run = below ? position.left : position.right;
    const Rank next = top_of(run);
    position = {.parent = at,
                .is_below = below,
                .left = {run.first, next - run.first},
                .right = {next + 1, run.first + run.count - 1 - next}};
    at = next;
  }
  return position;
}

}  // namespace steadfold::schedule
