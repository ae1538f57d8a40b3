// The checker reports steps that cannot be: slots never read, rows that a rank does not hold, peers and ranks that are
// not there, merges and additions of what does not belong together.
#include <gtest/gtest.h>

#include "broken_star.hpp"

namespace steadfold::schedule::checker_steps_test {
namespace {

// What is wrong with other steps.
std::string report_of(Steps (*steps)(Context), Context context = reduce_of_four,
                      KeepsRankOrder order = KeepsRankOrder::always) {
  Algorithm algorithm = algorithm_of(steps);
  algorithm.keeps_rank_order = order;
  return check(algorithm, context).value_or("nothing");
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
  EXPECT_REPORTS((report_of(merges_of_two<2, 1>)), "merges overlapping ranks, rank 2 with 2 ranks from 1");
  EXPECT_REPORTS((report_of(merges_of_two<1, 2>)), "merges overlapping ranks, 2 ranks from 1 with rank 2");
  EXPECT_REPORTS((report_of(merges_of_two<0, 2>, reduce_of_four, KeepsRankOrder::never)),
                 "merges ranks that are not adjacent, rank 0 with rank 2");
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
  EXPECT_REPORTS((report_of(lifts<1, 2>)), "rank 2 step 0 (lift): takes rank 1, which this rank does not hold");
  EXPECT_REPORTS((report_of(lifts<2, 4>)), "takes 2 ranks from 2, which this rank does not hold");
  EXPECT_REPORTS((report_of(lifts<2, 5>)), "covers rows that do not exist");
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
  EXPECT_REPORTS((report_of(receives<0, 1>)), "the peer does not exist: rank 0");
  EXPECT_REPORTS((report_of(receives<-2, 1>)), "the peer does not exist: rank -2");
  EXPECT_REPORTS((report_of(receives<1, 5>)), "covers ranks that do not exist");
  EXPECT_REPORTS((report_of(receives<1, -1>)), "covers ranks that do not exist");
  EXPECT_REPORTS(report_of([](Context) -> Steps {
                   co_yield make::merge(partial(0), partial(1), partial(2), Covers(RankRange{3, 2}, RankRange{0, 2}));
                 }),
                 "the step names a rank twice");
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
  EXPECT_REPORTS(report_of(additions<false>, context), "adds a different segment than lower ranks do at this point");
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
  Algorithm algorithm = algorithm_of(uneven_values);
  algorithm.messages = [](Context) { return Count{4}; };
  algorithm.partial_messages = [](Context) { return Count{2}; };
  const Context context{.rank_count = 2, .collective = Collective::reduce, .segments = 2};
  EXPECT_REPORTS(check(algorithm, context).value_or(""), "results of a segment: 2, but the formula gives 1");

  algorithm = *find("ring");
  EXPECT_EQ(check(algorithm, {.rank_count = 4, .segments = 4}).value_or(""), "");
  algorithm.partial_messages = [](Context) { return Count{11}; };
  EXPECT_REPORTS(check(algorithm, {.rank_count = 4, .segments = 4}).value_or(""),
                 "partials: 12, but the formula gives 11");
}

}  // namespace
}  // namespace steadfold::schedule::checker_steps_test
