// The checker reports each fault of schedules broken on purpose; single steps: checker_steps_test.cpp. What it proves:
// proofs_test.cpp.
#include "schedule/checker/checker.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "broken_star.hpp"
#include "schedule/make_step.hpp"

namespace steadfold::schedule::checker_test {
namespace {

TEST(Checker, AcceptsTheStarWithoutFault) { EXPECT_EQ(report<Fault::none>(), "nothing"); }

TEST(Checker, ReportsMessagesThatDoNotMatch) {
  EXPECT_REPORTS(report<Fault::dropped_message>(), "from rank 3 to rank 0 waits for a message that no rank sends");
  EXPECT_REPORTS(report<Fault::second_message>(), "a message from rank 3 to rank 0 is received by no step");
  EXPECT_REPORTS(report<Fault::other_slot>(),
                 "goes to landing(3, segment 0), but its receive expects landing(0, segment 0)");
  EXPECT_REPORTS(report<Fault::no_such_peer>(), "the peer does not exist: rank 4");
}

TEST(Checker, ReportsWrongOrderAndCovers) {
  EXPECT_REPORTS(report<Fault::swapped_merge>(), "merges ranks out of order, rank 1 with rank 0");
  EXPECT_REPORTS(report<Fault::wrong_covers_of_message>(), "brings rank 3, not 2 ranks from 3");
  EXPECT_REPORTS(report<Fault::wrong_covers_of_merge>(), "covers 2 ranks from 0, not 2 ranks from 1");
}

TEST(Checker, ReportsContributionsMissingOrTwice) {
  EXPECT_REPORTS(report<Fault::left_out>(), "finishes 3 ranks from 0 only");
  EXPECT_REPORTS(report<Fault::duplicate>(), "merges overlapping ranks, 3 ranks from 0 with rank 2");
  EXPECT_REPORTS(report<Fault::empty_slot>(), "reads partial(7, segment 0), to which nothing was written");
  EXPECT_REPORTS(report<Fault::no_value>(), "rank 0 has 0 values, not 1");
}

TEST(Checker, ReportsMisusedSlots) {
  EXPECT_REPORTS(report<Fault::overwritten_landing>(),
                 "overwrites landing(0, segment 0), whose content no step has read");
  EXPECT_REPORTS(report<Fault::merge_into_landing>(), "the step names a slot of a kind that it may not use");
  EXPECT_REPORTS(report<Fault::other_segment>(), "slots of several segments");
  EXPECT_REPORTS(report<Fault::no_such_segment>(), "a segment that does not exist");
}

TEST(Checker, NamesTheCase) {
  EXPECT_REPORTS(report<Fault::swapped_merge>(), "broken reduce ranks=4 root=0 segments=1: rank 0 step 4 (merge): ");
}

TEST(Checker, ReportsWrongFormulas) {
  Algorithm algorithm = algorithm_of(star<Fault::none>);
  algorithm.messages = star_messages;
  algorithm.rounds = star_messages;
  EXPECT_EQ(check(algorithm, reduce_of_four).value_or(""), "");
  algorithm.messages = [](Context) { return Count{4}; };
  EXPECT_REPORTS(check(algorithm, reduce_of_four).value_or(""), "messages: 3, but the formula gives 4");
  algorithm.messages = nullptr;
  algorithm.rounds = [](Context) { return Count{2}; };
  EXPECT_REPORTS(check(algorithm, reduce_of_four).value_or(""), "rounds: 3, but the formula gives 2");
}

TEST(Checker, ReportsWrongFormulasOfWhatMessagesCarry) {
  Algorithm algorithm = *find("linear");
  const Context context{.rank_count = 4, .segments = 2};
  EXPECT_EQ(check(algorithm, context).value_or(""), "");
  algorithm.partial_messages = [](Context) { return Count{8}; };
  EXPECT_REPORTS(check(algorithm, context).value_or(""), "partial results of a segment: 3, but the formula gives 4");
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
  Algorithm algorithm = algorithm_of(uneven_segments);
  const Context context{.rank_count = 2, .collective = Collective::reduce, .segments = 2};
  EXPECT_EQ(check(algorithm, context).value_or(""), "");
  algorithm.messages = [](Context) { return Count{4}; };
  algorithm.partial_messages = [](Context) { return Count{2}; };
  EXPECT_REPORTS(check(algorithm, context).value_or(""), "partial results of a segment: 2, but the formula gives 1");
  algorithm.partial_messages = [](Context) { return Count{4}; };
  EXPECT_REPORTS(check(algorithm, context).value_or(""), "partial results of a segment: 1, but the formula gives 2");
}

// Everybody who has several ports sends and receives as many messages in a round.
TEST(Checker, CountsRoundsOfSeveralPorts) {
  Algorithm algorithm = algorithm_of(star<Fault::none>);
  algorithm.ports = [](Context) { return 3u; };
  algorithm.rounds = [](Context c) { return (static_cast<Count>(c.rank_count) - 1 + 2) / 3; };
  for (Rank rank_count = 1; rank_count <= 20; ++rank_count) {
    EXPECT_EQ(check(algorithm, {.rank_count = rank_count, .collective = Collective::reduce}).value_or(""), "");
  }
  algorithm.ports = [](Context) { return 2u; };
  EXPECT_REPORTS(check(algorithm, {.rank_count = 7, .collective = Collective::reduce}).value_or(""),
                 "rounds: 3, but the formula gives 2");
}

TEST(Checker, ReportsAValueWhereNoneIsDue) {
  const Algorithm algorithm = algorithm_of([](Context c) {
    c.collective = Collective::allreduce;  // brings all ranks the value although only the root asked
    return find("flat")->steps(c);
  });
  EXPECT_REPORTS(check(algorithm, reduce_of_four).value_or(""), "rank 1 has value(0, segment 0), which is not its own");
}

// Right as the algorithm makes its steps, and wrong where one of a rank is changed or left out.
template <class Change>
std::string report_of_changed(std::string_view name, Context context, Rank rank, Change change) {
  static Steps (*steps)(Context) = nullptr;
  static Rank of = 0;
  static std::function<bool(Step&)> changed;
  steps = find(name)->steps;
  of = rank;
  changed = change;
  const Algorithm algorithm = algorithm_of([](Context c) -> Steps {
    for (Steps all = steps(c); const Step* step = all.next();) {
      Step own = *step;
      if (c.rank != of || changed(own)) co_yield own;
    }
  });
  return check(algorithm, context).value_or("");
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
                 "has the result of 3 ranks from 0, not of 2 ranks from 0");
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
  Algorithm algorithm = *find("binomial");
  algorithm.keeps_rank_order = KeepsRankOrder::always;
  EXPECT_EQ(check(algorithm, {.rank_count = 4, .root = 0, .collective = Collective::reduce}).value_or(""), "");
  EXPECT_REPORTS(check(algorithm, {.rank_count = 4, .root = 1, .collective = Collective::reduce}).value_or(""),
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
  EXPECT_EQ(check(algorithm_of(swap_partials<false>), {.rank_count = 2}).value_or(""), "");
  EXPECT_REPORTS(check(algorithm_of(swap_partials<true>), {.rank_count = 2}).value_or(""),
                 "deadlock: these ranks wait forever: rank 0 before step 3 (lift), rank 1 before step 3 (lift)");
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
  EXPECT_REPORTS(check(algorithm_of(early_receive), {.rank_count = 3, .collective = Collective::reduce}).value_or(""),
                 "the rounds cannot be counted");
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
  EXPECT_EQ(check(algorithm_of(everyone<false>), {.rank_count = 3}).value_or(""), "");
  Algorithm algorithm = algorithm_of(everyone<true>);
  EXPECT_REPORTS(check(algorithm, {.rank_count = 3}).value_or(""), "rank 2 has a result merged along a different tree");
  algorithm.same_on_all_ranks = SameOnAllRanks::no;
  EXPECT_EQ(check(algorithm, {.rank_count = 3}).value_or(""), "");
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
  return check(algorithm_of(packed<how>),
               {.rank_count = how == Packing::several_peers ? 3 : 2, .collective = Collective::reduce, .segments = 2})
      .value_or("nothing");
}

TEST(Checker, ReportsMessagesOfSeveralSlotsThatDoNotMatch) {
  EXPECT_EQ(packing_report<Packing::right>(), "nothing");
  EXPECT_REPORTS(packing_report<Packing::split_by_receiver>(), "carries 2 slots, but its receive expects 1");
  EXPECT_REPORTS(packing_report<Packing::other_order>(),
                 "goes to landing(0, segment 1), but its receive expects landing(0, ");
  EXPECT_REPORTS(packing_report<Packing::no_end>(), "rank 1 has a fault: the last step");
  EXPECT_REPORTS(packing_report<Packing::several_peers>(),
                 "the steps of one message are of several kinds, or have several peers");
  EXPECT_REPORTS(packing_report<Packing::twice>(), "a message names landing(0, segment 0) twice");
  EXPECT_REPORTS(packing_report<Packing::several_companies>(),
                 "landing(0, segment 0) arrives together with different slots");
}

// Words are added by all ranks but the last.
Steps native_without_last(Context c) {
  co_yield make::lift(partial(0), c.rank);
  if (c.rank < c.rank_count - 1) co_yield make::add_words(partial(1), partial(0), c.rank_count);
}

TEST(Checker, ReportsARankThatLeavesAnAdditionOut) {
  EXPECT_REPORTS(check(algorithm_of(native_without_last), {.rank_count = 3}).value_or(""),
                 "takes part in 0 additions of words");
}

}  // namespace
}  // namespace steadfold::schedule::checker_test
