// Bruck's global combine: in each round every rank sends its sums to n ranks before it and receives sums from n ranks
// behind it. A rank keeps two sums: one with its own rows, one without them. The digits of p - 1 to the base n + 1,
// highest digit first, say how many of the n messages carry the sum with the sender's rows. The other messages carry
// the sum without them. So no rank's rows count twice.
// Rank order: cyclic, from the rank itself. All ranks end with the same rows, merged in different orders.
// Cost: ceil(log_{n+1} p)(alpha + n beta + n gamma) over n ports, and about as many merges again for the sum without
// the rank's own rows.
// Source: Bruck and Ho, as described by End et al., section III.C.
#include <array>

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/all_segments.hpp"
#include "schedule/algorithms/cyclic.hpp"

namespace steadfold::schedule::algorithms {
namespace {

Rank ports_of(const Context& c) { return schedule::ports_of(c.spec, 1); }

// One round. A rank holds two sums: the sum over itself and the `behind` ranks behind it, and the sum over only these
// ranks.
struct Round {
  Rank behind = 0;
  Rank ports = 1;
  Rank whole = 0;  // number of messages with the sender's rows, a digit of p - 1; the other messages lack them

  Rank messages() const { return behind == 0 ? whole : ports; }
  Rank behind_next() const { return behind * (ports + 1) + whole; }
  bool is_whole(Rank i) const { return i < whole; }
  // Returns the distance from a rank to its i-th source.
  Rank distance(Rank i) const {
    return is_whole(i) ? (i + 1) * (behind + 1) : whole * (behind + 1) + (i + 1 - whole) * behind;
  }
  // Return the ranks that the i-th message covers: the distance of the first rank from the receiver, and the number of
  // ranks.
  Rank first(Rank i) const { return distance(i) + (is_whole(i) ? 0 : 1); }
  Rank count(Rank i) const { return behind + (is_whole(i) ? 1 : 0); }
};

// Iterates over the rounds.
class BruckRounds {
 public:
  BruckRounds(Rank rank_count, Rank ports) : ports_(ports), last_(static_cast<Count>(rank_count) - 1) {
    if (last_ == 0) return;
    while (last_ / power_ > static_cast<Count>(ports)) power_ *= base();
    current_ = round(0);
  }

  bool done() const { return last_ == 0 || power_ == 0; }
  const Round& current() const { return current_; }
  Rank messages() const { return current_.messages(); }
  int number() const { return number_; }
  void next() {
    const Rank behind = current_.behind_next();
    power_ /= base();
    ++number_;
    if (power_ > 0) current_ = round(behind);
  }

 private:
  Count base() const { return static_cast<Count>(ports_) + 1; }
  Round round(Rank behind) const {
    return {.behind = behind, .ports = ports_, .whole = static_cast<Rank>(last_ / power_ % base())};
  }

  Rank ports_;
  Count last_;
  Count power_ = 1;
  Round current_;
  int number_ = 0;
};

Slot sum_behind(int round) { return partial(2 + round % 2); }
Slot arrived_sum() { return partial(4); }
Slot landing_of(const BruckRounds& rounds, Rank i) { return landing_in(rounds.number(), rounds.current().ports, i); }

Steps receives(Context c, BruckRounds rounds) {
  const Round round = rounds.current();
  for (Rank i = 0; i < round.messages(); ++i)
    co_yield make::receive(ahead(c, round.distance(i)), landing_of(rounds, i),
                           {ahead(c, round.first(i)), round.count(i)});
}

Steps sends(Context c, BruckRounds rounds) {
  const Round round = rounds.current();
  for (Rank i = 0; i < round.messages(); ++i)
    co_yield make::send(behind(c, round.distance(i)),
                        round.is_whole(i) ? whole_sum(rounds.number()) : sum_behind(rounds.number()),
                        landing_of(rounds, i));
}

// Makes the steps that merge the partials of a round. Arrived partials are merged with each other first, since both
// sums need the result.
Steps merges(Context c, BruckRounds rounds, bool is_last) {
  const Round round = rounds.current();
  const int number = rounds.number();
  const bool begins = round.behind == 0;
  Slot arrived = landing_of(rounds, 0);
  Rank count = round.count(0);
  for (Rank i = 1; i < round.messages(); ++i) {
    const Slot sum = begins ? sum_behind(number + 1) : arrived_sum();
    count += round.count(i);
    co_yield make::merge(sum, arrived, landing_of(rounds, i), {ahead(c, round.first(0)), count});
    arrived = sum;
  }
  co_yield make::merge(whole_sum(number + 1), whole_sum(number), arrived, {c.rank, round.behind + 1 + count});
  if (is_last) co_return;
  const RankRange behind{ahead(c, 1), round.behind + count};
  if (!begins) co_yield make::merge(sum_behind(number + 1), sum_behind(number), arrived, behind);
  if (begins && round.messages() == 1) co_yield make::copy(sum_behind(number + 1), arrived, behind);
}

BruckRounds rounds_of(const Context& c) { return {c.rank_count, ports_of(c)}; }

Steps bruck(Context c) { return for_all_segments(in_rounds(c, rounds_of(c)), c.segments); }

Count bruck_messages(Context c) { return message_count(c, rounds_of(c)); }

Count bruck_partials(Context c) { return bruck_messages(c) * c.segments; }

Count bruck_rounds(Context c) { return round_count(rounds_of(c)); }

std::uint32_t bruck_ports(Context c) { return static_cast<std::uint32_t>(ports_of(c)); }

void check_bruck(const Spec& spec) { ports_of({.spec = &spec}); }

constexpr std::array<std::string_view, 1> bruck_parameters = {"n"};
constexpr std::array<std::string_view, 3> bruck_examples = {"n=2", "n=3", "n=5"};

}  // namespace

constexpr Algorithm bruck_algorithm = {
    .name = "bruck",
    .sentence =
        "in each round every rank sends its partial results to n ranks before it (cyclically); all ranks finish in the "
        "same round",
    .collectives = Collective::allreduce,
    .keeps_rank_order = KeepsRankOrder::never,
    .same_on_all_ranks = SameOnAllRanks::no,
    .restrictions = "no method plain if the order of combining changes the bits",
    .parameters = bruck_parameters,
    .source = "S4",
    .steps = bruck,
    .messages = bruck_messages,
    .rounds = bruck_rounds,
    .partial_messages = bruck_partials,
    .ports = bruck_ports,
    .check_parameters = check_bruck,
    .examples = bruck_examples,
    .uneven = true,
};

}  // namespace steadfold::schedule::algorithms
