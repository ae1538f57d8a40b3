// Linear: partials go along a chain of ranks, from both ends towards the root. For allreduce the values go back from
// rank 0. For a scan the chain begins at rank 0, and every rank keeps the sum that it passes on.
// Rank order: kept for any root.
// Cost: (p-1)(alpha + n beta + n gamma) to a root at an end of the chain. S segments take S-1 more rounds, and each
// message has one segment. Allreduce costs twice as much.
// Source: Gruber & Freinberger, section 2.1, extended to roots inside the chain.
#include <algorithm>
#include <array>

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/block_size.hpp"
#include "schedule/algorithms/scatter.hpp"
#include "schedule/algorithms/tree_cost.hpp"
#include "schedule/make_step.hpp"

namespace steadfold::schedule::algorithms {
namespace {

// The ranks on one side of the root: the root's neighbour on this side, and all ranks of this side, whose rows come
// through this neighbour.
struct Chain {
  Rank neighbour;
  int slot;  // number of the root's landing slot
  RankRange covers;
};

Steps at_root(Context c) {
  const Chain below = {c.rank - 1, 0, {0, c.rank}};
  const Chain above = {c.rank + 1, 1, {c.rank + 1, c.rank_count - 1 - c.rank}};
  // The root receives the shorter chain's messages first. This order keeps the root's port free for the longer chain's
  // messages.
  const bool below_first = below.covers.count <= above.covers.count;
  const std::array<Chain, 2> by_length = {below_first ? below : above, below_first ? above : below};
  for (const Chain& chain : by_length) {
    if (chain.covers.count == 0) continue;
    for (std::uint32_t s = 0; s < c.segments; ++s) {
      co_yield make::receive(chain.neighbour, landing(chain.slot, s), chain.covers);
    }
  }
  for (std::uint32_t s = 0; s < c.segments; ++s) {
    co_yield make::lift(partial(0, s), c.rank);
    Slot sum = partial(0, s);
    if (below.covers.count > 0) {
      co_yield make::merge(partial(1, s), landing(below.slot, s), sum, {0, c.rank + 1});
      sum = partial(1, s);
    }
    if (above.covers.count > 0) {
      co_yield make::merge(partial(2, s), sum, landing(above.slot, s), {0, c.rank_count});
      sum = partial(2, s);
    }
    co_yield make::finish(value(0, s), sum);
    if (!c.rooted() && c.rank_count > 1) co_yield make::send(1, value(0, s), landing_value(0, s));
  }
}

// Makes the steps of a rank that is not the root: it merges the partial that comes from the end of its side with its
// rows, and sends the sum towards the root.
Steps in_chain(Context c, Rank root) {
  const bool below = c.rank < root;
  const Rank towards = below ? c.rank + 1 : c.rank - 1;
  const Rank away = below ? c.rank - 1 : c.rank + 1;
  const bool is_end = away < 0 || away == c.rank_count;
  const RankRange further = below ? RankRange{0, c.rank} : RankRange{c.rank + 1, c.rank_count - 1 - c.rank};
  const RankRange merged = below ? RankRange{0, c.rank + 1} : RankRange{c.rank, c.rank_count - c.rank};
  const int target = towards == root && !below ? 1 : 0;

  for (std::uint32_t s = 0; s < c.segments && !is_end; ++s) co_yield make::receive(away, landing(0, s), further);
  for (std::uint32_t s = 0; s < c.segments; ++s) {
    co_yield make::lift(partial(0, s), c.rank);
    if (!is_end) {
      const Slot left = below ? landing(0, s) : partial(0, s);
      const Slot right = below ? partial(0, s) : landing(0, s);
      co_yield make::merge(partial(1, s), left, right, merged);
    }
    co_yield make::send(towards, partial(is_end ? 0 : 1, s), landing(target, s));
  }
  if (c.rooted()) co_return;
  for (std::uint32_t s = 0; s < c.segments; ++s) co_yield make::receive(towards, landing_value(0, s));
  for (std::uint32_t s = 0; s < c.segments; ++s) {
    if (!is_end) co_yield make::send(away, landing_value(0, s), landing_value(0, s));
    co_yield make::copy(value(0, s), landing_value(0, s));
  }
}

Steps linear_scan(Context c) {
  const bool is_last = c.rank + 1 == c.rank_count;
  const bool is_exclusive = c.collective == Collective::exscan;
  for (std::uint32_t s = 0; s < c.segments && c.rank > 0; ++s)
    co_yield make::receive(c.rank - 1, landing(0, s), {0, c.rank});
  for (std::uint32_t s = 0; s < c.segments; ++s) {
    Slot sum = partial(0, s);
    if (!is_last || !is_exclusive) co_yield make::lift(sum, c.rank);
    if (c.rank > 0 && (!is_last || !is_exclusive)) {
      co_yield make::merge(partial(1, s), landing(0, s), sum, {0, c.rank + 1});
      sum = partial(1, s);
    }
    if (!is_last) co_yield make::send(c.rank + 1, sum, landing(0, s));
    if (!is_exclusive) co_yield make::finish(value(0, s), sum, {0, c.rank + 1});
    if (is_exclusive && c.rank > 0) co_yield make::finish(value(0, s), landing(0, s), {0, c.rank});
  }
}

Steps linear(Context c) {
  if (c.is_scan()) return linear_scan(c);
  if (c.scatters()) return reduce_then_scatter(c, linear);
  const Rank root = c.rooted() ? c.root : 0;
  return c.rank == root ? at_root(c) : in_chain(c, root);
}

Count linear_messages(Context c) { return c.is_scan() ? tree_partials(c) : tree_messages(c); }

// Returns the rounds. A reduce takes the longer of two times: the pipeline along the longer chain, or the work of the
// root's port, which receives from both chains once the shorter one has arrived. In an allreduce, partials and values
// share the ports of the ranks between the ends. So each further segment takes two rounds, less one round in which
// partials and values do not yet meet.
Count linear_rounds(Context c) {
  if (c.rank_count == 1) return 0;
  if (c.scatters()) return linear_rounds(reduce_before_scatter(c)) + scatter_rounds(c);
  const Count more = c.segments - 1;
  if (c.is_scan()) return c.ranks() - 1 + more;
  if (!c.rooted()) return 2 * (c.ranks() - 1) + (c.rank_count == 2 || more == 0 ? more : 2 * more - 1);
  const auto below = static_cast<Count>(c.root);
  const Count above = c.ranks() - 1 - below;
  const Count shorter = std::min(below, above);
  const Count longer = std::max(below, above);
  return shorter == 0 ? longer + more : std::max(longer + more, shorter + 1 + 2 * more);
}

}  // namespace

constexpr Algorithm linear_algorithm = {
    .name = "linear",
    .sentence = "partial results go along a chain of ranks, from both ends to the root",
    .collectives = reductions | scans,
    .keeps_rank_order = KeepsRankOrder::always,
    .same_on_all_ranks = SameOnAllRanks::yes,
    .restrictions = "",
    .parameters = {},
    .source = "S1",
    .steps = linear,
    .messages = linear_messages,
    .rounds = linear_rounds,
    .partial_messages = tree_partials,
};

constexpr Algorithm pipelined_linear_algorithm = {
    .name = "pipelined_linear",
    .sentence = "as linear, but the columns are cut into segments that go along the chain as a pipeline",
    .collectives = Collective::reduce | Collective::allreduce | scans,
    .keeps_rank_order = KeepsRankOrder::always,
    .same_on_all_ranks = SameOnAllRanks::yes,
    .restrictions = "",
    .parameters = block_parameter,
    .source = "S1",
    .steps = linear,
    .messages = linear_messages,
    .rounds = linear_rounds,
    .partial_messages = tree_partials,
    .check_parameters = check_block,
    .examples = block_example,
    .segments = Segments::pipelined,
};

}  // namespace steadfold::schedule::algorithms
