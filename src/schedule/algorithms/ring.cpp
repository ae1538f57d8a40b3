// Ring: each rank's block of segments goes once around the ring and is reduced on the way. Then the values of the block
// go around the ring, or straight to the root.
// Rank order: cyclic, from the rank behind the block's owner.
// Cost: 2(p-1)(alpha + n/p beta) + (p-1) n/p gamma, with records of up to two intervals. k segments per block take k
// times as many messages.
// Source: Balaji & Kimpe, section III.C; the ring of reduce-scatter and allgather.
#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/block_size.hpp"
#include "schedule/algorithms/blocks.hpp"
#include "schedule/make_step.hpp"

namespace steadfold::schedule::algorithms {
namespace {

// Makes the steps of the first way around the ring. In turn t a rank sends the block of the rank at distance 1 + t
// behind it, summed over t + 1 ranks.
Steps scatter(Context c, Blocks blocks) {
  const Rank before = blocks.ahead(-1);
  const Rank turns = c.rank_count - 1;
  for (std::uint32_t s = 0; s < c.segments; ++s) co_yield make::lift(partial(0, s), c.rank);
  for (Rank t = -1; t < turns; ++t) {
    const Rank incoming = blocks.ahead(-3 - t);  // owner of the block that arrives in the next turn
    for (std::uint32_t s = blocks.begin(incoming); s < blocks.end(incoming) && t + 1 < turns; ++s)
      co_yield make::receive(before, landing(0, s), {blocks.ahead(-2 - t), t + 2});
    if (t < 0) continue;
    const Rank outgoing = blocks.ahead(-1 - t);
    for (std::uint32_t s = blocks.begin(outgoing); s < blocks.end(outgoing); ++s)
      co_yield make::send(blocks.ahead(1), partial(0, s), landing(0, s));
    const Rank arrived = blocks.ahead(-2 - t);
    for (std::uint32_t s = blocks.begin(arrived); s < blocks.end(arrived); ++s)
      co_yield make::merge(partial(0, s), landing(0, s), partial(0, s), {blocks.ahead(-1 - t), t + 2});
  }
}

Steps gather_round(Context c, Blocks blocks) {
  const Rank turns = c.rank_count - 1;
  for (Rank t = -1; t < turns; ++t) {
    const Rank incoming = blocks.ahead(-2 - t);
    for (std::uint32_t s = blocks.begin(incoming); s < blocks.end(incoming) && t + 1 < turns; ++s)
      co_yield make::receive(blocks.ahead(-1), landing_value(0, s));
    if (t < 0) continue;
    const Rank outgoing = blocks.ahead(-t);
    for (std::uint32_t s = blocks.begin(outgoing); s < blocks.end(outgoing); ++s)
      co_yield make::send(blocks.ahead(1), t == 0 ? value(0, s) : landing_value(0, s), landing_value(0, s));
    const Rank arrived = blocks.ahead(-1 - t);
    for (std::uint32_t s = blocks.begin(arrived); s < blocks.end(arrived); ++s)
      co_yield make::copy(value(0, s), landing_value(0, s));
  }
}

Steps ring(Context c) {
  const Blocks blocks(c);
  for (Steps steps = scatter(c, blocks); const Step* step = steps.next();) co_yield *step;
  const int value_slot = c.rooted() && c.rank != c.root ? 1 : 0;  // on the root, slot 0 holds the result
  for (std::uint32_t s = blocks.begin(c.rank); s < blocks.end(c.rank); ++s)
    co_yield make::finish(value(value_slot, s), partial(0, s));
  if (c.scatters()) co_return;
  Steps gather = c.rooted() ? gather_at_root(c) : gather_round(c, blocks);
  while (const Step* step = gather.next()) co_yield *step;
}

}  // namespace

constexpr Algorithm ring_algorithm = {
    .name = "ring",
    .sentence =
        "the columns are divided into one block per rank; each block goes once around the ring and is reduced on the "
        "way; then its result goes around",
    .collectives = reductions,
    .keeps_rank_order = KeepsRankOrder::never,
    .same_on_all_ranks = SameOnAllRanks::yes,
    .restrictions = "no method plain with a non-commutative operator",
    .parameters = block_parameter,
    .source = "S3",
    .steps = ring,
    .messages = block_messages,
    .rounds = block_rounds,
    .partial_messages = block_partials,
    .check_parameters = check_block,
    .examples = block_example,
    .segments = Segments::one_per_rank,
    .uneven = true,
};

}  // namespace steadfold::schedule::algorithms
