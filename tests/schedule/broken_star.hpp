// A schedule that can be broken in one way at a time, for tests of what the checker reports.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "schedule/checker/checker.hpp"
#include "schedule/make_step.hpp"

namespace steadfold::schedule {

// Every rank sends to rank 0, which merges in rank order: right as it stands, and wrong in one way at a time.
enum class Fault {
  none,
  dropped_message,
  second_message,
  swapped_merge,
  wrong_covers_of_message,
  wrong_covers_of_merge,
  left_out,
  duplicate,
  overwritten_landing,
  other_slot,
  other_segment,
  no_such_segment,
  no_such_peer,
  merge_into_landing,
  empty_slot,
  no_value,
};

template <Fault fault>
Steps star(Context c) {
  const Rank last = c.rank_count - 1;
  co_yield make::lift(partial(0), c.rank);
  if (c.rank > 0) {
    const Slot target = landing(fault == Fault::overwritten_landing ? 0 : c.rank);
    const bool is_odd_one = c.rank == last;
    if (fault != Fault::dropped_message || !is_odd_one) co_yield make::send(0, partial(0), target);
    if (fault == Fault::second_message && is_odd_one) co_yield make::send(0, partial(0), target);
    co_return;
  }
  for (Rank rank = 1; rank <= last; ++rank) {
    const bool is_odd_one = rank == last;
    Slot target = landing(fault == Fault::overwritten_landing ? 0 : rank);
    if (fault == Fault::other_slot && is_odd_one) target = landing(0);
    const Rank peer = fault == Fault::no_such_peer && is_odd_one ? c.rank_count : rank;
    const Rank count = fault == Fault::wrong_covers_of_message && is_odd_one ? 2 : 1;
    co_yield make::receive(peer, target, {rank, count});
  }
  for (Rank rank = 1; rank <= last; ++rank) {
    if (fault == Fault::left_out && rank == last) break;
    Slot left = partial(0);
    Slot right = landing(fault == Fault::overwritten_landing ? 0 : rank);
    if (fault == Fault::duplicate && rank == last) right = landing(rank - 1);
    if (fault == Fault::empty_slot) right = partial(7);
    if (fault == Fault::swapped_merge) std::swap(left, right);
    if (fault == Fault::other_segment) right.segment = 1;
    if (fault == Fault::no_such_segment) left.segment = right.segment = c.segments;
    Slot target = fault == Fault::merge_into_landing ? landing(rank) : partial(0);
    if (fault == Fault::no_such_segment) target.segment = c.segments;
    const Rank first = fault == Fault::wrong_covers_of_merge ? 1 : 0;
    co_yield make::merge(target, left, right, {first, rank + 1});
  }
  if (fault != Fault::no_value) co_yield make::finish(value(0), partial(0));
}

inline Count star_messages(Context c) { return static_cast<Count>(c.rank_count) - 1; }

inline Algorithm algorithm_of(Steps (*steps)(Context)) {
  Algorithm algorithm = *find("flat");
  algorithm.name = "broken";
  algorithm.steps = steps;
  algorithm.messages = nullptr;
  algorithm.rounds = nullptr;
  algorithm.partial_messages = nullptr;
  return algorithm;
}

inline constexpr Context reduce_of_four{.rank_count = 4, .collective = Collective::reduce};

template <Fault fault>
std::string report() {
  return check(algorithm_of(star<fault>), reduce_of_four).value_or("nothing");
}

#define EXPECT_REPORTS(report, part) EXPECT_NE((report).find(part), std::string::npos) << (report)

}  // namespace steadfold::schedule
