// Part of several schedules: allreduces over n ports in which every rank does the same steps, shifted by its rank. A
// file that includes this header defines the messages and merges of a round.
// Rank order: cyclic. Cost: stated by each algorithm. Source: End et al., sections III.B and C.
#pragma once

#include "schedule/make_step.hpp"
#include "schedule/registry.hpp"

namespace steadfold::schedule {

inline constexpr Rank most_ports = 32;

/// Returns the parameter `n=`: the number of ports of a rank, which is also the largest number of messages that it
/// sends in a round. Throws std::invalid_argument, as `parse` does.
inline Rank ports_of(const Spec* spec, Rank otherwise) {
  return spec ? static_cast<Rank>(number_of(*spec, "n", static_cast<Count>(otherwise), 1, most_ports)) : otherwise;
}

/// Return the rank at this distance ahead of this rank, or behind it. The distance must be less than twice the rank
/// count.
inline Rank ahead(const Context& c, Rank distance) {
  return static_cast<Rank>((static_cast<Count>(c.rank) + static_cast<Count>(distance)) % c.ranks());
}
inline Rank behind(const Context& c, Rank distance) {
  return static_cast<Rank>((static_cast<Count>(c.rank) + 2 * c.ranks() - static_cast<Count>(distance)) % c.ranks());
}

/// Returns the slot of the sum that a rank holds before a round. Two slots alternate, so that one is sent while the
/// next sum is made in the other. Landing slots alternate too, since receives are posted one round ahead.
constexpr Slot whole_sum(int round) { return partial(round % 2); }
constexpr Slot landing_in(int round, Rank ports, Rank i) { return landing(round % 2 * ports + i); }
/// Returns the landing slots of a round for one message that carries two partials.
constexpr Slot paired_landing_in(int round, Rank ports, int number) {
  return landing(2 * (ports + round % 2) + number);
}
inline constexpr Rank last_landing_slot = paired_landing_in(1, most_ports, 1).number;

/// Makes the steps of all rounds. `Rounds` is an iterator over rounds, with members `done`, `number`, `next` and
/// `messages`. The free functions `receives`, `sends` and `merges` take a context and a `Rounds`; `merges` is also told
/// whether the round is the last. After the rounds the rank's sum is in `whole_sum`.
template <class Rounds>
Steps in_rounds(Context c, Rounds rounds) {
  // Receives are posted one round ahead, so that an early message finds its slot free.
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

/// Returns the number of messages that all ranks send in all rounds.
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
