// Binomial: partials climb a binomial tree over the ranks counted from the root; for allreduce values descend it.
// Rank order: kept for root 0 (and allreduce), cyclic from the root otherwise.
// Cost: ceil(log2 p)(alpha + n beta + n gamma); allreduce adds ceil(log2 p)(alpha + n beta).
// Source: [S3] section III.A (MPICH's reduce); the tree of [S4]'s "BST".
#include <algorithm>

#include "schedule/algorithms.hpp"
#include "schedule/make_step.hpp"

namespace steadfold::schedule::algorithm {
namespace {

// A rank's place: position v counts from the root; its child at level k is v + 2^k and brings at most 2^k ranks.
struct Place {
  Rank rank;
  Rank rank_count;
  Rank root;
  Rank position;
  int children;

  Place(Context c, Rank tree_root)
      : rank(c.rank), rank_count(c.rank_count), root(tree_root), position((rank - root + rank_count) % rank_count) {
    const auto index = static_cast<Count>(position);
    children = std::min(order::max_level(index), order::ceil_log2(static_cast<Count>(rank_count) - index));
  }

  Rank rank_at(Rank at) const { return (at + root) % rank_count; }
  Rank child(int level) const { return rank_at(position + (Rank{1} << level)); }
  Rank parent() const { return rank_at(static_cast<Rank>(order::parent(static_cast<Count>(position)))); }

  // Of the subtree that holds this rank and its children below `level`.
  RankRange merged(int level) const { return {rank, std::min(Rank{1} << level, rank_count - position)}; }
  RankRange child_covers(int level) const {
    const Rank before = Rank{1} << level;
    return {child(level), std::min(before, rank_count - position - before)};
  }
};

// Which of two slots a level uses: they take turns, so that a receive is open while the one before is merged, and no
// merge writes over its operands.
int turn(int level) { return level % 2; }

// Level by level, all segments of one level after the other.
Steps run(Context c, Place at) {
  const int top = at.children;
  for (int level = 0; level <= top; ++level) {
    for (std::uint32_t s = 0; s < c.segments; ++s) {
      const Slot sum = partial(turn(level), s);
      if (level < top) co_yield make::receive(at.child(level), landing(turn(level), s), at.child_covers(level));
      if (level == 0) {
        co_yield make::lift(sum, c.rank);
      } else {
        const int below = turn(level - 1);
        co_yield make::merge(sum, partial(below, s), landing(below, s), at.merged(level));
      }
      if (level < top) continue;
      if (at.position > 0) {
        // The level at which the parent takes it in is that of this position's lowest bit.
        const int level_above = order::max_level(static_cast<Count>(at.position));
        co_yield make::send(at.parent(), sum, landing(turn(level_above), s));
        continue;
      }
      co_yield make::finish(value(0, s), sum);
      if (!c.rooted && top > 0) co_yield make::send(at.child(top - 1), value(0, s), landing_value(0, s));
    }
  }
  if (c.rooted) co_return;

  const bool is_root = at.position == 0;
  for (std::uint32_t s = 0; s < c.segments && !is_root; ++s) co_yield make::receive(at.parent(), landing_value(0, s));
  for (int level = is_root ? top - 2 : top - 1; level >= 0; --level) {
    for (std::uint32_t s = 0; s < c.segments; ++s) {
      co_yield make::send(at.child(level), is_root ? value(0, s) : landing_value(0, s), landing_value(0, s));
    }
  }
  for (std::uint32_t s = 0; s < c.segments && !is_root; ++s) co_yield make::copy(value(0, s), landing_value(0, s));
}

}  // namespace

Steps binomial(Context c) { return run(c, Place(c, c.rooted ? c.root : 0)); }

}  // namespace steadfold::schedule::algorithm
