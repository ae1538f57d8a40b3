// Circulant: in round k every rank sends to the rank s_k ahead. The distances s_k (hops), in ascending order, are the
// rank count halved repeatedly, rounded up. The distance from a partial to its block's owner is split into these hops
// greedily. The values of a block go back along the same hops, or to the root.
// Rank order: cyclic. Distances with the same greatest hops are adjacent, so the ranks whose partials a rank holds for
// a block form one cyclic run. With ascending hops a record has at most two intervals; with descending hops it has up
// to p/2.
// Cost: 2 ceil(log2 p) alpha + 2(p-1)/p n beta + (p-1)/p n gamma, for any p. reduce_scatter costs half as much.
// Source: Träff, arXiv 2410.14234, where the hops descend.
#include <vector>

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/blocks.hpp"
#include "schedule/make_step.hpp"

namespace steadfold::schedule::algorithms {
namespace {

// Consecutive distances to a block's owner, from `first` on, whose partials take the same hops in the remaining rounds.
// The rank at distance `first` merges the partials of the others.
struct Distances {
  Rank first;
  Rank count;
};

// The hops, in descending order, and for every round the ranges of distances. The first range is [0, p). A round cuts
// each range that is longer than its hop into two.
class Hops {
 public:
  explicit Hops(Rank rank_count) : runs_{{{0, rank_count}}} {
    for (Rank hop = rank_count; hop > 1;) {
      hop = (hop + 1) / 2;
      lengths_.push_back(hop);
      std::vector<Distances> next;
      for (const Distances run : runs_.back()) {
        next.push_back({run.first, std::min(run.count, hop)});
        if (run.count > hop) next.push_back({run.first + hop, run.count - hop});
      }
      runs_.push_back(std::move(next));
    }
  }

  int rounds() const { return static_cast<int>(lengths_.size()); }
  Rank length(int round) const { return lengths_[static_cast<std::size_t>(round)]; }
  const std::vector<Distances>& runs(int round) const { return runs_[static_cast<std::size_t>(round)]; }

 private:
  std::vector<Rank> lengths_;
  std::vector<std::vector<Distances>> runs_;
};

// A segment whose partial or value is sent over a round's hop, and the number of ranks whose partials are on either
// side of the hop.
struct OverHop {
  std::uint32_t segment;
  Rank at_receiver;  // number of ranks in the receiver's part; the receiver's partial is the last of them
  Rank at_sender;
};

// Returns the segments that are sent over a round's hop to the rank `receiver_ahead` places ahead: one block for each
// range of distances that is cut in this round.
std::vector<OverHop> segments_over_hop(const Blocks& blocks, const Hops& hops, int round, Rank receiver_ahead) {
  std::vector<OverHop> all;
  const Rank hop = hops.length(round);
  for (const Distances run : hops.runs(round)) {
    if (run.count <= hop) continue;
    const Rank owner = blocks.ahead(receiver_ahead + run.first);
    for (std::uint32_t s = blocks.begin(owner); s < blocks.end(owner); ++s) all.push_back({s, hop, run.count - hop});
  }
  return all;
}

Steps message(std::vector<Step> steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) co_yield make::with_next(steps[i], i + 1 < steps.size());
}

Steps scatter(Context c, Blocks blocks, const Hops& hops) {
  for (std::uint32_t s = 0; s < c.segments; ++s) co_yield make::lift(partial(0, s), c.rank);
  for (int round = hops.rounds() - 1; round >= 0; --round) {
    const Rank hop = hops.length(round);
    const Rank source = blocks.ahead(-hop);
    const auto incoming = segments_over_hop(blocks, hops, round, 0);
    std::vector<Step> receives;
    receives.reserve(incoming.size());
    for (const OverHop& each : incoming)
      receives.push_back(make::receive(source, landing(round, each.segment),
                                       {blocks.ahead(1 - hop - each.at_sender), each.at_sender}));
    std::vector<Step> sends;
    for (const OverHop& each : segments_over_hop(blocks, hops, round, hop))
      sends.push_back(make::send(blocks.ahead(hop), partial(0, each.segment), landing(round, each.segment)));
    for (Steps steps = message(std::move(receives)); const Step* step = steps.next();) co_yield *step;
    for (Steps steps = message(std::move(sends)); const Step* step = steps.next();) co_yield *step;
    for (const OverHop& each : incoming)
      co_yield make::merge(partial(0, each.segment), landing(round, each.segment), partial(0, each.segment),
                           {blocks.ahead(1 - hop - each.at_sender), each.at_sender + each.at_receiver});
  }
}

// Makes the steps of the way back: values go back over the hop over which their partials came. For reduce a rank sends
// once, and sends all values that it has. The rank sends them over the hop at which its distance from the root is in
// the sender's part of a run.
Steps gather(Context c, Blocks blocks, const Hops& hops) {
  const int value_slot = c.rooted() && c.rank != c.root ? 1 : 0;  // on the root, slot 0 holds the result
  const auto on_the_way = [&](Rank distance, const OverHop& each) {
    return !c.rooted() || (distance >= each.at_receiver && distance < each.at_receiver + each.at_sender);
  };
  const Rank from_root = c.rooted() ? (c.rank - c.root + c.rank_count) % c.rank_count : 0;
  for (int round = 0; round < hops.rounds(); ++round) {
    const Rank hop = hops.length(round);
    const Rank peer = blocks.ahead(hop);
    std::vector<Step> sends;
    for (const OverHop& each : segments_over_hop(blocks, hops, round, 0)) {
      if (on_the_way(from_root, each))
        sends.push_back(
            make::send(blocks.ahead(-hop), value(value_slot, each.segment), landing_value(round, each.segment)));
    }
    std::vector<Step> receives;
    std::vector<Step> copies;
    for (const OverHop& each : segments_over_hop(blocks, hops, round, hop)) {
      const Rank peers_distance = from_root + hop;
      if (!on_the_way(peers_distance % c.rank_count, each) || (c.rooted() && peers_distance >= c.rank_count)) continue;
      receives.push_back(make::receive(peer, landing_value(round, each.segment)));
      copies.push_back(make::copy(value(value_slot, each.segment), landing_value(round, each.segment)));
    }
    for (Steps steps = message(std::move(receives)); const Step* step = steps.next();) co_yield *step;
    for (Steps steps = message(std::move(sends)); const Step* step = steps.next();) co_yield *step;
    for (const Step& step : copies) co_yield step;
  }
}

Steps circulant(Context c) {
  const Blocks blocks(c);
  const Hops hops(c.rank_count);
  for (Steps steps = scatter(c, blocks, hops); const Step* step = steps.next();) co_yield *step;
  const int value_slot = c.rooted() && c.rank != c.root ? 1 : 0;
  for (std::uint32_t s = blocks.begin(c.rank); s < blocks.end(c.rank); ++s)
    co_yield make::finish(value(value_slot, s), partial(0, s));
  if (c.scatters()) co_return;
  for (Steps steps = gather(c, blocks, hops); const Step* step = steps.next();) co_yield *step;
}

Count circulant_messages(Context c) {
  const auto ranks = c.ranks();
  const bool is_one = c.segments == 1;  // with one segment, the messages are the same as in a tree
  const Count there = is_one ? ranks - 1 : ranks * static_cast<Count>(order::ceil_log2(ranks));
  if (c.scatters()) return there;
  const Count to_root = is_one ? 0 : ranks - 1;
  return there + (c.rooted() ? to_root : there);
}

Count circulant_rounds(Context c) {
  const bool one_way = c.scatters() || (c.rooted() && c.segments == 1);
  return static_cast<Count>(order::ceil_log2(c.ranks())) * (one_way ? 1 : 2);
}

double circulant_vectors(Context c) {
  if (c.segments == 1) return static_cast<double>(circulant_rounds(c));
  const int ways = c.scatters() ? 1 : 2;
  return ways * (1 - 1 / static_cast<double>(c.rank_count));
}

Count circulant_halvings(Context c) { return c.segments == 1 ? 0 : static_cast<Count>(order::ceil_log2(c.ranks())); }

}  // namespace

constexpr Algorithm circulant_algorithm = {
    .name = "circulant",
    .sentence =
        "in each round every rank sends to the rank s ahead (cyclically), where s is the rank count halved repeatedly; "
        "then the results go back the same way",
    .collectives = reductions,
    .keeps_rank_order = KeepsRankOrder::never,
    .same_on_all_ranks = SameOnAllRanks::yes,
    .restrictions = "no method plain with a non-commutative operator",
    .parameters = {},
    .source = "arXiv 2410.14234",
    .steps = circulant,
    .messages = circulant_messages,
    .rounds = circulant_rounds,
    .partial_messages = block_partials,
    .segments = Segments::one_per_rank,
    .vectors = circulant_vectors,
    .halvings = circulant_halvings,
    .uneven = true,
};

}  // namespace steadfold::schedule::algorithms
