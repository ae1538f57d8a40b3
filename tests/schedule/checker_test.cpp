// The checker reports each fault of schedules broken on purpose. What it proves: proofs_test.cpp.
#include "schedule/checker.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "schedule/make_step.hpp"

namespace steadfold::schedule {
namespace {

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

Count star_messages(Context c) { return static_cast<Count>(c.rank_count) - 1; }

Row row_of(Steps (*steps)(Context)) {
  Row row = *find("flat");
  row.name = "broken";
  row.steps = steps;
  row.messages = nullptr;
  row.rounds = nullptr;
  row.partial_messages = nullptr;
  return row;
}

constexpr Context reduce_of_four{.rank_count = 4, .collective = Collective::reduce};

template <Fault fault>
std::string report() {
  return check(row_of(star<fault>), reduce_of_four).value_or("nothing");
}

#define EXPECT_REPORTS(report, part) EXPECT_NE((report).find(part), std::string::npos) << (report)

TEST(Checker, AcceptsTheStarWithoutFault) { EXPECT_EQ(report<Fault::none>(), "nothing"); }

TEST(Checker, ReportsMessagesThatDoNotMatch) {
  EXPECT_REPORTS(report<Fault::dropped_message>(), "from rank 3 to rank 0 waits for a message that is never sent");
  EXPECT_REPORTS(report<Fault::second_message>(), "a message from rank 3 to rank 0 is never received");
  EXPECT_REPORTS(report<Fault::other_slot>(), "goes to landing(3, segment 0), its receive names landing(0, segment 0)");
  EXPECT_REPORTS(report<Fault::no_such_peer>(), "no peer 4");
}

TEST(Checker, ReportsWrongOrderAndCovers) {
  EXPECT_REPORTS(report<Fault::swapped_merge>(), "merges out of order rank 1 with rank 0");
  EXPECT_REPORTS(report<Fault::wrong_covers_of_message>(), "brings rank 3, not 2 ranks from 3");
  EXPECT_REPORTS(report<Fault::wrong_covers_of_merge>(), "covers 2 ranks from 0, not 2 ranks from 1");
}

TEST(Checker, ReportsContributionsMissingOrTwice) {
  EXPECT_REPORTS(report<Fault::left_out>(), "finishes 3 ranks from 0 only");
  EXPECT_REPORTS(report<Fault::duplicate>(), "merges overlapping 3 ranks from 0 with rank 2");
  EXPECT_REPORTS(report<Fault::empty_slot>(), "reads partial(7, segment 0), which holds nothing");
  EXPECT_REPORTS(report<Fault::no_value>(), "rank 0 has 0 values, not 1");
}

TEST(Checker, ReportsMisusedSlots) {
  EXPECT_REPORTS(report<Fault::overwritten_landing>(), "overwrites landing(0, segment 0), which nothing has read");
  EXPECT_REPORTS(report<Fault::merge_into_landing>(), "slots of a kind that such a step may not have");
  EXPECT_REPORTS(report<Fault::other_segment>(), "slots of several segments");
  EXPECT_REPORTS(report<Fault::no_such_segment>(), "one that is not there");
}

TEST(Checker, NamesTheCase) {
  EXPECT_REPORTS(report<Fault::swapped_merge>(), "broken reduce ranks=4 root=0 segments=1: rank 0 step 4 (merge): ");
}

TEST(Checker, ReportsWrongFormulas) {
  Row row = row_of(star<Fault::none>);
  row.messages = star_messages;
  row.rounds = star_messages;
  EXPECT_EQ(check(row, reduce_of_four).value_or(""), "");
  row.messages = [](Context) { return Count{4}; };
  EXPECT_REPORTS(check(row, reduce_of_four).value_or(""), "messages: 3, by the formula 4");
  row.messages = nullptr;
  row.rounds = [](Context) { return Count{2}; };
  EXPECT_REPORTS(check(row, reduce_of_four).value_or(""), "rounds: 3, by the formula 2");
}

TEST(Checker, ReportsWrongFormulasOfWhatMessagesCarry) {
  Row row = *find("linear");
  const Context context{.rank_count = 4, .segments = 2};
  EXPECT_EQ(check(row, context).value_or(""), "");
  row.partial_messages = [](Context) { return Count{8}; };
  EXPECT_REPORTS(check(row, context).value_or(""), "partials of a segment: 3, by the formula 4");
}

// Rank 1 sends its partial and has the value sent back; in segment 1 it sends its partial once more instead.
Steps uneven_segments(Context c) {
  for (std::uint32_t s = 0; s < c.segments; ++s) {
    co_yield make::lift(partial(0, s), c.rank);
    if (c.rank == 1) {
      co_yield make::send(0, partial(0, s), landing(0, s));
      if (s == 1) co_yield make::send(0, partial(0, s), landing(1, s));
      if (s == 0) co_yield make::receive(0, landing_value(0, s));
      if (s == 0) co_yield make::copy(value(1, s), landing_value(0, s));
    } else {
      co_yield make::receive(1, landing(0, s), {1, 1});
      if (s == 1) co_yield make::receive(1, landing(1, s), {1, 1});
      if (s == 1) co_yield make::copy(partial(2, s), landing(1, s), {1, 1});
      co_yield make::merge(partial(1, s), partial(0, s), landing(0, s), {0, 2});
      co_yield make::finish(value(0, s), partial(1, s));
      if (s == 0) co_yield make::send(1, value(0, s), landing_value(0, s));
    }
  }
}

TEST(Checker, ReportsSegmentsThatCarryDifferentThings) {
  Row row = row_of(uneven_segments);
  const Context context{.rank_count = 2, .collective = Collective::reduce, .segments = 2};
  EXPECT_EQ(check(row, context).value_or(""), "");
  row.messages = [](Context) { return Count{4}; };
  row.partial_messages = [](Context) { return Count{2}; };
  EXPECT_REPORTS(check(row, context).value_or(""), "partials of a segment: 2, by the formula 1");
  row.partial_messages = [](Context) { return Count{4}; };
  EXPECT_REPORTS(check(row, context).value_or(""), "partials of a segment: 1, by the formula 2");
}

// Everybody who has several ports sends and receives as many messages in a round.
TEST(Checker, CountsRoundsOfSeveralPorts) {
  Row row = row_of(star<Fault::none>);
  row.ports = [](Context) { return 3u; };
  row.rounds = [](Context c) { return (static_cast<Count>(c.rank_count) - 1 + 2) / 3; };
  for (Rank rank_count = 1; rank_count <= 20; ++rank_count) {
    EXPECT_EQ(check(row, {.rank_count = rank_count, .collective = Collective::reduce}).value_or(""), "");
  }
  row.ports = [](Context) { return 2u; };
  EXPECT_REPORTS(check(row, {.rank_count = 7, .collective = Collective::reduce}).value_or(""),
                 "rounds: 3, by the formula 2");
}

TEST(Checker, ReportsAValueWhereNoneIsDue) {
  const Row row = row_of([](Context c) {
    c.collective = Collective::allreduce;  // brings all ranks the value although only the root asked
    return find("flat")->steps(c);
  });
  EXPECT_REPORTS(check(row, reduce_of_four).value_or(""), "rank 1 has value(0, segment 0), which is not its own");
}

// Right as the row makes its steps, and wrong where one of a rank is changed or left out.
template <class Change>
std::string report_of_changed(std::string_view name, Context context, Rank rank, Change change) {
  static Steps (*steps)(Context) = nullptr;
  static Rank of = 0;
  static std::function<bool(Step&)> changed;
  steps = find(name)->steps;
  of = rank;
  changed = change;
  const Row row = row_of([](Context c) -> Steps {
    for (Steps all = steps(c); const Step* step = all.next();) {
      Step own = *step;
      if (c.rank != of || changed(own)) co_yield own;
    }
  });
  return check(row, context).value_or("");
}

TEST(Checker, ReportsSharesThatAreNotTheRanksOwn) {
  const Context scan{.rank_count = 4, .collective = Collective::scan};
  const Context exscan{.rank_count = 4, .collective = Collective::exscan};
  const auto as_it_is = [](Step&) { return true; };
  EXPECT_EQ(report_of_changed("linear", scan, 2, as_it_is), "");
  EXPECT_EQ(report_of_changed("linear", exscan, 2, as_it_is), "");
  EXPECT_REPORTS(report_of_changed("linear", exscan, 2,
                                   [](Step& step) {
                                     if (step.kind == StepKind::finish)
                                       step = make::finish(value(), partial(1), {0, 3});
                                     return true;
                                   }),
                 "has the value of 3 ranks from 0, not of 2 ranks from 0");
  EXPECT_REPORTS(report_of_changed("linear", scan, 2,
                                   [](Step& step) {
                                     if (step.kind == StepKind::finish) step.covers = {0, 4};
                                     return true;
                                   }),
                 "finishes 3 ranks from 0 only");
  EXPECT_REPORTS(report_of_changed("linear", scan, 2, [](Step& step) { return step.kind != StepKind::finish; }),
                 "rank 2 has 0 values, not 1");

  const std::vector<std::uint32_t> blocks = {0, 1, 1, 3, 4};
  const Context scatter{.rank_count = 4, .collective = Collective::reduce_scatter, .segments = 4, .blocks = blocks};
  EXPECT_EQ(report_of_changed("transpose", scatter, 2, as_it_is), "");
  EXPECT_REPORTS(
      report_of_changed("transpose", scatter, 2,
                        [](Step& step) { return step.kind != StepKind::finish || step.target.segment != 2; }),
      "rank 2 has 1 values, not 2");
}

TEST(Checker, ReportsARowThatClaimsRankOrderWrongly) {
  Row row = *find("binomial");
  row.keeps_rank_order = KeepsRankOrder::always;
  EXPECT_EQ(check(row, {.rank_count = 4, .root = 0, .collective = Collective::reduce}).value_or(""), "");
  EXPECT_REPORTS(check(row, {.rank_count = 4, .root = 1, .collective = Collective::reduce}).value_or(""),
                 "not in rank order");
}

// Two ranks swap their partials; `reuses` has each write the slot that it sent before it takes the other's message.
template <bool reuses>
Steps swap_partials(Context c) {
  const Rank peer = 1 - c.rank;
  co_yield make::lift(partial(0), c.rank);
  co_yield make::lift(partial(1), c.rank);
  co_yield make::send(peer, partial(0), landing(0));
  if (reuses) co_yield make::lift(partial(0), c.rank);
  co_yield make::receive(peer, landing(0), {peer, 1});
  co_yield make::merge(partial(2), c.rank == 0 ? partial(1) : landing(0), c.rank == 0 ? landing(0) : partial(1),
                       {0, 2});
  co_yield make::finish(value(0), partial(2));
}

TEST(Checker, ReportsDeadlockUnderSynchronousSends) {
  EXPECT_EQ(check(row_of(swap_partials<false>), {.rank_count = 2}).value_or(""), "");
  EXPECT_REPORTS(check(row_of(swap_partials<true>), {.rank_count = 2}).value_or(""),
                 "deadlock: waiting are rank 0 before step 3 (lift), rank 1 before step 3 (lift)");
}

// Rank 0 hands its value from rank 1 back: legal to run, but its receives do not stand in an order it can serve.
Steps early_receive(Context c) {
  co_yield make::lift(partial(0), c.rank);
  if (c.rank == 0) {
    co_yield make::receive(1, landing_value(0));
    co_yield make::receive(2, landing(0), {2, 1});
    co_yield make::send(1, partial(0), landing(0));
    co_yield make::send(1, landing(0), landing(1));
    co_yield make::copy(value(0), landing_value(0));
  } else if (c.rank == 2) {
    co_yield make::send(0, partial(0), landing(0));
  } else {
    co_yield make::receive(0, landing(0), {0, 1});
    co_yield make::receive(0, landing(1), {2, 1});
    co_yield make::merge(partial(1), landing(0), partial(0), {0, 2});
    co_yield make::merge(partial(2), partial(1), landing(1), {0, 3});
    co_yield make::finish(value(1), partial(2));
    co_yield make::send(0, value(1), landing_value(0));
  }
}

TEST(Checker, TellsAnUnservableOrderOfReceivesFromADeadlock) {
  EXPECT_REPORTS(check(row_of(early_receive), {.rank_count = 3, .collective = Collective::reduce}).value_or(""),
                 "rounds are undefined");
}

// Three ranks send each other everything; rank 2 merges from the right where `differs`.
template <bool differs>
Steps everyone(Context c) {
  co_yield make::lift(partial(0), c.rank);
  for (Rank peer = 0; peer < 3; ++peer) {
    if (peer != c.rank) co_yield make::send(peer, partial(0), landing(c.rank));
  }
  for (Rank peer = 0; peer < 3; ++peer) {
    if (peer != c.rank) co_yield make::receive(peer, landing(peer), {peer, 1});
  }
  const auto of = [&](Rank rank) { return rank == c.rank ? partial(0) : landing(rank); };
  if (differs && c.rank == 2) {
    co_yield make::merge(partial(1), of(1), of(2), {1, 2});
    co_yield make::merge(partial(2), of(0), partial(1), {0, 3});
  } else {
    co_yield make::merge(partial(1), of(0), of(1), {0, 2});
    co_yield make::merge(partial(2), partial(1), of(2), {0, 3});
  }
  co_yield make::finish(value(0), partial(2));
}

TEST(Checker, ReportsRanksThatMergeAlongDifferentTrees) {
  EXPECT_EQ(check(row_of(everyone<false>), {.rank_count = 3}).value_or(""), "");
  Row row = row_of(everyone<true>);
  EXPECT_REPORTS(check(row, {.rank_count = 3}).value_or(""), "rank 2 has a value merged along another tree");
  row.same_on_all_ranks = SameOnAllRanks::no;
  EXPECT_EQ(check(row, {.rank_count = 3}).value_or(""), "");
}

// Two segments go to rank 0 in one message; wrong in one way at a time.
enum class Packing { right, split_by_receiver, other_order, no_end, several_peers, twice, several_companies };

template <Packing how>
Steps packed(Context c) {
  const auto joined = [](Step step) { return make::with_next(step); };
  for (std::uint32_t s = 0; s < 2; ++s) co_yield make::lift(partial(0, s), c.rank);
  if (c.rank == 1) {
    const std::uint32_t first = how == Packing::other_order ? 1 : 0;
    co_yield joined(make::send(how == Packing::several_peers ? 2 : 0, partial(0, first), landing(0, first)));
    const Step last = make::send(0, partial(0, 1 - first), landing(0, how == Packing::twice ? first : 1 - first));
    co_yield how == Packing::no_end ? joined(last) : last;
    if (how == Packing::several_companies) co_yield make::send(0, partial(0, 0), landing(0, 0));
  }
  if (c.rank != 0) co_return;
  const Step first = make::receive(1, landing(0, 0), {1, 1});
  co_yield how == Packing::split_by_receiver ? first : joined(first);
  co_yield make::receive(1, landing(0, 1), {1, 1});
  for (std::uint32_t s = 0; s < 2; ++s) co_yield make::merge(partial(0, s), partial(0, s), landing(0, s), {0, 2});
  if (how == Packing::several_companies) co_yield make::receive(1, landing(0, 0), {1, 1});
  for (std::uint32_t s = 0; s < 2; ++s) co_yield make::finish(value(0, s), partial(0, s));
}

template <Packing how>
std::string packing_report() {
  return check(row_of(packed<how>),
               {.rank_count = how == Packing::several_peers ? 3 : 2, .collective = Collective::reduce, .segments = 2})
      .value_or("nothing");
}

TEST(Checker, ReportsMessagesOfSeveralSlotsThatDoNotMatch) {
  EXPECT_EQ(packing_report<Packing::right>(), "nothing");
  EXPECT_REPORTS(packing_report<Packing::split_by_receiver>(), "carries 2 slots, its receive names 1");
  EXPECT_REPORTS(packing_report<Packing::other_order>(),
                 "goes to landing(0, segment 1), its receive names landing(0, ");
  EXPECT_REPORTS(packing_report<Packing::no_end>(), "rank 1 has a message without an end");
  EXPECT_REPORTS(packing_report<Packing::several_peers>(), "a message of several kinds of steps or peers");
  EXPECT_REPORTS(packing_report<Packing::twice>(), "a message that names landing(0, segment 0) twice");
  EXPECT_REPORTS(packing_report<Packing::several_companies>(), "landing(0, segment 0) comes in several companies");
}

// Words are added by all ranks but the last.
Steps native_without_last(Context c) {
  co_yield make::lift(partial(0), c.rank);
  if (c.rank < c.rank_count - 1) co_yield make::add_words(partial(1), partial(0), c.rank_count);
}

TEST(Checker, ReportsARankThatLeavesAnAdditionOut) {
  EXPECT_REPORTS(check(row_of(native_without_last), {.rank_count = 3}).value_or(""), "takes part in 0 add_words");
}

// What is wrong with other steps.
std::string report_of(Steps (*steps)(Context), Context context = reduce_of_four,
                      KeepsRankOrder order = KeepsRankOrder::always) {
  Row row = row_of(steps);
  row.keeps_rank_order = order;
  return check(row, context).value_or("nothing");
}

TEST(Checker, ReportsSlotsThatAreNeverRead) {
  EXPECT_REPORTS(report_of([](Context c) -> Steps {
                   for (Steps all = star<Fault::none>(c); const Step* step = all.next();) co_yield *step;
                   if (c.rank == 2) co_yield make::send(0, partial(0), landing(9));
                   if (c.rank == 0) co_yield make::receive(2, landing(9), {2, 1});
                 }),
                 "rank 0 never reads landing(9, segment 0)");
  EXPECT_REPORTS(report_of([](Context c) -> Steps {
                   for (Steps all = star<Fault::none>(c); const Step* step = all.next();) co_yield *step;
                   if (c.rank == 0) co_yield make::send(3, value(0), landing_value(0));
                   if (c.rank == 3) co_yield make::receive(0, landing_value(0));
                 }),
                 "rank 3 never reads landing_value(0, segment 0)");
}

// Rank 0 merges what ranks 1 and 2 bring, and then that or its own with something else.
template <Rank left, Rank right>
Steps merges_of_two(Context c) {
  co_yield make::lift(partial(0), c.rank);
  if (c.rank > 0) co_yield make::send(0, partial(0), landing(c.rank));
  if (c.rank > 0) co_return;
  for (Rank rank = 1; rank < c.rank_count; ++rank) co_yield make::receive(rank, landing(rank), {rank, 1});
  co_yield make::merge(partial(1), landing(1), landing(2), {1, 2});
  const auto of = [](Rank rank) { return rank == 0 ? partial(0) : rank == 1 ? partial(1) : landing(rank); };
  co_yield make::merge(partial(2), of(left), of(right), {0, 3});
}

TEST(Checker, ReportsMergesOfRowsThatOverlapOrDoNotMeet) {
  EXPECT_REPORTS((report_of(merges_of_two<2, 1>)), "merges overlapping rank 2 with 2 ranks from 1");
  EXPECT_REPORTS((report_of(merges_of_two<1, 2>)), "merges overlapping 2 ranks from 1 with rank 2");
  EXPECT_REPORTS((report_of(merges_of_two<0, 2>, reduce_of_four, KeepsRankOrder::never)),
                 "merges what is not adjacent, rank 0 with rank 2");
}

template <Rank first, Rank end>
Steps lifts(Context c) {
  for (Steps all = star<Fault::none>(c); const Step* step = all.next();)
    if (step->kind != StepKind::lift || c.rank != 2)
      co_yield *step;
    else
      co_yield make::lift(partial(0), order::Interval{first, end});
}

TEST(Checker, ReportsRowsThatARankDoesNotHold) {
  EXPECT_EQ((report_of(lifts<2, 3>)), "nothing");
  EXPECT_REPORTS((report_of(lifts<1, 2>)), "rank 2 step 0 (lift): takes rank 1, which it does not hold");
  EXPECT_REPORTS((report_of(lifts<2, 4>)), "takes 2 ranks from 2, which it does not hold");
  EXPECT_REPORTS((report_of(lifts<2, 5>)), "covers rows that are not there");
}

template <Rank peer, Rank count>
Steps receives(Context c) {
  for (Steps all = star<Fault::none>(c); const Step* step = all.next();) {
    Step own = *step;
    if (c.rank == 0 && own.kind == StepKind::receive) own.peer = peer, own.covers = {1, count};
    co_yield own;
  }
}

TEST(Checker, ReportsPeersAndRanksThatCannotBe) {
  EXPECT_REPORTS((report_of(receives<0, 1>)), "no peer 0");
  EXPECT_REPORTS((report_of(receives<-2, 1>)), "no peer -2");
  EXPECT_REPORTS((report_of(receives<1, 5>)), "covers ranks that are not there");
  EXPECT_REPORTS((report_of(receives<1, -1>)), "covers ranks that are not there");
}

// Words of what several ranks brought, or of segments that ranks take in different orders.
template <bool of_others>
Steps additions(Context c) {
  for (std::uint32_t s = 0; s < 2; ++s) co_yield make::lift(partial(0, s), c.rank);
  if (of_others && c.rank == 1) co_yield make::send(0, partial(0, 0), landing(0, 0));
  if (of_others && c.rank == 0) {
    co_yield make::receive(1, landing(0, 0), {1, 1});
    co_yield make::merge(partial(0, 0), partial(0, 0), landing(0, 0), {0, 2});
  }
  for (std::uint32_t i = 0; i < 2; ++i) {
    const std::uint32_t s = of_others || c.rank != 2 ? i : 1 - i;
    co_yield make::add_words(partial(1, s), partial(0, s), c.rank_count);
  }
}

TEST(Checker, ReportsAdditionsOfDifferentThings) {
  const Context context{.rank_count = 3, .segments = 2};
  EXPECT_REPORTS(report_of(additions<true>, context), "adds 2 ranks from 0, not its own rows");
  EXPECT_REPORTS(report_of(additions<false>, context), "adds another segment than the ranks before it");
}

// Two segments, of which rank 1 has both values sent in messages of the first.
Steps uneven_values(Context c) {
  for (std::uint32_t s = 0; s < 2; ++s) {
    co_yield make::lift(partial(0, s), c.rank);
    if (c.rank == 1) {
      co_yield make::send(0, partial(0, s), landing(0, s));
    } else {
      co_yield make::receive(1, landing(0, s), {1, 1});
      co_yield make::merge(partial(1, s), partial(0, s), landing(0, s), {0, 2});
      co_yield make::finish(value(0, s), partial(1, s));
    }
  }
  for (int again = 0; again < 2; ++again) {
    if (c.rank == 0) co_yield make::send(1, value(0, 0), landing_value(again, 0));
    if (c.rank == 1) co_yield make::receive(0, landing_value(again, 0));
    if (c.rank == 1) co_yield make::copy(value(1 + again, 0), landing_value(again, 0));
  }
}

TEST(Checker, ReportsValuesAndPartialsThatAreNotWhereFormulasSay) {
  Row row = row_of(uneven_values);
  row.messages = [](Context) { return Count{4}; };
  row.partial_messages = [](Context) { return Count{2}; };
  const Context context{.rank_count = 2, .collective = Collective::reduce, .segments = 2};
  EXPECT_REPORTS(check(row, context).value_or(""), "values of a segment: 2, by the formula 1");

  row = *find("ring");
  EXPECT_EQ(check(row, {.rank_count = 4, .segments = 4}).value_or(""), "");
  row.partial_messages = [](Context) { return Count{11}; };
  EXPECT_REPORTS(check(row, {.rank_count = 4, .segments = 4}).value_or(""), "partials: 12, by the formula 11");
}

}  // namespace
}  // namespace steadfold::schedule
