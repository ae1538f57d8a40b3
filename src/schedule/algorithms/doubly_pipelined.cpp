// Doubly pipelined: partials go up two trees, each over half of the ranks, and the two roots exchange their partials.
// At the same time the values of earlier segments go down. The trees are binary or chains, numbered in post-order. With
// `roots=1` there is one tree.
// Rank order: kept. A node merges its left subtree, its right subtree and its own rows, in this order.
// Cost: per segment 3(alpha + n beta) in trees and 2(alpha + n beta) in chains. The first segment takes about 4
// log2(p/2) rounds in trees and p rounds in chains; a single chain takes 2p rounds.
// Source: Träff, arXiv 2109.12626. With one root: Gruber & Freinberger, algorithms E and F, which keep no rank order
// and send zeros where they have no block.
#include <algorithm>
#include <array>

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/block_size.hpp"
#include "schedule/make_step.hpp"

namespace steadfold::schedule::algorithms {
namespace {

constexpr std::uint32_t ahead = 2;  // number of iterations for which receives are posted in advance
constexpr int from_other_root = 2;  // landing slot for messages from the other root; children use slots 0 and 1

constexpr Rank last_of(RankRange run) { return run.first + run.count - 1; }

// Returns the parameter `roots=`: two roots, or one as in Gruber & Freinberger.
Count roots_of(const Context& c) { return c.spec ? number_of(*c.spec, "roots", 2, 1, 2) : 2; }

// The position of a rank in its tree. The last rank of a subtree's ranks is the top of the subtree.
struct PositionInTree {
  bool has_two_roots;
  // Ranks of this rank's subtree; while the constructor descends from the root, first the whole tree.
  RankRange subtree;
  RankRange other;  // ranks of the other tree, if there is one
  Rank parent = -1;
  int child = 0;  // number of this rank among its parent's children
  std::uint32_t depth = 0;
  std::array<RankRange, 2> children;  // ranks of the children's subtrees; empty if there is no child

  PositionInTree(const Context& c, int arity) : has_two_roots(roots_of(c) == 2) {
    const Rank half = has_two_roots ? (c.rank_count + 1) / 2 : c.rank_count;
    subtree = {0, half};
    other = {half, c.rank_count - half};
    if (c.rank >= half) std::swap(subtree, other);
    split(arity);
    for (; c.rank != last_of(subtree); ++depth, split(arity)) {
      parent = last_of(subtree);
      child = c.rank <= last_of(children[0]) ? 0 : 1;
      subtree = children[static_cast<std::size_t>(child)];
    }
  }

  bool is_root() const { return parent < 0; }
  // Returns the number of iterations after which the value of a segment comes back to the rank that sent its partial.
  // Gruber & Freinberger use `depth`, which would suffice if merging took no time.
  std::uint32_t lag() const { return has_two_roots ? 2 * depth : depth; }
  bool exchanges() const { return is_root() && other.count > 0; }

 private:
  void split(int arity) {
    const Rank below = subtree.count - 1;
    const Rank left = arity == 1 ? below : (below + 1) / 2;
    children = {RankRange{subtree.first, left}, RankRange{subtree.first + left, below - left}};
  }
};

// The segments that a node handles in iteration `t`: segment t on its way up, and on its way down the segment that went
// up `lag` iterations before. The node forwards the value in the next iteration.
struct Iteration {
  std::uint32_t climbing;
  bool has_climbing;
  std::uint32_t returning;
  bool has_returning;
};

Iteration iteration(std::uint32_t t, std::uint32_t lag, std::uint32_t segments) {
  return {t, t < segments, t - lag, t >= lag && t - lag < segments};
}

Steps open_receives(Context c, PositionInTree at, std::uint32_t t) {
  const Iteration now = iteration(t, at.lag(), c.segments);
  for (int i = 0; i < 2 && now.has_climbing; ++i) {
    const RankRange child = at.children[static_cast<std::size_t>(i)];
    if (child.count > 0) co_yield make::receive(last_of(child), landing(i, t), child);
  }
  if (now.has_climbing && at.exchanges())
    co_yield make::receive(last_of(at.other), landing(from_other_root, t), at.other);
  if (now.has_returning && !at.is_root()) co_yield make::receive(at.parent, landing_value(0, now.returning));
}

Steps descend(Context /*c*/, PositionInTree at, std::uint32_t s) {
  const Slot from = at.is_root() ? value(0, s) : landing_value(0, s);
  for (const RankRange child : at.children) {
    if (child.count > 0) co_yield make::send(last_of(child), from, landing_value(0, s));
  }
  if (!at.is_root()) co_yield make::copy(value(0, s), from);
}

Steps climb(Context c, PositionInTree at, std::uint32_t s) {
  const Slot sum = partial(0, s);
  RankRange merged = {c.rank, 1};
  co_yield make::lift(sum, c.rank);
  for (int i = 1; i >= 0; --i) {
    const RankRange child = at.children[static_cast<std::size_t>(i)];
    if (child.count == 0) continue;
    merged = {child.first, child.count + merged.count};
    co_yield make::merge(sum, landing(i, s), sum, merged);
  }
  if (!at.is_root()) co_yield make::send(at.parent, sum, landing(at.child, s));
  if (!at.is_root()) co_return;
  Slot all = sum;
  if (at.exchanges()) {
    const Slot others = landing(from_other_root, s);
    const bool is_lower = at.subtree.first == 0;
    all = partial(1, s);
    co_yield make::send(last_of(at.other), sum, others);
    co_yield make::merge(all, is_lower ? sum : others, is_lower ? others : sum, {0, c.rank_count});
  }
  co_yield make::finish(value(0, s), all);
}

Steps run(Context c, int arity) {
  const PositionInTree at(c, arity);
  const std::uint32_t iterations = c.segments + at.lag() + 1;
  for (std::uint32_t t = 0; t < iterations + ahead; ++t) {
    for (Steps steps = open_receives(c, at, t); const Step* step = steps.next();) co_yield *step;
    if (t < ahead) continue;
    const Iteration now = iteration(t - ahead, at.lag(), c.segments);
    const Iteration before = iteration(t - ahead - 1, at.lag(), c.segments);
    if (t > ahead && before.has_returning)
      for (Steps steps = descend(c, at, before.returning); const Step* step = steps.next();) co_yield *step;
    if (now.has_climbing)
      for (Steps steps = climb(c, at, now.climbing); const Step* step = steps.next();) co_yield *step;
  }
}

Steps doubly_pipelined_linear(Context c) { return run(c, 1); }
Steps doubly_pipelined_tree(Context c) { return run(c, 2); }

// Returns the number of rounds if the trees are chains. A segment goes up the longer half, across to the other root,
// and down again. With one root every inner rank forwards each segment up and down, as in pipelined_linear, so the
// rounds are the same.
Count doubly_pipelined_linear_rounds(Context c) {
  if (roots_of(c) == 1) return pipelined_linear_algorithm.rounds(c);
  if (c.rank_count <= 2) return c.rank_count == 1 ? 0 : c.segments;
  const Count half = (c.ranks() + 1) / 2;
  return 2 * half - 1 + 2 * (c.segments - 1);
}

// Returns the number of rounds for binary trees. Let u(n) be the number of rounds after which a subtree of n ranks has
// sent its first segment. Then u(n) = max(2 + u(n/2), 1 + u(n/2)), where the left half is the larger. The subtree has
// its value w(n) rounds after its top, with the same recurrence and the right half first. Both follow from the two
// highest bits, of n and of n + 1. Each further segment takes three rounds, or two if no rank has both a parent and two
// children. With one root there is one round less, since partials and values do not yet meet in that round.
Count doubly_pipelined_tree_rounds(Context c) {
  const bool has_two_roots = roots_of(c) == 2;
  const Count tree = has_two_roots ? (c.ranks() + 1) / 2 : c.ranks();
  if (tree <= 2) return doubly_pipelined_linear_rounds(c);
  const auto levels = [](Count n) {
    const int top = order::floor_log2(n);
    return 2 * static_cast<Count>(top) + ((n >> (top - 1)) & 1);
  };
  const Count more = c.segments - 1;
  const Count there_and_back = levels(tree) + levels(tree + 1) - 3;
  if (has_two_roots) return there_and_back + 1 + 3 * more;
  if (tree <= 5) return there_and_back + 2 * more;
  return there_and_back + (more == 0 ? 0 : 3 * more - 1);
}

// Returns the number of messages: as many as in one tree, except that two roots exchange partials and send each other
// no value.
Count doubly_pipelined_messages(Context c) { return c.rank_count == 1 ? 0 : (2 * c.ranks() - 2) * c.segments; }

Count doubly_pipelined_partials(Context c) {
  if (roots_of(c) == 1) return (c.ranks() - 1) * c.segments;
  return c.rank_count == 1 ? 0 : c.ranks() * c.segments;
}

void check_doubly_pipelined(const Spec& spec) {
  check_block(spec);
  roots_of({.spec = &spec});
}

constexpr std::array<std::string_view, 2> doubly_pipelined_parameters = {"block", "roots"};
constexpr std::array<std::string_view, 2> doubly_pipelined_examples = {"block=2", "roots=1"};

}  // namespace

constexpr Algorithm doubly_pipelined_linear_algorithm = {
    .name = "doubly_pipelined_linear",
    .sentence =
        "partial results go up two chains of ranks to two roots that exchange them (roots=1: one chain); results go "
        "down at the same time",
    .collectives = Collective::allreduce,
    .keeps_rank_order = KeepsRankOrder::always,
    .same_on_all_ranks = SameOnAllRanks::yes,
    .restrictions = "allreduce only",
    .parameters = doubly_pipelined_parameters,
    .source = "S1",
    .steps = doubly_pipelined_linear,
    .messages = doubly_pipelined_messages,
    .rounds = doubly_pipelined_linear_rounds,
    .partial_messages = doubly_pipelined_partials,
    .check_parameters = check_doubly_pipelined,
    .examples = doubly_pipelined_examples,
    .segments = Segments::pipelined,
};

constexpr Algorithm doubly_pipelined_tree_algorithm = {
    .name = "doubly_pipelined_tree",
    .sentence =
        "partial results go up two post-order trees to two roots that exchange them (roots=1: one tree); results go "
        "down at the same time",
    .collectives = Collective::allreduce,
    .keeps_rank_order = KeepsRankOrder::always,
    .same_on_all_ranks = SameOnAllRanks::yes,
    .restrictions = "allreduce only",
    .parameters = doubly_pipelined_parameters,
    .source = "S1",
    .steps = doubly_pipelined_tree,
    .messages = doubly_pipelined_messages,
    .rounds = doubly_pipelined_tree_rounds,
    .partial_messages = doubly_pipelined_partials,
    .check_parameters = check_doubly_pipelined,
    .examples = doubly_pipelined_examples,
    .segments = Segments::pipelined,
};

}  // namespace steadfold::schedule::algorithms
