// Binary: partials go up a binary tree whose nodes are ranks in in-order numbering. For allreduce the values go down
// the tree again. With several segments it is the pipelined tree.
// Rank order: kept for any root. The root is the top of the tree; for allreduce the top is the middle rank.
// Cost: about 2 log2(p)(alpha + n beta + n gamma). Each further segment takes 2 more rounds. Allreduce costs twice as
// much.
// Source: Gruber & Freinberger, algorithms C and D. Their trees are numbered level by level and have one root.
// Misprint: C never reduces the data that it receives in lines 16 and 17.
#include <algorithm>

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/block_size.hpp"
#include "schedule/algorithms/in_order.hpp"
#include "schedule/algorithms/scatter.hpp"
#include "schedule/algorithms/tree_cost.hpp"
#include "schedule/make_step.hpp"

namespace steadfold::schedule::algorithms {
namespace {

constexpr std::uint32_t segments_ahead = 4;  // number of segments for which receives are posted in advance
constexpr int from_left = 0;
constexpr int from_right = 1;

Rank top_rank(const Context& c) { return c.rooted() ? c.root : top_of({0, c.rank_count}); }

// Makes the steps on the way up. The right child's partials are merged last, and values are sent to the right child
// first, since its subtree is the larger.
Steps climb(Context c, InOrderPosition at) {
  const bool has_left = at.left.count > 0;
  const bool has_right = at.right.count > 0;
  for (std::uint32_t open = 0; open < c.segments + segments_ahead; ++open) {
    if (open < c.segments && has_left) co_yield make::receive(top_of(at.left), landing(from_left, open), at.left);
    if (open < c.segments && has_right) co_yield make::receive(top_of(at.right), landing(from_right, open), at.right);
    if (open < segments_ahead) continue;
    const std::uint32_t s = open - segments_ahead;
    const Slot sum = partial(0, s);
    co_yield make::lift(sum, c.rank);
    if (has_left) co_yield make::merge(sum, landing(from_left, s), sum, {at.left.first, at.left.count + 1});
    if (has_right) co_yield make::merge(sum, sum, landing(from_right, s), at.subtree());
    if (at.parent >= 0) co_yield make::send(at.parent, sum, landing(at.is_below ? from_left : from_right, s));
    if (at.parent >= 0) continue;
    co_yield make::finish(value(0, s), sum);
    if (c.rooted()) continue;
    if (has_right) co_yield make::send(top_of(at.right), value(0, s), landing_value(0, s));
    if (has_left) co_yield make::send(top_of(at.left), value(0, s), landing_value(0, s));
  }
}

Steps descend(Context c, InOrderPosition at) {
  for (std::uint32_t open = 0; open < c.segments + segments_ahead; ++open) {
    if (open < c.segments) co_yield make::receive(at.parent, landing_value(0, open));
    if (open < segments_ahead) continue;
    const Slot landed = landing_value(0, open - segments_ahead);
    if (at.right.count > 0) co_yield make::send(top_of(at.right), landed, landed);
    if (at.left.count > 0) co_yield make::send(top_of(at.left), landed, landed);
    co_yield make::copy(value(0, landed.segment), landed);
  }
}

// Returns the round in which a segment leaves the top of a subtree of n ranks. The top's receive port takes the left
// child's partial, then the right child's. So the round is max(2 + rounds of the left subtree, 1 + rounds of the right
// subtree), with (n - 1) / 2 ranks in each subtree. In closed form the result follows from the two highest bits of n+1.
Count climb_rounds(Rank ranks) {
  const auto next = static_cast<Count>(ranks) + 1;
  const int top = order::floor_log2(next);
  return 2 * static_cast<Count>(top - 1) + ((next >> (top - 1)) & 1);
}

// Returns the rounds of a reduce. The top has `below` ranks in its left subtree and `above` ranks in its right subtree.
// Each of `more` further segments adds 2 rounds if any rank has two children.
Count reduce_rounds(Rank below, Rank above, Count more) {
  const Rank larger = std::max(below, above);
  if (larger == 0) return 0;
  if (below == 0 || above == 0) return climb_rounds(larger) + 1 + (larger < 3 ? 1 : 2) * more;
  return std::max(climb_rounds(below) + 2, climb_rounds(above) + 1) + 2 * more;
}

Steps climb_and_descend(Context c) {
  const InOrderPosition at = in_order_position(c.rank, c.rank_count, top_rank(c));
  for (Steps steps = climb(c, at); const Step* step = steps.next();) co_yield *step;
  if (c.rooted() || at.parent < 0) co_return;
  for (Steps steps = descend(c, at); const Step* step = steps.next();) co_yield *step;
}

Steps binary(Context c) { return c.scatters() ? reduce_then_scatter(c, climb_and_descend) : climb_and_descend(c); }

// Returns the rounds. In an allreduce the way down takes as long as the way up. If the top's children have two children
// each, these children receive all partials before the first value. In this case each further segment takes 4 rounds.
Count binary_rounds(Context c) {
  if (c.scatters()) return binary_rounds(reduce_before_scatter(c)) + scatter_rounds(c);
  const Rank top = top_rank(c);
  const Rank above = c.rank_count - 1 - top;
  const Count more = c.segments - 1;
  const Count up = reduce_rounds(top, above, more);
  if (c.rooted() || c.rank_count == 1) return up;
  const Count down = reduce_rounds(top, above, 0);
  const Count through_child = above < 3 ? 0 : 2 * climb_rounds(above) + 1 + 4 * more;
  return std::max(up + down, through_child);
}

}  // namespace

constexpr Algorithm binary_algorithm = {
    .name = "binary",
    .sentence =
        "partial results go up a binary tree and are merged in rank order; for allreduce the result goes down again",
    .collectives = reductions,
    .keeps_rank_order = KeepsRankOrder::always,
    .same_on_all_ranks = SameOnAllRanks::yes,
    .restrictions = "",
    .parameters = {},
    .source = "S1",
    .steps = binary,
    .messages = tree_messages,
    .rounds = binary_rounds,
    .partial_messages = tree_partials,
};

constexpr Algorithm pipelined_tree_algorithm = {
    .name = "pipelined_tree",
    .sentence = "as binary, but the columns are cut into segments that go through the tree as a pipeline",
    .collectives = Collective::reduce | Collective::allreduce,
    .keeps_rank_order = KeepsRankOrder::always,
    .same_on_all_ranks = SameOnAllRanks::yes,
    .restrictions = "",
    .parameters = block_parameter,
    .source = "S1",
    .steps = binary,
    .messages = tree_messages,
    .rounds = binary_rounds,
    .partial_messages = tree_partials,
    .check_parameters = check_block,
    .examples = block_example,
    .segments = Segments::pipelined,
};

}  // namespace steadfold::schedule::algorithms
