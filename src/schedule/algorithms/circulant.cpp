// Circulant: in round k every rank sends to the one s_k ahead, where the s_k, in ascending order, are the rank count
// halved again and again and rounded up. A partial's distance to its block's owner is split into these hops greedily;
// the block's values come back along them, or go to the root.
// Rank order: cyclic. Distances with the same greatest hops are adjacent, so that what a rank holds of a block is one
// cyclic run of ranks: with ascending hops a record has two intervals at most, with descending ones up to p/2.
// Cost: 2 ceil(log2 p) alpha + 2(p-1)/p n beta + (p-1)/p n gamma, for any p; reduce_scatter half of it.
// Source: Träff, arXiv 2410.14234, whose hops descend.
#include <vector>

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/blocks.hpp"
#include "schedule/make_step.hpp"

namespace steadfold::schedule::algorithm {
namespace {

// A run of distances to a block's owner, from `first` on, whose partials take the same hops in the rounds to come. The
// rank at `first` gathers those of the others.
struct Distances {
  Rank first;
  Rank count;
};

// The hops, in descending order, and for every round the runs of distances: [0, p) to begin with; a round cuts each run
// that is longer than its hop in two.
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

// A segment whose partial or value goes over a round's hop, and how many ranks' partials stand on either side of it.
struct OverHop {
  std::uint32_t segment;
  Rank at_receiver;  // the receiver's own is the last of them
  Rank at_sender;
};

// The segments that reach the rank `receiver_ahead` ahead over a round's hop: one block for each run that is cut there.
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

// The way back: values leave over the hop that their partials came over. In a rooted call a rank sends once: the values
// it has on their way to the root, over the hop at which its distance from the root is in the sender's part of their
// run.
Steps gather(Context c, Blocks blocks, const Hops& hops) {
  const int place = c.rooted() && c.rank != c.root ? 1 : 0;  // value 0 is the result
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
        sends.push_back(make::send(blocks.ahead(-hop), value(place, each.segment), landing_value(round, each.segment)));
    }
    std::vector<Step> receives;
    std::vector<Step> copies;
    for (const OverHop& each : segments_over_hop(blocks, hops, round, hop)) {
      const Rank peers_distance = from_root + hop;
      if (!on_the_way(peers_distance % c.rank_count, each) || (c.rooted() && peers_distance >= c.rank_count)) continue;
      receives.push_back(make::receive(peer, landing_value(round, each.segment)));
      copies.push_back(make::copy(value(place, each.segment), landing_value(round, each.segment)));
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
  const int place = c.rooted() && c.rank != c.root ? 1 : 0;
  for (std::uint32_t s = blocks.begin(c.rank); s < blocks.end(c.rank); ++s)
    co_yield make::finish(value(place, s), partial(0, s));
  if (c.scatters()) co_return;
  for (Steps steps = gather(c, blocks, hops); const Step* step = steps.next();) co_yield *step;
}

Count circulant_messages(Context c) {
  const auto ranks = c.ranks();
  const bool is_one = c.segments == 1;  // then messages are as in a tree
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

constexpr Row circulant_row = {
    .name = "circulant",
    .sentence =
        "every rank sends to the one s_k ahead in round k, s_k being halves of the rank count; then the "
        "values go back",
    .collectives = reductions,
    .keeps_rank_order = KeepsRankOrder::never,
    .same_on_all_ranks = SameOnAllRanks::yes,
    .restrictions = "no plain with an operator that does not commute",
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

}  // namespace steadfold::schedule::algorithm
