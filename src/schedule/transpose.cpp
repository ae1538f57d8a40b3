// Transpose: every rank sends every other its part of that rank's block of segments, each folds its own in rank order,
// and the values go from each to all, or to the root.
// Rank order: kept, for any root.
// Cost: 2(p-1)(alpha + n/p beta) + (p-1) n/p gamma; each record is one rank's, so that none grows on the way.
// Source: ours; the all-to-all of a transposed matrix.
#include "schedule/algorithms.hpp"
#include "schedule/blocks.hpp"
#include "schedule/make_step.hpp"

namespace steadfold::schedule::algorithm {
namespace {

// Shift by shift, so that no two ranks send to one at a time. What comes from the rank d behind lands in slot d.
Steps exchange(Context c, Blocks blocks) {
  for (Rank shift = 1; shift < c.rank_count; ++shift) {
    for (std::uint32_t s = blocks.begin(c.rank); s < blocks.end(c.rank); ++s)
      co_yield make::receive(blocks.ahead(-shift), landing(shift, s), {blocks.ahead(-shift), 1});
  }
  for (Rank shift = 1; shift < c.rank_count; ++shift) {
    const Rank owner = blocks.ahead(shift);
    for (std::uint32_t s = blocks.begin(owner); s < blocks.end(owner); ++s) {
      co_yield make::lift(partial(0, s), c.rank);
      co_yield make::send(owner, partial(0, s), landing(shift, s));
    }
  }
}

// Sums take turns, so that no merge writes over its operands.
Steps fold(Context c, std::uint32_t s) {
  const auto of_rank = [&](Rank rank) {
    return rank == c.rank ? partial(0, s) : landing((c.rank - rank + c.rank_count) % c.rank_count, s);
  };
  co_yield make::lift(partial(0, s), c.rank);
  Slot sum = of_rank(0);
  for (Rank rank = 1; rank < c.rank_count; ++rank) {
    const Slot next = partial(1 + rank % 2, s);
    co_yield make::merge(next, sum, of_rank(rank), {0, rank + 1});
    sum = next;
  }
  co_yield make::finish(value(c.rooted && c.rank != c.root ? 1 : 0, s), sum);
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

}  // namespace

Steps transpose(Context c) {
  const Blocks blocks(c);
  for (Steps steps = exchange(c, blocks); const Step* step = steps.next();) co_yield *step;
  for (std::uint32_t s = blocks.begin(c.rank); s < blocks.end(c.rank); ++s) {
    for (Steps steps = fold(c, s); const Step* step = steps.next();) co_yield *step;
  }
  Steps gather = c.rooted ? gather_at_root(c) : give_all(c, blocks);
  while (const Step* step = gather.next()) co_yield *step;
}

}  // namespace steadfold::schedule::algorithm
