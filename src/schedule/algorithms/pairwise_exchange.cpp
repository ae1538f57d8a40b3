// Pairwise exchange: recursive doubling among the first 2^k ranks, where 2^k is the largest power of two up to p. Each
// further rank 2^k + i pairs up with rank i, which takes part for both and sends the value back.
// Rank order: if p is a power of two, kept as in recursive doubling. Otherwise a partial covers two runs of consecutive
// ranks, and its record has more intervals than with the adjacent pairs of recursive_doubling. All ranks get the same
// bits.
// Cost: ceil(log2 p)(alpha + n beta + n gamma). Pairs add one alpha + n beta.
// Source: End et al., section III.A, after Gupta et al.
#include <algorithm>

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/doubling.hpp"

namespace steadfold::schedule::algorithms {
namespace {

// The pairs of this schedule: every unit is one of the first 2^k ranks, together with the rank 2^k above it, if that
// rank exists.
struct DistantPairs {
  int rounds;
  Rank units;
  Rank pairs;

  explicit DistantPairs(Rank rank_count)
      : rounds(order::floor_log2(static_cast<Count>(rank_count))),
        units(Rank{1} << rounds),
        pairs(rank_count - units) {}

  bool in_pair(Rank rank) const { return rank < pairs || rank >= units; }
  bool is_second_of_pair(Rank rank) const { return rank >= units; }
  Rank other_of_pair(Rank rank) const { return rank ^ units; }
  Rank unit_of(Rank rank) const { return rank; }  // only for a rank that takes part in the rounds
  Rank first_rank(Rank unit) const { return unit; }

  Covers block(Rank unit, int level) const {
    const Rank first = (unit >> level) << level;
    const RankRange firsts{first, Rank{1} << level};
    const Rank seconds = std::clamp(pairs - first, 0, firsts.count);
    return seconds == 0 ? Covers(firsts) : Covers(firsts, {units + first, seconds});
  }
};

Steps pairwise_exchange(Context c) { return doubling(c, DistantPairs(c.rank_count)); }

Count pairwise_messages(Context c) { return doubling_messages(c); }
Count pairwise_partials(Context c) { return doubling_partials(c); }
Count pairwise_rounds(Context c) { return doubling_rounds(c); }

}  // namespace

constexpr Algorithm pairwise_exchange_algorithm = {
    .name = "pairwise_exchange",
    .sentence =
        "as recursive_doubling, but each rank beyond the largest power of two first sends to one of the first ranks",
    .collectives = Collective::allreduce,
    .keeps_rank_order = KeepsRankOrder::never,
    .same_on_all_ranks = SameOnAllRanks::yes,
    .restrictions = "no method plain with a non-commutative operator",
    .parameters = {},
    .source = "S4",
    .steps = pairwise_exchange,
    .messages = pairwise_messages,
    .rounds = pairwise_rounds,
    .partial_messages = pairwise_partials,
};

}  // namespace steadfold::schedule::algorithms
