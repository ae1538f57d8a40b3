// Part of several schedules: allreduce by doubling. In round k, units whose numbers differ in bit k exchange their
// sums. A unit is a rank, or a pair of ranks whose first rank takes part for both and sends the value to the second.
// The template parameter `Pairs` says which ranks form pairs. Its members are `rounds`, `in_pair`, `is_second_of_pair`,
// `other_of_pair`, `unit_of`, `first_rank` and `block`, the ranks of the aligned block of 2^level units that contains a
// unit.
// Rank order: units (single ranks or pairs) are merged in their order. Partners merge the same operands in the same
// order, so all ranks get the same bits.
// Cost: ceil(log2 p)(alpha + n beta + n gamma). Pairs add one alpha + n beta.
// Source: Balaji & Kimpe, section III.B; End et al., section III.A.
#pragma once

#include "schedule/make_step.hpp"

namespace steadfold::schedule {

// Landing slot for the message from the other rank of the pair; the rounds alternate between slots 0 and 1.
inline constexpr int pair_slot = 2;

/// A rank that takes part in the rounds.
template <class Pairs>
class DoublingRank {
 public:
  DoublingRank(const Context& c, const Pairs& pairs)
      : pairs_(pairs), rank_(c.rank), unit_(pairs.unit_of(c.rank)), has_pair_(pairs.in_pair(c.rank)) {}

  int rounds() const { return pairs_.rounds; }
  bool has_pair() const { return has_pair_; }
  Rank other() const { return pairs_.other_of_pair(rank_); }

  /// Returns the slot of the rank's sum before `round`. Two slots alternate, so that a merge need not wait for the send
  /// before it.
  Slot sum(int round, std::uint32_t s) const { return partial((round + (has_pair_ ? 1 : 0)) % 2, s); }

  Step merge_pair(std::uint32_t s) const {
    return make::merge(partial(1, s), partial(0, s), landing(pair_slot, s), pairs_.block(unit_, 0));
  }
  Step send(int round, std::uint32_t s) const {
    return make::send(partner(round), sum(round, s), landing(round % 2, s));
  }
  Step receive(int round, std::uint32_t s) const {
    return make::receive(partner(round), landing(round % 2, s), pairs_.block(partner_unit(round), round));
  }
  Step merge(int round, std::uint32_t s) const {
    const bool is_left = unit_ < partner_unit(round);
    const Slot mine = sum(round, s);
    const Slot other = landing(round % 2, s);
    return make::merge(sum(round + 1, s), is_left ? mine : other, is_left ? other : mine,
                       pairs_.block(unit_, round + 1));
  }

 private:
  Rank partner_unit(int round) const { return unit_ ^ (Rank{1} << round); }
  Rank partner(int round) const { return pairs_.first_rank(partner_unit(round)); }

  Pairs pairs_;
  Rank rank_;
  Rank unit_;
  bool has_pair_;
};

/// Makes the steps of the second rank of a pair.
inline Steps outside(Context c, Rank first) {
  for (std::uint32_t s = 0; s < c.segments; ++s) {
    co_yield make::lift(partial(0, s), c.rank);
    co_yield make::send(first, partial(0, s), landing(pair_slot, s));
  }
  for (std::uint32_t s = 0; s < c.segments; ++s) co_yield make::receive(first, landing_value(0, s));
  for (std::uint32_t s = 0; s < c.segments; ++s) co_yield make::copy(value(0, s), landing_value(0, s));
}

/// Receives are posted one round ahead, so that an early message finds its slot free.
template <class Pairs>
Steps inside(Context c, DoublingRank<Pairs> member) {
  const int rounds = member.rounds();
  for (std::uint32_t s = 0; s < c.segments && member.has_pair(); ++s) {
    co_yield make::receive(member.other(), landing(pair_slot, s), {member.other(), 1});
  }
  for (std::uint32_t s = 0; s < c.segments; ++s) {
    co_yield make::lift(partial(0, s), c.rank);
    if (member.has_pair()) co_yield member.merge_pair(s);
    if (rounds == 0) continue;
    co_yield member.send(0, s);
    co_yield member.receive(0, s);
  }
  for (std::uint32_t s = 0; s < c.segments && rounds > 1; ++s) co_yield member.receive(1, s);
  for (int round = 1; round < rounds; ++round) {
    for (std::uint32_t s = 0; s < c.segments; ++s) {
      co_yield member.merge(round - 1, s);
      co_yield member.send(round, s);
      if (round + 1 < rounds) co_yield member.receive(round + 1, s);
    }
  }
  for (std::uint32_t s = 0; s < c.segments; ++s) {
    if (rounds > 0) co_yield member.merge(rounds - 1, s);
    co_yield make::finish(value(0, s), member.sum(rounds, s));
    if (member.has_pair()) co_yield make::send(member.other(), value(0, s), landing_value(0, s));
  }
}

template <class Pairs>
Steps doubling(Context c, const Pairs& pairs) {
  return pairs.is_second_of_pair(c.rank) ? outside(c, pairs.other_of_pair(c.rank)) : inside(c, DoublingRank(c, pairs));
}

inline Count doubling_partials(const Context& c) {
  const int rounds = order::floor_log2(c.ranks());
  const Count units = Count{1} << rounds;
  return (units * static_cast<Count>(rounds) + c.ranks() - units) * c.segments;
}

inline Count doubling_messages(const Context& c) {
  const Count pairs = c.ranks() - (Count{1} << order::floor_log2(c.ranks()));
  return doubling_partials(c) + pairs * c.segments;
}

/// Returns the rounds. If p is not a power of two, there is one more round for a pair's partial and one for each
/// segment of its value.
inline Count doubling_rounds(const Context& c) {
  const auto rounds = static_cast<Count>(order::floor_log2(c.ranks()));
  const bool pairs = c.ranks() > Count{1} << rounds;
  return rounds * c.segments + (pairs ? 1 + c.segments : 0);
}

}  // namespace steadfold::schedule
