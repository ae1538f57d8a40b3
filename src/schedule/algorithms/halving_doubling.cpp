// Halving and doubling: partners 2^k apart, nearest partners first, exchange halves of the segments that they still
// have. In the end each rank has one block of segments. Then the values go back along the same pairs, or in halves of
// the ranks to the root. If the rank count is not a power of two, adjacent ranks first form pairs.
// Rank order: kept. Partners merge the same operands in the same order.
// Cost: 2 log2(p) alpha + 2(p-1)/p n beta + (p-1)/p n gamma, and two more messages if ranks form pairs. reduce_scatter
// costs half as much. MPICH's allreduce and reduce take the nearest partner first too. MPICH's reduce_scatter takes the
// farthest partner first, which would give records with one interval per rank.
// Source: Balaji & Kimpe, section III.B.
#include <numeric>
#include <vector>

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/blocks.hpp"
#include "schedule/algorithms/units.hpp"
#include "schedule/make_step.hpp"

namespace steadfold::schedule::algorithms {
namespace {

using SegmentNumbers = std::vector<std::uint32_t>;

SegmentNumbers run(std::uint32_t begin, std::uint32_t end) {
  SegmentNumbers all(end - begin);
  std::iota(all.begin(), all.end(), begin);
  return all;
}

// A rank that takes part in the rounds, with the segments of each unit. At level k the low k bits of a unit's number,
// relative to the root's unit, name its part of the segments; the root has the first part. In reduce_scatter a part
// consists of the blocks of all units with these bits.
class HalvingRank {
 public:
  explicit HalvingRank(const Context& c)
      : units_(c.rank_count),
        unit_(units_.unit_of(c.rank)),
        root_unit_(units_.unit_of(c.rooted() ? c.root : 0)),
        segments_(c.segments),
        blocks_(c),
        scatters_(c.scatters()) {}

  int rounds() const { return units_.rounds; }
  Rank partner(int round) const { return units_.first_rank(partner_unit(round)); }
  RankRange others(int round) const { return units_.block(partner_unit(round), round); }
  RankRange all(int round) const { return units_.block(unit_, round + 1); }
  bool is_left(int round) const { return unit_ < partner_unit(round); }

  // Return the segments that this rank, or its partner, keeps after a round.
  SegmentNumbers mine(int round) const { return part(unit_, round + 1); }
  SegmentNumbers partners(int round) const { return part(partner_unit(round), round + 1); }

  // Whether a rank takes part in a round when values go to the root. The rounds descend. The higher bits of the rank's
  // unit must equal the bits of the root's unit.
  bool gathers(int round) const { return ((unit_ ^ root_unit_) >> (round + 1)) == 0; }
  bool sends_to_root(int round) const { return gathers(round) && ((unit_ ^ root_unit_) >> round & 1) == 1; }

 private:
  Rank partner_unit(int round) const { return unit_ ^ (Rank{1} << round); }
  SegmentNumbers part(Rank unit, int level) const {
    if (scatters_) return blocks_of(unit & ((Rank{1} << level) - 1), Rank{1} << level);
    const auto from_root = static_cast<Count>(unit ^ root_unit_);
    Count number = 0;
    for (int bit = 0; bit < level; ++bit) number = 2 * number + (from_root >> bit & 1);
    const auto first = [&](Count i) {
      return static_cast<std::uint32_t>((i * segments_ + (Count{1} << level) - 1) >> level);
    };
    return run(first(number), first(number + 1));
  }
  SegmentNumbers blocks_of(Rank first, Rank step) const {
    SegmentNumbers all;
    for (Rank unit = first; unit < Rank{1} << units_.rounds; unit += step) {
      const RankRange ranks = units_.block(unit, 0);
      for (std::uint32_t s = blocks_.begin(ranks.first); s < blocks_.end(ranks.first + ranks.count - 1); ++s)
        all.push_back(s);
    }
    return all;
  }

  Units units_;
  Rank unit_;
  Rank root_unit_;
  Count segments_;
  Blocks blocks_;
  bool scatters_;
};

// Returns the landing slot for messages within a pair. Round k uses slot k.
int pair_slot(const Context& c) { return Units(c.rank_count).rounds; }

Step in_message(Step step, std::uint32_t s, const SegmentNumbers& of) { return make::with_next(step, s != of.back()); }

Steps send_partials(Rank to, int slot, SegmentNumbers of) {
  for (const std::uint32_t s : of) co_yield in_message(make::send(to, partial(0, s), landing(slot, s)), s, of);
}

Steps send_values(Rank to, int slot, SegmentNumbers of, int value_slot = 0) {
  for (const std::uint32_t s : of)
    co_yield in_message(make::send(to, value(value_slot, s), landing_value(slot, s)), s, of);
}

Steps receive_partials(Rank from, int slot, SegmentNumbers of, RankRange covers) {
  for (const std::uint32_t s : of) co_yield in_message(make::receive(from, landing(slot, s), covers), s, of);
}

Steps receive_values(Rank from, int slot, SegmentNumbers of, int value_slot = 0) {
  for (const std::uint32_t s : of) co_yield in_message(make::receive(from, landing_value(slot, s)), s, of);
  for (const std::uint32_t s : of) co_yield make::copy(value(value_slot, s), landing_value(slot, s));
}

// Makes the steps of the second rank of a pair.
Steps outside(Context c) {
  const SegmentNumbers all = run(0, c.segments);
  for (std::uint32_t s = 0; s < c.segments; ++s) co_yield make::lift(partial(0, s), c.rank);
  for (Steps steps = send_partials(c.rank - 1, pair_slot(c), all); const Step* step = steps.next();) co_yield *step;
  if (c.rooted() && c.rank != c.root) co_return;
  const Blocks blocks(c);
  const SegmentNumbers due = c.scatters() ? run(blocks.begin(c.rank), blocks.end(c.rank)) : all;
  for (Steps steps = receive_values(c.rank - 1, pair_slot(c), due); const Step* step = steps.next();) co_yield *step;
}

Steps halve(Context c, HalvingRank member, bool has_pair) {
  const SegmentNumbers all = run(0, c.segments);
  if (has_pair)
    for (Steps steps = receive_partials(c.rank + 1, pair_slot(c), all, {c.rank + 1, 1});
         const Step* step = steps.next();)
      co_yield *step;
  for (std::uint32_t s = 0; s < c.segments; ++s) {
    co_yield make::lift(partial(0, s), c.rank);
    if (has_pair) co_yield make::merge(partial(0, s), partial(0, s), landing(pair_slot(c), s), {c.rank, 2});
  }
  for (int round = 0; round < member.rounds(); ++round) {
    const Rank partner = member.partner(round);
    const SegmentNumbers mine = member.mine(round);
    for (Steps steps = receive_partials(partner, round, mine, member.others(round)); const Step* step = steps.next();)
      co_yield *step;
    for (Steps steps = send_partials(partner, round, member.partners(round)); const Step* step = steps.next();)
      co_yield *step;
    for (const std::uint32_t s : mine) {
      const Slot left = member.is_left(round) ? partial(0, s) : landing(round, s);
      const Slot right = member.is_left(round) ? landing(round, s) : partial(0, s);
      co_yield make::merge(partial(0, s), left, right, member.all(round));
    }
  }
}

// Makes the steps in which a rank finishes its block. The first rank of a pair finishes the blocks of both ranks.
Steps finish_own(Context c, bool has_pair) {
  const Blocks blocks(c);
  const SegmentNumbers pairs = has_pair ? run(blocks.begin(c.rank + 1), blocks.end(c.rank + 1)) : SegmentNumbers();
  for (const std::uint32_t s : pairs) co_yield make::finish(value(1, s), partial(0, s));
  for (Steps steps = send_values(c.rank + 1, pair_slot(c), pairs, 1); const Step* step = steps.next();) co_yield *step;
  for (std::uint32_t s = blocks.begin(c.rank); s < blocks.end(c.rank); ++s)
    co_yield make::finish(value(0, s), partial(0, s));
}

Steps inside(Context c, HalvingRank member, bool has_pair) {
  for (Steps steps = halve(c, member, has_pair); const Step* step = steps.next();) co_yield *step;
  if (c.scatters()) {
    for (Steps steps = finish_own(c, has_pair); const Step* step = steps.next();) co_yield *step;
    co_return;
  }
  const int value_slot = c.rooted() && c.rank != c.root ? 1 : 0;  // on the root, slot 0 holds the result
  const SegmentNumbers own = member.rounds() > 0 ? member.mine(member.rounds() - 1) : run(0, c.segments);
  for (const std::uint32_t s : own) co_yield make::finish(value(value_slot, s), partial(0, s));
  for (int round = member.rounds() - 1; round >= 0; --round) {
    const Rank partner = member.partner(round);
    const bool takes = !c.rooted() || (member.gathers(round) && !member.sends_to_root(round));
    if (!c.rooted() || member.sends_to_root(round))
      for (Steps steps = send_values(partner, round, member.mine(round), value_slot); const Step* step = steps.next();)
        co_yield *step;
    if (takes)
      for (Steps steps = receive_values(partner, round, member.partners(round), value_slot);
           const Step* step = steps.next();)
        co_yield *step;
  }
  if (has_pair && (!c.rooted() || c.root == c.rank + 1))
    for (Steps steps = send_values(c.rank + 1, pair_slot(c), run(0, c.segments), value_slot);
         const Step* step = steps.next();)
      co_yield *step;
}

bool second_of_pair_is_root(const Context& c) { return c.rooted() && Units(c.rank_count).is_second_of_pair(c.root); }

Steps halving_doubling(Context c) {
  const Units units(c.rank_count);
  return units.is_second_of_pair(c.rank) ? outside(c) : inside(c, HalvingRank(c), units.in_pair(c.rank));
}

// Returns the number of messages. With one segment they are the same as in a tree. Each pair adds one message, and one
// back if the second rank gets a value.
Count halving_doubling_messages(Context c) {
  const Units halves(c.rank_count);
  const auto pairs = static_cast<Count>(halves.pairs);
  const Count units = Count{1} << halves.rounds;
  const Count there = pairs + (c.segments == 1 ? units - 1 : static_cast<Count>(halves.rounds) * units);
  if (c.scatters()) return there + pairs;
  if (!c.rooted()) return 2 * there;
  return there + (c.segments == 1 ? 0 : units - 1) + (second_of_pair_is_root(c) ? 1 : 0);
}

Count halving_doubling_rounds(Context c) {
  const Units halves(c.rank_count);
  const auto rounds = static_cast<Count>(halves.rounds);
  const Count there = rounds + (halves.pairs > 0 ? 1 : 0);
  if (c.scatters()) return there + (halves.pairs > 0 ? 1 : 0);
  if (!c.rooted()) return 2 * there;
  return there + (c.segments == 1 ? 0 : rounds) + (second_of_pair_is_root(c) ? 1 : 0);
}

// Returns the number of vectors that a rank sends or receives: half a vector, a quarter and so on, in both directions,
// and whole vectors within pairs. In reduce_scatter there is only one direction, and the second rank of each pair
// receives one block.
double halving_doubling_vectors(Context c) {
  const auto rounds = static_cast<double>(halving_doubling_rounds(c));
  if (c.segments == 1) return rounds;
  const Units halves(c.rank_count);
  const double all_halves = 1 - 1 / static_cast<double>(Count{1} << halves.rounds);
  if (c.scatters()) return (halves.pairs > 0 ? 1 : 0) + all_halves;
  return rounds - 2 * halves.rounds + 2 * all_halves;
}

Count halving_doubling_halvings(Context c) {
  return c.segments == 1 ? 0 : static_cast<Count>(Units(c.rank_count).rounds);
}

}  // namespace

constexpr Algorithm halving_doubling_algorithm = {
    .name = "halving_doubling",
    .sentence =
        "in round k, ranks at distance 2^k exchange halves of the columns that they still reduce; then the results go "
        "back the same way",
    .collectives = reductions,
    .keeps_rank_order = KeepsRankOrder::always,
    .same_on_all_ranks = SameOnAllRanks::yes,
    .restrictions = "",
    .parameters = {},
    .source = "S3",
    .steps = halving_doubling,
    .messages = halving_doubling_messages,
    .rounds = halving_doubling_rounds,
    .partial_messages = block_partials,
    .segments = Segments::one_per_rank,
    .vectors = halving_doubling_vectors,
    .halvings = halving_doubling_halvings,
    .uneven = true,
};

}  // namespace steadfold::schedule::algorithms
