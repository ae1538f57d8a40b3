// K-nomial: partials go up a k-nomial tree over the ranks, counted from the root. For allreduce the values go down
// again. With k = 2 it is the binomial tree, which also serves scans: sums of subtrees go up, and the sum of all ranks
// before a rank goes down to it.
// Rank order: kept for root 0 and for allreduce. Otherwise the order is cyclic, starting at the root.
// Cost: (k-1) ceil(log_k p)(alpha + n beta + n gamma). Allreduce adds as many (alpha + n beta). A scan takes at most 2
// log2(p) alpha.
// Source: Balaji & Kimpe, section III.A (MPICH's reduce). End et al. call the tree "BST". MPICH has k-nomial trees,
// too.
#include <algorithm>
#include <bit>

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/scatter.hpp"
#include "schedule/algorithms/tree_cost.hpp"
#include "schedule/make_step.hpp"

namespace steadfold::schedule::algorithms {
namespace {

constexpr Rank most_children = 64;  // largest number of children per level, including the rank itself

Rank base_of(const Context& c) { return c.spec ? static_cast<Rank>(number_of(*c.spec, "k", 4, 2, most_children)) : 4; }

// The rank at distance `position` from the root, in the tree. Write positions to the base k. A child's position
// replaces one zero below the lowest non-zero digit of its parent's position by another digit. Child i changes digit i
// / (k-1).
class KnomialRank {
 public:
  KnomialRank(const Context& c, Rank base)
      : rank_(c.rank),
        rank_count_(c.rank_count),
        root_(c.rooted() ? c.root : 0),
        base_(base),
        position_((c.rank - root_ + c.rank_count) % c.rank_count) {
    const Index end = position_ == 0 ? static_cast<Index>(rank_count_) : lowest_power();
    while (offset(children_) < end && static_cast<Index>(position_) + offset(children_) < at_most()) ++children_;
  }

  bool is_root() const { return position_ == 0; }
  int children() const { return children_; }
  Rank child(int i) const { return rank_at(position_ + static_cast<Rank>(offset(i))); }
  Rank parent() const { return rank_at(position_ - lowest_digit() * static_cast<Rank>(lowest_power())); }
  // Returns the number of this rank among its parent's children.
  int number() const {
    int level = 0;
    for (Index power = 1; power < lowest_power(); power *= static_cast<Index>(base_)) ++level;
    return level * (base_ - 1) + lowest_digit() - 1;
  }

  // Returns the ranks of this rank's subtree that come before child i's subtree.
  RankRange merged(int i) const { return {rank_, static_cast<Rank>(std::min(offset(i), behind(0)))}; }
  RankRange child_covers(int i) const {
    return {child(i), static_cast<Rank>(std::min(power_of(i / (base_ - 1)), behind(offset(i))))};
  }

 private:
  Index at_most() const { return static_cast<Index>(rank_count_); }
  Index behind(Index offset) const { return at_most() - static_cast<Index>(position_) - offset; }
  Rank rank_at(Rank at) const { return (at + root_) % rank_count_; }
  Index power_of(int level) const {
    Index power = 1;
    for (int i = 0; i < level; ++i) power *= static_cast<Index>(base_);
    return power;
  }
  Index offset(int i) const { return static_cast<Index>(i % (base_ - 1) + 1) * power_of(i / (base_ - 1)); }
  Index lowest_power() const {
    Index power = 1;
    while (static_cast<Index>(position_) / power % static_cast<Index>(base_) == 0) power *= static_cast<Index>(base_);
    return power;
  }
  Rank lowest_digit() const { return position_ / static_cast<Rank>(lowest_power()) % base_; }

  Rank rank_;
  Rank rank_count_;
  Rank root_;
  Rank base_;
  Rank position_;
  int children_ = 0;
};

// Returns the slot, 0 or 1, that a child uses. The slots alternate, so that one receive is posted while the message
// before it is merged, and no merge overwrites its operands.
int turn(int child) { return child % 2; }

// Receives and merges child by child, all segments of one child before the next child.
Steps run(Context c, KnomialRank at) {
  const int last = at.children();
  for (int i = 0; i <= last; ++i) {
    for (std::uint32_t s = 0; s < c.segments; ++s) {
      const Slot sum = partial(turn(i), s);
      if (i < last) co_yield make::receive(at.child(i), landing(turn(i), s), at.child_covers(i));
      if (i == 0) {
        co_yield make::lift(sum, c.rank);
      } else {
        const int before = turn(i - 1);
        co_yield make::merge(sum, partial(before, s), landing(before, s), at.merged(i));
      }
      if (i < last) continue;
      if (!at.is_root()) {
        co_yield make::send(at.parent(), sum, landing(turn(at.number()), s));
        continue;
      }
      co_yield make::finish(value(0, s), sum);
      if (!c.rooted() && last > 0) co_yield make::send(at.child(last - 1), value(0, s), landing_value(0, s));
    }
  }
  if (c.rooted()) co_return;

  for (std::uint32_t s = 0; s < c.segments && !at.is_root(); ++s)
    co_yield make::receive(at.parent(), landing_value(0, s));
  for (int i = at.is_root() ? last - 2 : last - 1; i >= 0; --i) {
    for (std::uint32_t s = 0; s < c.segments; ++s)
      co_yield make::send(at.child(i), at.is_root() ? value(0, s) : landing_value(0, s), landing_value(0, s));
  }
  for (std::uint32_t s = 0; s < c.segments && !at.is_root(); ++s) co_yield make::copy(value(0, s), landing_value(0, s));
}

// Makes the steps of a scan. A rank whose number ends in z zero bits is the top of a subtree of 2^z ranks and the first
// of them. Partial k is the sum of the first 2^k ranks of the subtree. Partial `before` + k is the sum of all ranks
// before child k. Sums that include the last rank are not needed.
Steps knomial_scan(Context c) {
  constexpr int before = 32;
  const auto index = static_cast<Count>(c.rank);
  const auto ranks = c.ranks();
  const int level = c.rank == 0 ? order::ceil_log2(ranks) : order::max_level(index);
  const int children = std::min(level, order::ceil_log2(ranks - index));
  const auto child = [&](int k) { return c.rank + (Rank{1} << k); };
  // Whether child k sends its partial to this rank.
  const auto sends = [&](int k) { return child(k) + (Rank{1} << k) < c.rank_count; };
  const bool is_exclusive = c.collective == Collective::exscan;
  const Slot ahead = landing(before);

  for (int k = 0; k < children && sends(k); ++k) co_yield make::receive(child(k), landing(k), {child(k), Rank{1} << k});
  if (c.rank > 0) co_yield make::receive(c.rank - (Rank{1} << level), ahead, {0, c.rank});
  if (children > 0 || !is_exclusive || c.rank + (Rank{1} << level) < c.rank_count)
    co_yield make::lift(partial(0), c.rank);
  for (int k = 0; k < children; ++k) {
    if (c.rank == 0) co_yield make::send(child(k), partial(k), landing(before));
    if (sends(k)) co_yield make::merge(partial(k + 1), partial(k), landing(k), {c.rank, Rank{2} << k});
  }
  if (c.rank == 0) {
    if (!is_exclusive) co_yield make::finish(value(), partial(0), {0, 1});
    co_return;
  }
  if (c.rank + (Rank{1} << level) < c.rank_count)
    co_yield make::send(c.rank - (Rank{1} << level), partial(level), landing(level));
  for (int k = children - 1; k >= 0; --k) {
    co_yield make::merge(partial(before + k), ahead, partial(k), {0, child(k)});
    co_yield make::send(child(k), partial(before + k), landing(before));
  }
  if (is_exclusive) {
    co_yield make::finish(value(), ahead, {0, c.rank});
  } else {
    if (children == 0) co_yield make::merge(partial(before), ahead, partial(0), {0, c.rank + 1});
    co_yield make::finish(value(), partial(before), {0, c.rank + 1});
  }
}

// Returns the number of the root's children. The root has k-1 children on every level except the last.
Count root_children(const Context& c, Count base) {
  const auto ranks = c.ranks();
  Count children = 0;
  Count power = 1;
  for (; power * base < ranks; power *= base) children += base - 1;
  return children + (ranks - 1) / power;
}

// Returns the rounds. The root receives all segments of one child before the segments of the next child. On the way
// back, the values of segment 0 leave after the last child's first message. Again the root sends all segments to one
// child before the next.
Count rounds(const Context& c, Count base) {
  if (c.rank_count == 1) return 0;
  const Count children = root_children(c, base);
  return c.rooted() ? children * c.segments : (2 * children - 1) * c.segments + 1;
}

void check_knomial(const Spec& spec) { number_of(spec, "k", 4, 2, most_children); }

Steps binomial(Context c) {
  if (c.is_scan()) return for_all_segments(knomial_scan(c), c.segments);
  if (c.scatters()) return reduce_then_scatter(c, binomial);
  return run(c, KnomialRank(c, 2));
}
Steps knomial(Context c) {
  if (c.scatters()) return reduce_then_scatter(c, knomial);
  return run(c, KnomialRank(c, base_of(c)));
}

// Returns the rounds of a scan: the longest path goes to the last rank, or up and down the largest complete subtree
// below rank 0.
Count scan_rounds(Context c) {
  if (c.rank_count == 1) return 0;
  const auto ranks = c.ranks();
  const int top = order::floor_log2(ranks - 1);
  const int last = top + 1 + order::ceil_log2(ranks - (Count{1} << top));
  return static_cast<Count>(std::max(last, 2 * top - 1));
}

Count binomial_rounds(Context c) {
  if (c.is_scan()) return scan_rounds(c);
  if (c.scatters()) return binomial_rounds(reduce_before_scatter(c)) + scatter_rounds(c);
  return rounds(c, 2);
}
Count knomial_rounds(Context c) {
  if (c.scatters()) return knomial_rounds(reduce_before_scatter(c)) + scatter_rounds(c);
  return rounds(c, static_cast<Count>(base_of(c)));
}

// Returns the number of messages. A scan sends one message down to every rank but 0, and one message up from each rank
// whose subtree has ranks behind it.
Count binomial_messages(Context c) {
  const Count others = c.ranks() - 1;
  return c.is_scan() ? 2 * others - static_cast<Count>(std::popcount(others)) : tree_messages(c);
}

Count binomial_partials(Context c) { return c.is_scan() ? binomial_messages(c) * c.segments : tree_partials(c); }

constexpr std::array<std::string_view, 1> knomial_parameters = {"k"};
constexpr std::array<std::string_view, 3> knomial_examples = {"k=2", "k=3", "k=8"};

}  // namespace

constexpr Algorithm binomial_algorithm = {
    .name = "binomial",
    .sentence = "partial results go up a binomial tree of ranks; for allreduce the result goes down again",
    .collectives = reductions | scans,
    .keeps_rank_order = KeepsRankOrder::root_zero,
    .same_on_all_ranks = SameOnAllRanks::yes,
    .restrictions = "method plain with a non-commutative operator: only root 0 or allreduce",
    .parameters = {},
    .source = "S3",
    .steps = binomial,
    .messages = binomial_messages,
    .rounds = binomial_rounds,
    .partial_messages = binomial_partials,
};

constexpr Algorithm knomial_algorithm = {
    .name = "knomial",
    .sentence =
        "partial results go up a k-nomial tree of ranks, with k-1 children per level; for allreduce the result goes "
        "down again",
    .collectives = reductions,
    .keeps_rank_order = KeepsRankOrder::root_zero,
    .same_on_all_ranks = SameOnAllRanks::yes,
    .restrictions = "method plain with a non-commutative operator: only root 0 or allreduce",
    .parameters = knomial_parameters,
    .source = "S4",
    .steps = knomial,
    .messages = tree_messages,
    .rounds = knomial_rounds,
    .partial_messages = tree_partials,
    .check_parameters = check_knomial,
    .examples = knomial_examples,
};

}  // namespace steadfold::schedule::algorithms
