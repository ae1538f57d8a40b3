// Part of several: allreduces in which every rank does the same as rank 0, shifted by its number, in rounds over n
// ports. A file that includes this says what a round is: its messages, its merges.
// Rank order: cyclic. Cost: stated by the algorithms. Source: [S4] sections III.B and C.
#pragma once

#include "schedule/make_step.hpp"
#include "schedule/registry.hpp"

namespace steadfold::schedule {

inline constexpr Rank most_ports = 32;

/// The parameter `n=`: the ports of a rank, and the most messages that it sends in a round. Throws as `parse`.
inline Rank ports_of(const Spec* spec, Rank otherwise) {
  return spec ? static_cast<Rank>(number_of(*spec, "n", static_cast<Count>(otherwise), 1, most_ports)) : otherwise;
}

/// The rank that stands so far ahead of this one, or behind it: less than two turns of the circle.
inline Rank ahead(const Context& c, Rank distance) {
  return static_cast<Rank>((static_cast<Count>(c.rank) + static_cast<Count>(distance)) % c.ranks());
}
inline Rank behind(const Context& c, Rank distance) {
  return static_cast<Rank>((static_cast<Count>(c.rank) + 2 * c.ranks() - static_cast<Count>(distance)) % c.ranks());
}

/// The sum that a rank holds before a round. Two slots take turns, so that what is sent stays while the next sum is
/// made; and so do landing slots, whose receives are open one round ahead.
constexpr Slot whole_sum(int round) { return partial(round % 2); }
constexpr Slot landing_in(int round, Rank ports, Rank i) { return landing(round % 2 * ports + i); }
/// Slots for one message of two partials in a round.
constexpr Slot paired_landing_in(int round, Rank ports, int number) {
  return landing(2 * (ports + round % 2) + number);
}
inline constexpr Rank last_landing_slot = paired_landing_in(1, most_ports, 1).number;

/// The steps of all rounds. `Rounds` stands at one of them and has `done`, `number`, `next`, `messages`, and as free
/// functions of a context and itself `receives`, `sends` and `merges`, the last of which is also told whether the round
/// is the last one. What the rank holds after that stands in `whole_sum`.
template <class Rounds>
Steps in_rounds(Context c, Rounds rounds) {
  // Receives are open one round ahead, so that a partner that is early finds its slot free.
  if (!rounds.done())
    for (Steps steps = receives(c, rounds); const Step* step = steps.next();) co_yield *step;
  co_yield make::lift(whole_sum(0), c.rank);
  while (!rounds.done()) {
    Rounds following = rounds;
    following.next();
    for (Steps steps = sends(c, rounds); const Step* step = steps.next();) co_yield *step;
    if (!following.done())
      for (Steps steps = receives(c, following); const Step* step = steps.next();) co_yield *step;
    for (Steps steps = merges(c, rounds, following.done()); const Step* step = steps.next();) co_yield *step;
    rounds = following;
  }
  co_yield make::finish(value(), whole_sum(rounds.number()));
}

/// How many messages all ranks send in all rounds.
template <class Rounds>
Count message_count(Context c, Rounds rounds) {
  Count messages = 0;
  for (; !rounds.done(); rounds.next()) messages += static_cast<Count>(rounds.messages());
  return messages * c.ranks();
}

template <class Rounds>
Count round_count(Rounds rounds) {
  while (!rounds.done()) rounds.next();
  return static_cast<Count>(rounds.number());
}

}  // namespace steadfold::schedule
