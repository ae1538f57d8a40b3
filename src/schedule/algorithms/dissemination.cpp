// n-way dissemination, adapted so that no rank's rows count twice. Let b = n + 1. Before round l a rank holds the sum
// of its own rows and the rows of the ranks behind it, b^l ranks in all. In round l it receives the sums of the n ranks
// at distances b^l, 2 b^l, ... behind it. Unless the rank count is a power of b, these sums would overlap in the last
// round. So the last source sends only a part of its sum, and the receiver leaves out a part of its own sum, the cut.
// Part and cut both end at a data boundary, where one message ended and the next began. Therefore both sums can be
// stored in the round in which they arise, and nothing is subtracted.
//
// If no two boundaries fit, (p, n) is not adaptable. In this case the part is assembled digit by digit, to the base b:
// in a round a second partial, the part assembled so far, travels in the same message as the sender's sum. Without
// `n=`, the schedule takes the smallest n up to 5 with the fewest rounds, which is the fastest n almost everywhere
// (lab/studies.md, "The best n"). With `strict=1` it takes the smallest adaptable n, as End et al. do.
// Rank order: cyclic, from the rank itself. All ranks end with the same rows, merged in different orders.
// Cost: ceil(log_{n+1} p)(alpha + n beta + n gamma) over n ports, and about one gamma more per round if there is a cut.
// Source: End et al., section III.B. Their 5-tuples are (sources, part, cut) here. Larger messages: section III.D.
//
// The original form leaves nothing out: every rank always sends its whole sum, in k rounds. So some ranks count twice,
// unless p is a multiple of b^(k-1). A rank does not send a message whose source is p or more ranks behind the
// receiver, since it brings nothing new.
// Cost: the same rounds, without cuts and second partials. Source: Hoefler et al., as given by End et al., formulas (1)
// and (2).
#include <algorithm>
#include <array>

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/all_segments.hpp"
#include "schedule/algorithms/cyclic.hpp"

namespace steadfold::schedule::algorithms {
namespace {

// How the last round is adapted, so that no rank counts twice: ranks = sources * size + part - cut. `size` is the
// number of ranks in a sum before that round. This is formula (8) of End et al., where a boundary is the end of a * b^i
// ranks. Their case without a cut is P - 1 = g_snd.
struct Adaption {
  Count sources = 0;  // number of messages that each rank receives in the last round
  Count part = 0;     // number of ranks in the last of these messages
  Count cut = 0;      // number of ranks that the receiver leaves out of its own sum
  // Number of rounds in which a second partial is sent in the same message; 0 if (p, n) is adaptable.
  Count companions = 0;

  bool better_than(const Adaption& other) const {
    return companions != other.companions ? companions < other.companions : sources < other.sources;
  }
};

Count digits_above_zero(Count number, Count base) {
  Count digits = 0;
  for (; number > 0; number /= base) digits += number % base > 0 ? 1 : 0;
  return digits;
}

Count size_before_last_round(Count ranks, Count base) {
  Count size = 1;
  while (size * base < ranks) size *= base;
  return size;
}

Adaption adaption_by(Count cut, Count ranks, Count base, Count size) {
  const Count sources = (ranks + cut - 1) / size;
  const Count part = ranks + cut - sources * size;
  return {.sources = sources, .part = part, .cut = cut, .companions = digits_above_zero(part, base) - 1};
}

// Returns the adaption with the fewest second partials, then the fewest messages, then the smallest cut.
Adaption adaption_of(Count ranks, Count base) {
  if (ranks == 1) return {};
  const Count size = size_before_last_round(ranks, base);
  Adaption best = adaption_by(0, ranks, base, size);
  for (Count boundary = 1; boundary < size; boundary *= base) {
    for (Count i = 1; i < base; ++i) {
      const Adaption found = adaption_by(i * boundary, ranks, base, size);
      if (found.sources < base && found.better_than(best)) best = found;
    }
  }
  return best;
}

// Returns the original form: as many whole sums as are needed. The last sum may include ranks that are already counted.
Adaption unadapted(Count ranks, Count base) {
  const Count size = size_before_last_round(ranks, base);
  return {.sources = (ranks - 1) / size, .part = size};
}

Count base_of(Rank ports) { return static_cast<Count>(ports) + 1; }

// Returns the smallest n up to `most` for which `amount` is smallest.
template <class Amount>
Rank ports_of_least(Rank most, Amount amount_for) {
  Rank best = 1;
  Count least = amount_for(best);
  for (Rank ports = 2; ports <= most && least > 0; ++ports)
    if (const Count amount = amount_for(ports); amount < least) best = ports, least = amount;
  return best;
}

Rank ports_of_fewest_rounds(Count ranks) {
  return ports_of_least(5, [&](Rank ports) {
    Count rounds = 0;
    for (Count size = 1; size < ranks; size *= base_of(ports)) ++rounds;
    return rounds;
  });
}

Rank ports_of_fewest_companions(Count ranks) {
  return ports_of_least(most_ports, [&](Rank ports) { return adaption_of(ranks, base_of(ports)).companions; });
}

bool is_strict(const Spec& spec) { return number_of(spec, "strict", 0, 0, 1) == 1; }

Rank ports_of(const Context& c) {
  if (c.spec != nullptr && c.spec->parameter("n") != nullptr) return schedule::ports_of(c.spec, 1);
  const bool must_be_adaptable = c.spec != nullptr && is_strict(*c.spec);
  return must_be_adaptable ? ports_of_fewest_companions(c.ranks()) : ports_of_fewest_rounds(c.ranks());
}

// Iterates over the rounds. The sum of a rank is described by offsets: 0 is the rank itself, 1 the rank behind it.
class DisseminationRounds {
 public:
  DisseminationRounds(Count ranks, Rank ports, const Adaption& adaption)
      : ranks_(ranks), ports_(ports), adaption_(adaption) {}

  bool done() const { return size_ >= ranks_; }
  bool is_last() const { return !done() && size_ * base() >= ranks_; }
  int number() const { return number_; }
  Rank ports() const { return ports_; }
  const Adaption& adaption() const { return adaption_; }
  Rank messages() const { return is_last() ? static_cast<Rank>(adaption_.sources) : ports_; }
  void next() {
    turn_ += digit() > 0 ? 1 : 0;
    size_ *= base();
    ++number_;
  }

  // Return the number of ranks in a sum, and the distance from a rank to its i-th source.
  Count size() const { return size_; }
  Count distance(Rank i) const { return (static_cast<Count>(i) + 1) * size_; }
  bool is_part(Rank i) const { return is_last() && i + 1 == messages() && adaption_.part < size_; }
  Count count(Rank i) const { return is_part(i) ? adaption_.part : size_; }

  // Whether the part is made after i messages of this round are merged. In a round the part grows by one digit of its
  // length. The new part consists of as many sums as the digit says, followed by the old part of one more source, if
  // there is an old part.
  bool makes_part(Rank i) const { return digit() == static_cast<Count>(i) + 1; }
  bool has_companion(Rank i) const { return makes_part(i) && part_so_far() > 0; }
  Count part_so_far() const { return adaption_.part % size_; }
  int turn() const { return turn_; }

  // Return whether the cut was made in an earlier round, and whether it is made before the i-th message is merged.
  bool is_cut() const { return adaption_.cut > 0 && adaption_.cut < size_; }
  bool cuts_before(Rank i) const { return adaption_.cut == distance(i); }
  bool cuts_after(Rank i) const { return adaption_.cut > distance(i) && adaption_.cut < size_ * base(); }
  // Whether the next round needs the whole sum.
  bool needs_whole() const {
    const bool is_next_last = size_ * base() * base() >= ranks_;
    return !is_next_last || adaption_.sources > 1 || adaption_.part == size_ * base();
  }

 private:
  Count base() const { return base_of(ports_); }
  Count digit() const { return is_last() ? 0 : adaption_.part / size_ % base(); }

  Count ranks_;
  Rank ports_;
  Adaption adaption_;
  Count size_ = 1;
  int number_ = 0;
  int turn_ = 0;  // number of times that the part has grown
};

// Returns the slot of the part. Two slots alternate, as for whole sums: one is sent while the next is made in the
// other.
Slot part_sum(int turn) { return partial(2 + turn % 2); }
Slot cut_sum() { return partial(4); }
Slot rest_sum() { return partial(5); }  // slot for the sum of the ranks behind the cut
// Returns the landing slot of the i-th message. A message with a second partial has separate slots, since a landing
// slot must always arrive with the same other slots.
Slot landing_of(const DisseminationRounds& r, Rank i) {
  return r.has_companion(i) ? paired_landing_in(r.number(), r.ports(), 0) : landing_in(r.number(), r.ports(), i);
}
Slot companion_of(const DisseminationRounds& r) { return paired_landing_in(r.number(), r.ports(), 1); }

// Returns the ranks at offsets `begin` to `end` - 1. In the original form the offsets may cover all ranks.
RankRange ranks_at(const Context& c, Count begin, Count end) {
  return {behind(c, static_cast<Rank>(end - 1)), static_cast<Rank>(std::min(end - begin, c.ranks()))};
}

Steps receives(Context c, DisseminationRounds r) {
  for (Rank i = 0; i < r.messages(); ++i) {
    const Count from = r.distance(i);
    const Rank source = behind(c, static_cast<Rank>(from));
    co_yield make::with_next(make::receive(source, landing_of(r, i), ranks_at(c, from, from + r.count(i))),
                             r.has_companion(i));
    if (r.has_companion(i)) co_yield make::receive(source, companion_of(r), ranks_at(c, from, from + r.part_so_far()));
  }
}

Steps sends(Context c, DisseminationRounds r) {
  for (Rank i = 0; i < r.messages(); ++i) {
    const Rank target = ahead(c, static_cast<Rank>(r.distance(i)));
    const Slot sum = r.is_part(i) ? part_sum(r.turn()) : whole_sum(r.number());
    co_yield make::with_next(make::send(target, sum, landing_of(r, i)), r.has_companion(i));
    if (r.has_companion(i)) co_yield make::send(target, part_sum(r.turn()), companion_of(r));
  }
}

// The sum over the ranks from the cut, or from the rank itself, up to the last message that has been merged in this
// round.
struct RangeSum {
  Slot slot;
  Count begin;
  Count end;

  RankRange ranks(const Context& c) const { return ranks_at(c, begin, end); }
};

// Makes the part for the next round: the sum so far, together with the rows that were cut off, and the old part of the
// next source.
Steps make_part(Context c, DisseminationRounds r, RangeSum sum, Rank i) {
  const Slot part = part_sum(r.turn() + 1);
  const Covers before = ranks_at(c, 0, sum.end);
  const Covers with_companion = ranks_at(c, 0, sum.end + r.part_so_far());
  const bool has_cut = sum.begin > 0;
  if (has_cut) co_yield make::merge(part, sum.slot, cut_sum(), before);
  if (r.has_companion(i)) co_yield make::merge(part, companion_of(r), has_cut ? part : sum.slot, with_companion);
  if (!has_cut && !r.has_companion(i)) co_yield make::copy(part, sum.slot, before);
}

// Returns the slot of the sum after the i-th message has been merged.
Slot target_of(const DisseminationRounds& r, Rank i) {
  if (r.is_last()) return whole_sum(r.number() + 1);
  if (r.cuts_after(i)) return cut_sum();
  const bool is_behind_cut = r.adaption().cut > 0 && r.adaption().cut <= r.distance(i);
  return is_behind_cut ? rest_sum() : whole_sum(r.number() + 1);
}

Steps merges(Context c, DisseminationRounds r, bool is_last) {
  RangeSum sum{r.is_cut() ? rest_sum() : whole_sum(r.number()), r.is_cut() ? r.adaption().cut : 0, r.size()};
  for (Rank i = 0; i < r.messages(); ++i) {
    if (r.makes_part(i))
      for (Steps steps = make_part(c, r, sum, i); const Step* step = steps.next();) co_yield *step;
    const Count end = r.distance(i) + r.count(i);
    if (r.cuts_before(i)) {
      if (i == 0) co_yield make::copy(cut_sum(), sum.slot, sum.ranks(c));
      sum = {landing_of(r, i), r.distance(i), end};
      continue;
    }
    const RangeSum grown{target_of(r, i), sum.begin, end};
    co_yield make::merge(grown.slot, landing_of(r, i), sum.slot, grown.ranks(c));
    sum = grown;
  }
  if (is_last || sum.begin == 0) co_return;
  if (sum.slot != rest_sum()) co_yield make::copy(rest_sum(), sum.slot, sum.ranks(c));
  if (r.needs_whole()) co_yield make::merge(whole_sum(r.number() + 1), rest_sum(), cut_sum(), ranks_at(c, 0, sum.end));
}

DisseminationRounds rounds_of(const Context& c) {
  const Rank ports = ports_of(c);
  return {c.ranks(), ports, adaption_of(c.ranks(), base_of(ports))};
}

Steps dissemination(Context c) { return for_all_segments(in_rounds(c, rounds_of(c)), c.segments); }

Count dissemination_messages(Context c) { return message_count(c, rounds_of(c)); }

Count dissemination_partials(Context c) {
  const DisseminationRounds rounds = rounds_of(c);
  return (message_count(c, rounds) + rounds.adaption().companions * c.ranks()) * c.segments;
}

Count dissemination_rounds(Context c) { return round_count(rounds_of(c)); }

std::uint32_t dissemination_ports(Context c) { return static_cast<std::uint32_t>(ports_of(c)); }

void check_dissemination(const Spec& spec) {
  schedule::ports_of(&spec, 1);
  is_strict(spec);
}

std::optional<std::string> refusal_of_dissemination(const Context& c) {
  const auto is_adaptable = [&](Rank ports) { return adaption_of(c.ranks(), base_of(ports)).companions == 0; };
  if (!is_strict(*c.spec) || is_adaptable(ports_of(c))) return std::nullopt;
  const Rank best = ports_of_fewest_companions(c.ranks());
  const std::string other = is_adaptable(best) ? "use n=" + std::to_string(best) + " or " : "";
  return "schedule '" + text_of(*c.spec) + "' cannot serve " + std::to_string(c.rank_count) +
         " ranks ('strict' allows one partial result per message, and some messages would need two), " + other +
         "leave out 'strict'";
}

constexpr std::array<std::string_view, 2> dissemination_parameters = {"n", "strict"};
constexpr std::array<std::string_view, 4> dissemination_examples = {"n=1", "n=2", "n=3", "n=5"};

Rank original_ports_of(const Context& c) { return schedule::ports_of(c.spec, 1); }

DisseminationRounds original_rounds_of(const Context& c) {
  const Rank ports = original_ports_of(c);
  return {c.ranks(), ports, unadapted(c.ranks(), base_of(ports))};
}

Steps original(Context c) { return for_all_segments(in_rounds(c, original_rounds_of(c)), c.segments); }

Count original_messages(Context c) { return message_count(c, original_rounds_of(c)); }

Count original_partials(Context c) { return original_messages(c) * c.segments; }

Count original_rounds(Context c) { return round_count(original_rounds_of(c)); }

std::uint32_t original_port_count(Context c) { return static_cast<std::uint32_t>(original_ports_of(c)); }

void check_original(const Spec& spec) { original_ports_of({.spec = &spec}); }

constexpr std::array<std::string_view, 1> original_parameters = {"n"};
constexpr std::array<std::string_view, 3> original_examples = {"n=2", "n=3", "n=5"};

}  // namespace

constexpr Algorithm dissemination_algorithm = {
    .name = "dissemination",
    .sentence =
        "every rank sends its partial result to n ranks ahead, and the distance grows n+1 times per round; no rank is "
        "counted twice",
    .collectives = Collective::allreduce,
    .keeps_rank_order = KeepsRankOrder::never,
    .same_on_all_ranks = SameOnAllRanks::no,
    .restrictions = "no method plain if the order of combining changes the bits",
    .parameters = dissemination_parameters,
    .source = "S4",
    .steps = dissemination,
    .messages = dissemination_messages,
    .rounds = dissemination_rounds,
    .partial_messages = dissemination_partials,
    .ports = dissemination_ports,
    .check_parameters = check_dissemination,
    .refusal_of_ranks = refusal_of_dissemination,
    .examples = dissemination_examples,
    .uneven = true,
};

constexpr Algorithm original_dissemination_algorithm = {
    .name = "original_dissemination",
    .sentence = "as dissemination, but a rank always sends its whole partial result, so some ranks are counted twice",
    .collectives = Collective::allreduce,
    .keeps_rank_order = KeepsRankOrder::never,
    .same_on_all_ranks = SameOnAllRanks::no,
    .restrictions = "only for min, max and their locations, with method plain",
    .parameters = original_parameters,
    .source = "S4",
    .steps = original,
    .messages = original_messages,
    .rounds = original_rounds,
    .partial_messages = original_partials,
    .ports = original_port_count,
    .check_parameters = check_original,
    .examples = original_examples,
    .counts = Counts::at_least_once,
    .uneven = true,
};

}  // namespace steadfold::schedule::algorithms
