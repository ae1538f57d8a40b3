// Transpose: every rank sends every other rank its part of that rank's block of segments. Each rank merges the parts of
// its own block in rank order. Then the values go from each rank to all ranks, or to the root.
// Rank order: kept for any root.
// Cost: 2(p-1)(alpha + n/p beta) + (p-1) n/p gamma. Each record holds the rows of one rank, so no record grows on the
// way. Receives are posted for as many ranks as `open=` says, and their landing slots are used in turn.
// Source: the all-to-all of a transposed matrix.
#include <algorithm>

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/block_size.hpp"
#include "schedule/algorithms/blocks.hpp"
#include "schedule/algorithms/open.hpp"
#include "schedule/make_step.hpp"

namespace steadfold::schedule::algorithms {
namespace {

Slot landing_at(Rank open, Rank shift, std::uint32_t s) { return landing((shift - 1) % open, s); }

Steps open_receives(Context c, Blocks blocks, Rank open, Rank shift) {
  const Rank source = blocks.ahead(shift);
  for (std::uint32_t s = blocks.begin(c.rank); s < blocks.end(c.rank) && shift < c.rank_count; ++s)
    co_yield make::receive(source, landing_at(open, shift, s), {source, 1});
}

// Makes the steps that merge partials from the ranks above into this rank's partial, and partials from the ranks below
// into a separate sum.
Steps take_in(Context c, Rank open, Rank shift, std::uint32_t s) {
  const Slot above = partial(0, s);
  const Slot below = partial(1, s);
  const Slot landed = landing_at(open, shift, s);
  const Rank source = (c.rank + shift) % c.rank_count;
  if (source > c.rank) co_yield make::merge(above, above, landed, {c.rank, shift + 1});
  if (source == 0) co_yield make::copy(below, landed, {0, 1});
  if (source > 0 && source < c.rank) co_yield make::merge(below, below, landed, {0, source + 1});
  if (shift + 1 == c.rank_count && c.rank > 0) co_yield make::merge(above, below, above, {0, c.rank_count});
}

// Makes the steps of the exchange. Ranks send in the order of shifts, so that no two ranks send to the same rank at a
// time. Each rank receives from the ranks above it, then from the ranks from 0 on.
Steps exchange(Context c, Blocks blocks) {
  const Rank open = open_of(c);
  for (Rank shift = 1; shift <= open; ++shift)
    for (Steps steps = open_receives(c, blocks, open, shift); const Step* step = steps.next();) co_yield *step;
  for (std::uint32_t s = blocks.begin(c.rank); s < blocks.end(c.rank); ++s) co_yield make::lift(partial(0, s), c.rank);
  for (Rank shift = 1; shift < c.rank_count; ++shift) {
    const Rank owner = blocks.ahead(-shift);
    for (std::uint32_t s = blocks.begin(owner); s < blocks.end(owner); ++s) {
      co_yield make::lift(partial(0, s), c.rank);
      co_yield make::send(owner, partial(0, s), landing_at(open, shift, s));
    }
    for (std::uint32_t s = blocks.begin(c.rank); s < blocks.end(c.rank); ++s)
      for (Steps steps = take_in(c, open, shift, s); const Step* step = steps.next();) co_yield *step;
    for (Steps steps = open_receives(c, blocks, open, shift + open); const Step* step = steps.next();) co_yield *step;
  }
  const int value_slot = c.rooted() && c.rank != c.root ? 1 : 0;  // on the root, slot 0 holds the result
  for (std::uint32_t s = blocks.begin(c.rank); s < blocks.end(c.rank); ++s)
    co_yield make::finish(value(value_slot, s), partial(0, s));
}

Steps give_all(Context c, Blocks blocks) {
  for (Rank shift = 1; shift < c.rank_count; ++shift) {
    const Rank owner = blocks.ahead(-shift);
    for (std::uint32_t s = blocks.begin(owner); s < blocks.end(owner); ++s)
      co_yield make::receive(owner, landing_value(0, s));
    for (std::uint32_t s = blocks.begin(c.rank); s < blocks.end(c.rank); ++s)
      co_yield make::send(blocks.ahead(shift), value(0, s), landing_value(0, s));
  }
  for (Rank shift = 1; shift < c.rank_count; ++shift) {
    const Rank owner = blocks.ahead(-shift);
    for (std::uint32_t s = blocks.begin(owner); s < blocks.end(owner); ++s)
      co_yield make::copy(value(0, s), landing_value(0, s));
  }
}

Steps transpose(Context c) {
  const Blocks blocks(c);
  for (Steps steps = exchange(c, blocks); const Step* step = steps.next();) co_yield *step;
  if (c.scatters()) co_return;
  Steps gather = c.rooted() ? gather_at_root(c) : give_all(c, blocks);
  while (const Step* step = gather.next()) co_yield *step;
}

constexpr std::array<std::string_view, 2> transpose_parameters = {"block", "open"};
constexpr std::array<std::string_view, 3> transpose_examples = {"block=2", "open=2", "open=3"};

void check_transpose(const Spec& spec) {
  check_block(spec);
  check_open(spec);
}

}  // namespace

constexpr Algorithm transpose_algorithm = {
    .name = "transpose",
    .sentence =
        "all ranks exchange blocks of columns; each rank merges its block in rank order; then the results go to all "
        "ranks",
    .collectives = reductions,
    .keeps_rank_order = KeepsRankOrder::always,
    .same_on_all_ranks = SameOnAllRanks::yes,
    .restrictions = "",
    .parameters = transpose_parameters,
    .source = "ours",
    .steps = transpose,
    .messages = block_messages,
    .rounds = block_rounds,
    .partial_messages = block_partials,
    .check_parameters = check_transpose,
    .examples = transpose_examples,
    .segments = Segments::one_per_rank,
    .partials = Partials::of_one_rank,
    .uneven = true,
};

}  // namespace steadfold::schedule::algorithms
