// Recursive doubling: in round k partners 2^k apart exchange their sums, so that all ranks end with the value. If p is
// not a power of two, adjacent ranks first form pairs: the even rank takes part for both and sends the value back. In a
// scan the upper partner adds the sum that it receives to the sum of the ranks before it, and there are no pairs.
// Rank order: kept. Partners merge the same operands in the same order.
// Cost: ceil(log2 p)(alpha + n beta + n gamma). Pairs add one alpha + n beta.
// Source: Balaji & Kimpe, section III.B. End et al. pair other ranks, see pairwise_exchange.cpp.
#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/all_segments.hpp"
#include "schedule/algorithms/doubling.hpp"
#include "schedule/algorithms/units.hpp"
#include "schedule/make_step.hpp"

namespace steadfold::schedule::algorithms {
namespace {

// A rank in a scan. In round k it holds two partials. The first is of its aligned block of 2^k ranks, as long as there
// are ranks above the block. The second is of the ranks before it in the block, including itself unless the scan is
// exclusive.
class Scan {
 public:
  explicit Scan(Context c) : context_(c), rounds_(order::ceil_log2(c.ranks())) {}

  int rounds() const { return rounds_; }
  Rank partner(int round) const { return context_.rank ^ (Rank{1} << round); }
  bool has_partner(int round) const { return round < rounds_ && partner(round) < context_.rank_count; }
  bool is_upper(int round) const { return (context_.rank >> round & 1) == 1; }
  bool grows(int round) const {
    return block(context_.rank, round + 1).first + (Rank{2} << round) < context_.rank_count;
  }
  bool sends(int round) const { return has_partner(round) && (!is_upper(round) || grows(round)); }
  bool receives(int round) const { return has_partner(round) && (is_upper(round) || grows(round)); }

  RankRange block(Rank rank, int level) const { return {(rank >> level) << level, Rank{1} << level}; }
  // Ranks before this rank in its block, including itself unless the scan is exclusive.
  RankRange before(int level) const {
    const Rank first = (context_.rank >> level) << level;
    return {first, context_.rank - first + (is_exclusive() ? 0 : 1)};
  }
  bool is_exclusive() const { return context_.collective == Collective::exscan; }

 private:
  Context context_;
  int rounds_;
};

Step receive_in_scan(const Scan& scan, int round) {
  return make::receive(scan.partner(round), landing(round % 2), scan.block(scan.partner(round), round));
}

// Merges a round's message into the block's partial, if that partial is sent again, and into the sum of the ranks
// before.
Steps take_in(Context c, Scan scan, int round) {
  constexpr int before = 2;
  const Slot landed = landing(round % 2);
  const Slot block = partial(round % 2);
  const bool is_upper = scan.is_upper(round);
  const bool is_first = scan.before(round).count == 0;
  if (is_upper && is_first) co_yield make::copy(partial(before), landed, scan.before(round + 1));
  if (is_upper && !is_first) co_yield make::merge(partial(before), landed, partial(before), scan.before(round + 1));
  if (!scan.grows(round)) co_return;
  co_yield make::merge(partial((round + 1) % 2), is_upper ? landed : block, is_upper ? block : landed,
                       scan.block(c.rank, round + 1));
}

Steps scan(Context c) {
  const Scan scan(c);
  co_yield make::lift(partial(0), c.rank);
  if (!scan.is_exclusive()) co_yield make::copy(partial(2), partial(0), {c.rank, 1});
  if (scan.receives(0)) co_yield receive_in_scan(scan, 0);
  for (int round = 0; round < scan.rounds(); ++round) {
    if (scan.receives(round + 1)) co_yield receive_in_scan(scan, round + 1);
    if (scan.sends(round)) co_yield make::send(scan.partner(round), partial(round % 2), landing(round % 2));
    if (!scan.receives(round)) continue;
    for (Steps steps = take_in(c, scan, round); const Step* step = steps.next();) co_yield *step;
  }
  const RankRange covered{0, c.rank + (scan.is_exclusive() ? 0 : 1)};
  if (covered.count > 0) co_yield make::finish(value(), partial(2), covered);
}

Steps recursive_doubling(Context c) {
  if (c.is_scan()) return for_all_segments(scan(c), c.segments);
  return doubling(c, Units(c.rank_count));
}

// Returns the number of messages of a scan. All pairs of partners exchange partials; only in the last round the upper
// partner sends nothing.
Count doubling_scan_messages(Context c) {
  Count messages = 0;
  for (int round = 0; round < order::ceil_log2(c.ranks()); ++round) {
    const Count half = Count{1} << round;
    const Count rest = c.ranks() % (2 * half);
    const Count pairs = c.ranks() / (2 * half) * half + (rest > half ? rest - half : 0);
    messages += pairs + (c.ranks() - 1) / (2 * half) * half;
  }
  return messages;
}

Count recursive_doubling_messages(Context c) { return c.is_scan() ? doubling_scan_messages(c) : doubling_messages(c); }

Count recursive_doubling_partials(Context c) {
  return c.is_scan() ? doubling_scan_messages(c) * c.segments : doubling_partials(c);
}

Count recursive_doubling_rounds(Context c) {
  return c.is_scan() ? static_cast<Count>(order::ceil_log2(c.ranks())) : doubling_rounds(c);
}

}  // namespace

constexpr Algorithm recursive_doubling_algorithm = {
    .name = "recursive_doubling",
    .sentence = "pairs of ranks exchange their partial results; the distance between partners doubles in each round",
    .collectives = Collective::allreduce | scans,
    .keeps_rank_order = KeepsRankOrder::always,
    .same_on_all_ranks = SameOnAllRanks::yes,
    .restrictions = "",
    .parameters = {},
    .source = "S3",
    .steps = recursive_doubling,
    .messages = recursive_doubling_messages,
    .rounds = recursive_doubling_rounds,
    .partial_messages = recursive_doubling_partials,
};

}  // namespace steadfold::schedule::algorithms
