// Flat: every rank sends to the root, which merges in rank order. For allreduce rank 0 sends the value to every rank.
// For a scan it sends each rank the value of the ranks up to that rank. The root has receives posted for as many
// senders as `open=` says and uses their landing slots in turn.
// Rank order: kept for any root.
// Cost: (p-1)(alpha + n beta + n gamma) at the root. Allreduce adds (p-1)(alpha + n beta). Source: textbook.
#include <algorithm>

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/open.hpp"
#include "schedule/algorithms/scatter.hpp"
#include "schedule/algorithms/tree_cost.hpp"
#include "schedule/make_step.hpp"

namespace steadfold::schedule::algorithms {
namespace {

// number of the slot of the root's partial; the sum alternates between partials 0 and 1, so that no merge overwrites
// its operands
constexpr int own_partial = 2;

// Returns the landing slot on which root and sender agree: the i-th sender, counted in rank order without the root,
// uses landing slot i % open.
Slot landing_of(Rank sender, Rank open, std::uint32_t segment = 0) { return landing(sender % open, segment); }

// Makes the root's k-th receive. The root receives segment 0 from all senders, then segment 1 from all senders, and so
// on.
Step receive_number(Context c, Rank open, Count k) {
  const Rank senders = c.rank_count - 1;
  const auto sender = static_cast<Rank>(k % static_cast<Count>(senders));
  const auto segment = static_cast<std::uint32_t>(k / static_cast<Count>(senders));
  const Rank source = sender < c.rank ? sender : sender + 1;
  return make::receive(source, landing_of(sender, open, segment), {source, 1});
}

Steps at_root(Context c, Rank open) {
  const Count messages = Count{c.segments} * static_cast<Count>(c.rank_count - 1);
  Count posted = 0;
  for (; posted < std::min(messages, static_cast<Count>(open)); ++posted) co_yield receive_number(c, open, posted);
  for (std::uint32_t s = 0; s < c.segments; ++s) {
    co_yield make::lift(partial(own_partial, s), c.rank);
    Slot sum = partial(own_partial, s);
    Rank sender = 0;
    for (Rank rank = 0; rank < c.rank_count; ++rank) {
      const bool is_own = rank == c.rank;
      const Slot next = is_own ? partial(own_partial, s) : landing_of(sender, open, s);
      if (rank > 0) {
        const Slot merged = partial(rank % 2, s);
        co_yield make::merge(merged, sum, next, {0, rank + 1});
        sum = merged;
      } else if (!is_own) {
        sum = partial(0, s);
        co_yield make::copy(sum, next, {0, 1});
      }
      if (is_own) continue;
      ++sender;
      if (posted == messages) continue;
      co_yield receive_number(c, open, posted);
      ++posted;
    }
    co_yield make::finish(value(0, s), sum);
    if (c.rooted()) continue;
    for (Rank rank = 1; rank < c.rank_count; ++rank) co_yield make::send(rank, value(0, s), landing_value(0, s));
  }
}

Steps at_leaf(Context c, Rank root, Rank open) {
  const Rank sender = c.rank < root ? c.rank : c.rank - 1;
  for (std::uint32_t s = 0; s < c.segments; ++s) {
    co_yield make::lift(partial(0, s), c.rank);
    co_yield make::send(root, partial(0, s), landing_of(sender, open, s));
  }
  if (c.rooted()) co_return;
  for (std::uint32_t s = 0; s < c.segments; ++s) co_yield make::receive(root, landing_value(0, s));
  for (std::uint32_t s = 0; s < c.segments; ++s) co_yield make::copy(value(0, s), landing_value(0, s));
}

// Makes the steps of rank 0 in a scan. Values for other ranks use the slots 1, 2, ... in turn. A landing slot is free
// again after its partial is merged.
Steps scan_at_zero(Context c, Rank open) {
  const bool is_exclusive = c.collective == Collective::exscan;
  const Rank last_sender = is_exclusive ? c.rank_count - 2 : c.rank_count - 1;
  const auto receive = [&](Rank source) { return make::receive(source, landing_of(source - 1, open), {source, 1}); };
  for (Rank source = 1; source <= std::min(last_sender, open); ++source) co_yield receive(source);
  co_yield make::lift(partial(0), 0);
  if (!is_exclusive) co_yield make::finish(value(0), partial(0), {0, 1});
  for (Rank rank = 1; rank < c.rank_count; ++rank) {
    const Slot before = partial((rank - 1) % 2);
    const Slot with = partial(rank % 2);
    const Slot found = value(1 + (rank - 1) % open);
    if (is_exclusive) co_yield make::finish(found, before, {0, rank});
    if (rank <= last_sender) {
      co_yield make::merge(with, before, landing_of(rank - 1, open), {0, rank + 1});
      if (rank + open <= last_sender) co_yield receive(rank + open);
    }
    if (!is_exclusive) co_yield make::finish(found, with, {0, rank + 1});
    co_yield make::send(rank, found, landing_value());
  }
}

Steps scan_at_leaf(Context c, Rank open) {
  const bool is_needed = c.collective == Collective::scan || c.rank + 1 < c.rank_count;
  if (is_needed) co_yield make::lift(partial(), c.rank);
  if (is_needed) co_yield make::send(0, partial(), landing_of(c.rank - 1, open));
  co_yield make::receive(0, landing_value());
  co_yield make::copy(value(), landing_value());
}

Steps flat(Context c) {
  const Rank open = open_of(c);
  if (c.is_scan()) return for_all_segments(c.rank == 0 ? scan_at_zero(c, open) : scan_at_leaf(c, open), c.segments);
  if (c.scatters()) return reduce_then_scatter(c, flat);
  const Rank root = c.rooted() ? c.root : 0;
  return c.rank == root ? at_root(c, open) : at_leaf(c, root, open);
}

// Returns the number of messages. In a scan every rank above 0 sends its partial and gets a value. In an exclusive scan
// the last rank sends nothing.
Count flat_messages(Context c) {
  if (!c.is_scan() || c.rank_count == 1) return tree_messages(c);
  return 2 * (c.ranks() - 1) - (c.collective == Collective::exscan ? 1 : 0);
}

Count flat_partials(Context c) {
  const bool is_without_last = c.collective == Collective::exscan && c.rank_count > 1;
  return tree_partials(c) - (is_without_last ? c.segments : 0);
}

// Returns the rounds. The root receives all partials, then sends the values of the last segment. The root sends the
// values of earlier segments in the meantime. In a scan it sends a value as soon as it has the partial of the rank
// before.
Count flat_rounds(Context c) {
  if (c.is_scan()) return c.ranks() - (c.collective == Collective::exscan || c.rank_count == 1 ? 1 : 0);
  if (c.scatters()) return flat_rounds(reduce_before_scatter(c)) + scatter_rounds(c);
  return (c.ranks() - 1) * (c.segments + (c.rooted() ? 0u : 1u));
}

}  // namespace

constexpr Algorithm flat_algorithm = {
    .name = "flat",
    .sentence = "every rank sends its partial result to the root, which merges them in rank order",
    .collectives = reductions | scans,
    .keeps_rank_order = KeepsRankOrder::always,
    .same_on_all_ranks = SameOnAllRanks::yes,
    .restrictions = "",
    .parameters = open_parameter,
    .source = "textbook",
    .steps = flat,
    .messages = flat_messages,
    .rounds = flat_rounds,
    .partial_messages = flat_partials,
    .check_parameters = check_open,
    .examples = open_examples,
};

}  // namespace steadfold::schedule::algorithms
