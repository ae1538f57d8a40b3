// What ranks agree on, and what they are told when they don't: the same status and text on every rank, of the form
// "problem (why), suggestion" with the values.
#include "plan/agreement.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "plan/choice.hpp"
#include "support/simulated_job.hpp"

namespace steadfold::test::agreement_test {
namespace {

using arithmetic::Operation;
using arithmetic::Type;

int nothing(const void*, const void*, void*, std::size_t, void*) { return 0; }

/// "problem (why), suggestion", on one line, with something in each place.
void expect_form(const std::string& text) {
  const std::size_t why = text.find(" (");
  const std::size_t suggestion = text.rfind("), ");
  EXPECT_TRUE(why != std::string::npos && suggestion != std::string::npos) << text;
  EXPECT_TRUE(0 < why && why + 2 < suggestion && suggestion + 3 < text.size()) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

/// Concludes once for every rank, as every rank does it, and expects the same of each.
Concluded concluded_everywhere(const std::vector<Call>& calls, const std::string& forced = "") {
  const Concluded first = concluded(calls, forced);
  for (std::size_t rank = 1; rank < calls.size(); ++rank) {
    const Concluded other = concluded(calls, forced);
    EXPECT_EQ(other.status, first.status);
    EXPECT_EQ(other.text, first.text);
  }
  if (!first.agreement) expect_form(first.text);
  return first;
}

void expect_refused(const std::vector<Call>& calls, Status status, const std::string& text) {
  const Concluded found = concluded_everywhere(calls);
  EXPECT_EQ(found.text, text);
  EXPECT_EQ(found.status, status) << text;
}

Call sum_call() { return {.method = Method::tree, .element_count = 12, .layout = LayoutKind::rank_order, .rows = 3}; }

Call user_call() {
  Call call = sum_call();
  call.operation = Operation::user;
  call.type = call.result_type = Type::bytes;
  call.user = {.apply = nothing, .element_bytes = 16};
  call.operator_name = "join";
  return call;
}

// --- ranks that differ
// ---------------------------------------------------------------------------------------------------

void expect_difference(const Call& common, const std::function<void(Call&)>& change, const std::string& difference) {
  for (const std::size_t culprit : {1u, 2u, 3u}) {
    std::vector<Call> calls(4, common);
    change(calls[culprit]);
    expect_refused(calls, Status::mismatch,
                   "the ranks made different calls (rank 0 and rank " + std::to_string(culprit) + ": " + difference +
                       "), make the same call on every rank");
  }
}

TEST(Mismatch, NamesTheFirstDifferenceAndItsValues) {
  const Call sum = sum_call();
  expect_difference(
      sum, [](Call& c) { c.operation = Operation::max; }, "operator sum against max");
  expect_difference(
      sum, [](Call& c) { c.type = c.result_type = Type::f32; }, "type f64 against f32");
  expect_difference(
      sum, [](Call& c) { c.method = Method::exact; }, "method tree against exact");
  expect_difference(
      sum, [](Call& c) { c.method = Method::plain; }, "method tree against plain");
  expect_difference(
      sum, [](Call& c) { c.layout = LayoutKind::anywhere; }, "layout rank order against anywhere");
  expect_difference(
      sum,
      [](Call& c) {
        c.root = 0;
        c.collective = schedule::Collective::reduce;
      },
      "root none against 0");
  expect_difference(
      sum, [](Call& c) { c.columns = 3; }, "columns 1 against 3");
  expect_difference(
      sum, [](Call& c) { c.element_count = 13; }, "element count 12 against 13");
  expect_difference(
      sum, [](Call& c) { c.element_count = arithmetic::unknown_count; }, "element count 12 against unknown");
  expect_difference(
      sum, [](Call& c) { c.schedule = "flat"; }, "schedule auto against flat");
  expect_difference(
      sum, [](Call& c) { c.parameters.lanes = 16; }, "lanes 1 against 16");
  Call rooted = sum;
  rooted.root = 1;
  rooted.collective = schedule::Collective::reduce;
  expect_difference(
      rooted, [](Call& c) { c.root = 3; }, "root 1 against 3");
  Call exact = sum;
  exact.method = Method::exact;
  expect_difference(
      exact, [](Call& c) { c.result_type = Type::f32; }, "result type f64 against f32");
  Call binned = sum;
  binned.method = Method::binned;
  expect_difference(
      binned, [](Call& c) { c.parameters.bins = 4; }, "bins 3 against 4");
  expect_difference(
      binned, [](Call& c) { c.parameters.sweep = arithmetic::Sweep::double_sweep; },
      "sweep single_sweep against double_sweep");
}

TEST(Mismatch, BinsCountForBinnedAloneAnd3AreTheDefault) {
  std::vector<Call> calls(4, sum_call());
  calls[1].parameters.bins = 4;
  calls[2].parameters.sweep = arithmetic::Sweep::double_sweep;
  EXPECT_TRUE(concluded(calls).agreement);
  for (Call& call : calls) call = {.method = Method::binned, .layout = LayoutKind::rank_order};
  calls[3].parameters.bins = 3;
  EXPECT_TRUE(concluded(calls).agreement);
}

TEST(Mismatch, OneLaneIsTheDefault) {
  std::vector<Call> calls(4, sum_call());
  calls[2].parameters.lanes = 1;
  EXPECT_TRUE(concluded(calls).agreement);
}

/// Rows of many columns, dealt to ranks one by one, are sent as they are.
TEST(Lanes, OfLayoutsThatWouldSendTooMuchAreRefused) {
  const Count columns = 4096;
  const Count rows = plan::most_bytes_of_a_layout / (columns * sizeof(double)) + 1;
  const auto calls_of = [&](const order::Grid& grid, std::uint32_t lanes) {
    std::vector<Call> calls;
    for (Rank rank = 0; rank < 4; ++rank)
      calls.push_back({.method = Method::tree,
                       .columns = columns,
                       .layout = LayoutKind::grid,
                       .rows = grid.count(rank),
                       .grid = &grid,
                       .parameters = {.lanes = lanes}});
    return calls;
  };
  const order::Grid dealt{.axes = {{{}, {}, {.extent = rows, .ranks = 4, .block = 1}}}};
  const order::Grid blocks{.axes = {{{}, {}, {.extent = rows, .ranks = 4, .block = 1500}}}};
  std::vector<std::vector<Interval>> lists;
  const auto with_lists = [&](const order::Grid& grid, std::uint32_t lanes) {
    std::vector<Call> calls = calls_of(grid, lanes);
    lists.clear();
    for (Rank rank = 0; rank < 4; ++rank) lists.push_back(order::Layout::of(grid).intervals(rank));
    for (std::size_t rank = 0; rank < 4; ++rank) calls[rank].intervals = lists[rank];
    return concluded_everywhere(calls);
  };
  EXPECT_TRUE(with_lists(dealt, 1).agreement);
  EXPECT_TRUE(with_lists(blocks, 2).agreement);
  const Concluded refused = with_lists(dealt, 2);
  EXPECT_EQ(refused.status, Status::unsupported);
  EXPECT_NE(refused.text.find("2 lanes in this layout (the ranks would send more than 256 MiB"), std::string::npos)
      << refused.text;
}

/// Ranks exchange the number of rows of every group in every interval.
TEST(Groups, OfLayoutsWithTooManyIntervalsAreRefused) {
  const Count groups = 100'000;
  const auto with_intervals = [&](Count intervals, Count of_a_row) {
    std::vector<std::vector<Interval>> lists(4);
    for (Count i = 0; i < intervals; ++i) lists[i % 4].push_back({10 * i, 10 * (i + 1)});
    call::Array array;
    array.labels = {.groups = groups, .columns = of_a_row, .bytes = 4};
    std::vector<Call> calls;
    for (const auto& list : lists)
      calls.push_back({.method = Method::tree,
                       .columns = groups * of_a_row,
                       .layout = LayoutKind::intervals,
                       .rows = 10 * list.size(),
                       .intervals = list,
                       .array = &array});
    return concluded_everywhere(calls);
  };
  const Count most = plan::most_bytes_of_a_layout / (groups * sizeof(Count));
  EXPECT_TRUE(with_intervals(most, 1).agreement);
  for (const auto& refused : {with_intervals(most + 1, 1), with_intervals(most / 2 + 1, 2)}) {
    EXPECT_EQ(refused.status, Status::unsupported);
    EXPECT_NE(refused.text.find("100000 groups with method tree in this layout (the ranks would exchange the number of "
                                "rows of every group in every interval, more than 256 MiB), give fewer and longer "
                                "intervals, or use method exact"),
              std::string::npos)
        << refused.text;
  }
}

TEST(Mismatch, NamesWhatDiffersInUserOperators) {
  const Call user = user_call();
  expect_difference(
      user, [](Call& c) { c.user.element_bytes = 24; }, "element bytes 16 against 24");
  expect_difference(
      user, [](Call& c) { c.operator_name = "join2"; }, "operators with different names or types");
  expect_difference(
      user, [](Call& c) { c.user.commutative = true; }, "one operator is commutative, the other is not");
  expect_difference(
      user, [](Call& c) { c.user_may_fail = false; }, "one operator may fail, the other cannot");
}

TEST(Mismatch, OfTwoRanksNamesTheFirst) {
  std::vector<Call> calls(5, sum_call());
  calls[4].columns = 2;
  calls[2].root = 1;
  calls[2].collective = schedule::Collective::reduce;
  expect_refused(calls, Status::mismatch,
                 "the ranks made different calls (rank 0 and rank 2: root none against 1), make the same call on every "
                 "rank");
}

TEST(Mismatch, IsNotWhatRanksMayDifferIn) {
  std::vector<Call> calls(4, user_call());
  int contexts[4];
  for (std::size_t i = 0; i < 4; ++i) calls[i].user.context = &contexts[i];
  calls[0].rows = 12;
  calls[1].rows = calls[2].rows = calls[3].rows = 0;
  EXPECT_TRUE(concluded_everywhere(calls).agreement);
}

/// No schedule and "auto" are the same wish.
TEST(Mismatch, IsNotTwoWaysToLeaveTheChoiceToTheLibrary) {
  std::vector<Call> calls(4, sum_call());
  calls[2].schedule = "auto";
  const Concluded found = concluded_everywhere(calls);
  EXPECT_EQ(found.text, "");
}

// --- calls that no rank can make
// -----------------------------------------------------------------------------------------

void expect_unusable(const Call& common, const std::function<void(Call&)>& change, Status status,
                     const std::string& text) {
  std::vector<Call> calls(4, common);
  change(calls[2]);
  expect_refused(calls, status, "rank 2: " + text);
  change(calls[1]);
  expect_refused(calls, status, "rank 1: " + text);  // the first of two
  std::vector<Call> alone(1, common);
  change(alone[0]);
  const Concluded found = concluded_everywhere(alone);
  EXPECT_EQ(found.status, status);
  if (text.find("the ranks are") == std::string::npos) {
    EXPECT_EQ(found.text, text);  // one rank has no number
  }
}

TEST(Unusable, ArgumentsAreNamedWithTheirRank) {
  const Call sum = sum_call();
  const Status wrong = Status::invalid_argument;
  expect_unusable(
      sum, [](Call& c) { c.columns = 0; }, wrong,
      "0 columns (a row has at least one element), give the length of a row");
  expect_unusable(
      sum, [](Call& c) { c.root = 4; }, wrong,
      "root 4 is not a rank (the ranks are 0 to 3), give one of these ranks, or no root to get the result on "
      "all ranks");
  expect_unusable(
      sum, [](Call& c) { c.root = -2; }, wrong,
      "root -2 is not a rank (the ranks are 0 to 3), give one of these ranks, or no root to get the result on "
      "all ranks");
  expect_unusable(
      sum, [](Call& c) { c.columns = std::uint64_t{1} << 60; }, wrong,
      "rows of 1152921504606846976 elements of 8 bytes are too large (no memory holds as much), check columns and "
      "element_bytes");
  expect_unusable(
      sum, [](Call& c) { c.layout = LayoutKind::row_per_rank; }, wrong,
      "3 rows on this rank (in layout row_per_rank every rank has one row), give 1 row");
}

TEST(Unusable, OperatorsAreNamed) {
  const Status wrong = Status::invalid_argument;
  expect_unusable(
      user_call(), [](Call& c) { c.user.apply = nullptr; }, wrong,
      "no user operator (the function is null), give the function of the operator");
  expect_unusable(
      user_call(), [](Call& c) { c.user.element_bytes = 0; }, wrong,
      "elements of 0 bytes (element_bytes is 0), give the size of an element");
  expect_unusable(
      user_call(), [](Call& c) { c.type = Type::f64; }, wrong,
      "operator and type do not fit together (user operators take SF_BYTES, built-in operators a number type), give "
      "SF_BYTES and element_bytes");
}

/// The ordinary slip of a built-in operator on SF_BYTES, whatever the method says.
TEST(Unusable, BytesWithoutAUserOperatorAreNamed) {
  for (const Method method : {Method::tree, Method::plain, Method::automatic}) {
    Call call = sum_call();
    call.method = method;
    for (const Operation operation : {Operation::sum, Operation::product, Operation::min, Operation::max}) {
      call.operation = operation;
      expect_unusable(
          call, [](Call& c) { c.type = Type::bytes; }, Status::invalid_argument,
          "operator and type do not fit together (user operators take SF_BYTES, built-in operators a number type), "
          "give a number type or a user operator");
    }
  }
}

TEST(Unusable, IntervalsAreNamed) {
  Call call = sum_call();
  call.layout = LayoutKind::intervals;
  const Interval good[] = {{0, 2}, {5, 6}};
  const Interval backwards[] = {{4, 1}};
  const Interval beyond[] = {{0, 2}, {order::most_elements, order::most_elements + 1}};
  call.intervals = good;
  expect_unusable(
      call, [&](Call& c) { c.intervals = backwards; }, Status::invalid_argument,
      "interval [4, 1) ends before it begins (intervals are half-open), give begin <= end");
  expect_unusable(
      call, [&](Call& c) { c.intervals = beyond; }, Status::invalid_argument,
      "interval [9223372036854775807, 9223372036854775808) ends beyond 9223372036854775807 (no job has more rows), "
      "check "
      "begin and end");
  expect_unusable(
      call, [](Call& c) { c.element_count = order::most_elements + 1; }, Status::invalid_argument,
      "an element count of 9223372036854775808 (no job has more rows than 9223372036854775807), give the number of "
      "rows "
      "of the whole job, or leave it unknown");
  expect_unusable(
      call, [](Call& c) { c.rows = 7; }, Status::invalid_argument,
      "7 rows of data for intervals of 3 rows (layout and data of this rank differ in size), make the sizes equal");
  expect_unusable(
      call, [](Call& c) { c.rows = 0; }, Status::invalid_argument,
      "0 rows of data for intervals of 3 rows (layout and data of this rank differ in size), make the sizes equal");
}

TEST(Unusable, CombinationsThatNoMethodOffersAreNamed) {
  const Status wrong = Status::unsupported;
  Call call = sum_call();
  call.method = Method::exact;
  expect_unusable(
      call, [](Call& c) { c.operation = Operation::max; }, wrong,
      "max of f64 with method exact is not supported (this method computes only sums, mean, dot and norm2), let the "
      "library choose the method");
  expect_unusable(
      call, [](Call& c) { c.type = c.result_type = Type::i64; }, wrong,
      "sum of i64 with method exact is not supported (this method takes doubles, floats and types whose values fit in "
      "a "
      "float), use method plain or tree");
  call.method = Method::tree;
  expect_unusable(
      call, [](Call& c) { c.operation = Operation::weighted_mean; }, wrong,
      "weighted mean of f64 with method tree is not supported (the operation rounds once, at the end, but method tree "
      "rounds in every step), use method exact");
  expect_unusable(
      call, [](Call& c) { c.operation = Operation::dot, c.type = c.result_type = Type::i64; }, wrong,
      "dot of i64 with method tree is not supported (this method computes it of doubles, floats, types whose values "
      "fit "
      "in a float, and complex numbers), convert the elements");
  expect_unusable(
      call, [](Call& c) { c.result_type = Type::f32; }, wrong,
      "sum of f64 with method tree is not supported (result type f32 does not hold every element), use exact or "
      "binned, or another result type");
  call.method = Method::plain;
  expect_unusable(
      call, [](Call& c) { c.operation = Operation::max_location, c.result_type = Type::f32; }, wrong,
      "max location of f64 with method plain is not supported (result type f32 does not hold every element), use "
      "another result type");
  const auto make_user = [](Call& c) {
    c.operation = Operation::user;
    c.type = c.result_type = Type::bytes;
    c.user = {.apply = [](const void*, const void*, void*, std::size_t, void*) { return 0; }, .element_bytes = 8};
  };
  for (const Method method : {Method::exact, Method::binned}) {
    call.method = method;
    const std::string name(call::name_of(method));
    expect_unusable(call, make_user, wrong,
                    "user operator with method " + name +
                        " is not supported (this method adds numbers, in no fixed order), use method tree");
    expect_unusable(
        call,
        [](Call& c) {
          c.operation = Operation::dot;
          c.type = c.result_type = Type::long_double;
        },
        wrong,
        "dot of long double with method " + name +
            " is not supported (this method takes doubles, floats and types whose values fit in a float), convert the "
            "elements");
  }
}

/// No method is suggested that does not make them either.
TEST(Unusable, ResultTypesThatNoMethodMakesAreNamed) {
  struct Case {
    Operation operation;
    Type type, result_type;
    const char* made;
  };
  const Case cases[] = {
      {Operation::sum, Type::f64, Type::cf64,
       "sum of f64 with results of type cf64 is not supported (results may be f64, f32, long double)"},
      {Operation::sum, Type::f64, Type::i32,
       "sum of f64 with results of type i32 is not supported (results may be f64, f32, long double)"},
      {Operation::sum, Type::i32, Type::f64,
       "sum of i32 with results of type f64 is not supported (results may be i32, i64)"},
      {Operation::sum, Type::cf32, Type::f32,
       "sum of cf32 with results of type f32 is not supported (results may be cf32, cf64)"},
      {Operation::product, Type::f32, Type::u64,
       "product of f32 with results of type u64 is not supported (results may be f64, f32, long double)"},
      {Operation::abs_sum, Type::f64, Type::i64,
       "abs sum of f64 with results of type i64 is not supported (results may be f64, f32)"},
      {Operation::norm2, Type::cf64, Type::cf64,
       "norm2 of cf64 with results of type cf64 is not supported (results may be f64, f32)"},
      {Operation::dot, Type::f32, Type::long_double,
       "dot of f32 with results of type long double is not supported (results may be f64, f32)"}};
  for (const Case& each : cases) {
    for (const Method method : {Method::automatic, Method::exact, Method::binned, Method::tree, Method::plain}) {
      Call call = sum_call();
      call.method = method;
      expect_unusable(
          call,
          [&](Call& c) {
            c.operation = each.operation;
            c.type = each.type;
            c.result_type = each.result_type;
          },
          Status::unsupported, std::string(each.made) + ", use one of these result types or convert the elements");
    }
  }
}

// --- layouts
// -------------------------------------------------------------------------------------------------------------

std::vector<Call> listed(const Deal& deal, Count element_count = arithmetic::unknown_count) {
  return calls_for({.method = Method::tree, .element_count = element_count, .layout = LayoutKind::intervals}, deal);
}

TEST(Layouts, WithGapsAndOverlapsAreRefused) {
  const std::string what_to_do = "), list every element of 0..N-1 exactly once";
  const Deal gap = {{{0, 3}}, {{5, 9}}, {}};
  expect_refused(
      listed(gap), Status::gap,
      "the layout does not have every element exactly once (elements 3 to 4 are listed nowhere" + what_to_do);
  const Deal late = {{}, {{1, 9}}, {}};
  expect_refused(listed(late), Status::gap,
                 "the layout does not have every element exactly once (element 0 is listed nowhere" + what_to_do);
  const Deal overlap = {{{0, 3}}, {{2, 9}}, {}};
  expect_refused(
      listed(overlap), Status::overlap,
      "the layout does not have every element exactly once (element 2 is listed twice by ranks 0 and 1" + what_to_do);
  const Deal twice = {{{4, 9}, {0, 4}, {4, 9}}, {}, {}};
  expect_refused(
      listed(twice), Status::overlap,
      "the layout does not have every element exactly once (elements 4 to 8 are listed twice by rank 0" + what_to_do);
}

TEST(Layouts, OfAnotherSizeThanSaidAreRefused) {
  const Deal whole = {{{4, 9}}, {}, {{0, 4}}};
  EXPECT_EQ(concluded_everywhere(listed(whole, 9)).agreement.value().members[0].element_count, 9u);
  EXPECT_EQ(concluded_everywhere(listed(whole)).agreement.value().members[0].element_count, 9u);
  expect_refused(listed(whole, 10), Status::gap,
                 "9 elements instead of 10 (the layout's element count), make the numbers equal");
  expect_refused(listed(whole, 8), Status::overlap,
                 "9 elements instead of 8 (the layout's element count), make the numbers equal");
  std::vector<Call> calls(3, sum_call());
  expect_refused(calls, Status::gap, "9 elements instead of 12 (the layout's element count), make the numbers equal");
}

TEST(Layouts, AreWhatTheRanksProposed) {
  const Deal deal = {{{8, 9}, {0, 2}, {4, 4}, {2, 3}}, {}, {{3, 8}}};
  const Agreement agreed = concluded_everywhere(listed(deal)).agreement.value();
  EXPECT_EQ(agreed.members[0].layout->rank_count(), 3);
  EXPECT_EQ(agreed.members[0].layout->local_count(0), 4u);
  EXPECT_EQ(agreed.members[0].layout->intervals(0).front(), (Interval{8, 9}));
  EXPECT_EQ(agreed.members[0].layout->local_count(1), 0u);
  std::vector<Call> calls(3, sum_call());
  calls[1].rows = 0;
  calls[2].rows = 9;
  const Agreement ordered = concluded_everywhere(calls).agreement.value();
  EXPECT_EQ(ordered.members[0].layout->intervals(2).front(), (Interval{3, 12}));
  EXPECT_EQ(ordered.members[0].element_count, 12u);
}

// --- schedules
// -----------------------------------------------------------------------------------------------------------

Concluded with_schedule(std::string_view schedule, const std::string& forced = "", Call call = sum_call()) {
  call.schedule = schedule;
  return concluded_everywhere(std::vector<Call>(4, call), forced);
}

TEST(Schedules, AreThoseAskedForOrForcedOrChosen) {
  EXPECT_EQ(with_schedule("linear").agreement.value().chosen.schedule, "linear");
  EXPECT_EQ(with_schedule("linear", "flat").agreement.value().chosen.schedule, "linear");
  EXPECT_EQ(with_schedule("", "flat").agreement.value().chosen.schedule, "flat");
  EXPECT_EQ(with_schedule("auto", "flat").agreement.value().chosen.schedule, "flat");
  EXPECT_EQ(with_schedule("").agreement.value().chosen.schedule, "recursive_doubling");
  EXPECT_EQ(with_schedule("auto").agreement.value().chosen.schedule, "recursive_doubling");
  Call rooted = sum_call();
  rooted.root = 2;
  rooted.collective = schedule::Collective::reduce;
  EXPECT_EQ(with_schedule("", "", rooted).agreement.value().chosen.schedule, "binomial");
  EXPECT_EQ(with_schedule("binomial_spanning_tree", "", rooted).agreement.value().schedule.algorithm,
            schedule::find("binomial"));
}

TEST(Schedules, TheChoiceKeepsRankOrderWhereTheOperatorNeedsIt) {
  Call call = user_call();
  call.method = Method::plain;
  for (const Rank root : {all_ranks, 0, 1, 3}) {
    call.root = root;
    call.collective = call::reduction_to(root);
    for (const bool commutative : {false, true}) {
      call.user.commutative = commutative;
      const std::string chosen = with_schedule("", "", call).agreement.value().chosen.schedule;
      if (!commutative) {
        EXPECT_TRUE(schedule::find(chosen)->keeps_order(std::max(root, 0))) << chosen << " " << root;
      }
      if (commutative || root <= 0) {
        EXPECT_EQ(chosen, root == all_ranks ? "recursive_doubling" : "binomial") << root;
      }
    }
  }
}

TEST(Schedules, UnknownOnesAreRefused) {
  EXPECT_EQ(with_schedule("tree").status, Status::invalid_argument);
  EXPECT_EQ(with_schedule("tree").text.find(
                "unknown schedule 'tree' (no name is similar), choose one of auto, mpich, flat, "),
            0u);
  EXPECT_EQ(with_schedule("", "linaer").status, Status::invalid_argument);
  EXPECT_EQ(with_schedule("flat:block=3").text,
            "schedule 'flat' has no parameter 'block' (its parameters are open), leave out the parameter");
}

TEST(Schedules, ThatCannotServeTheCallAreRefused) {
  EXPECT_EQ(with_schedule("native").status, Status::unsupported);
  EXPECT_EQ(with_schedule("native").text,
            "schedule 'native' cannot serve method 'tree' (it serves only method exact, and method binned with the "
            "double sweep), choose another schedule or method");
  Call rooted = sum_call();
  rooted.root = 1;
  rooted.collective = schedule::Collective::reduce;
  EXPECT_EQ(with_schedule("recursive_doubling", "", rooted).status, Status::unsupported);
  Call ordered = user_call();
  ordered.method = Method::plain;
  ordered.root = 1;
  ordered.collective = schedule::Collective::reduce;
  EXPECT_EQ(with_schedule("binomial", "", ordered).status, Status::unsupported);
  EXPECT_NE(with_schedule("binomial", "", ordered).text.find("at root 1"), std::string::npos);
}

// --- descriptions
// --------------------------------------------------------------------------------------------------------

TEST(Descriptions, ResolveTheAutomaticMethod) {
  const auto method = [](Operation operation, Type type, LayoutKind layout) {
    Call call{.operation = operation, .type = type, .result_type = type, .layout = layout};
    return static_cast<Method>(call::describe(call).method);
  };
  for (const LayoutKind layout : {LayoutKind::anywhere, LayoutKind::rank_order, LayoutKind::intervals}) {
    EXPECT_EQ(method(Operation::sum, Type::f64, layout), Method::exact);
    EXPECT_EQ(method(Operation::sum, Type::f32, layout), Method::exact);
  }
  EXPECT_EQ(method(Operation::sum, Type::f64, LayoutKind::row_per_rank), Method::tree);
  EXPECT_EQ(method(Operation::product, Type::f64, LayoutKind::anywhere), Method::tree);
  EXPECT_EQ(method(Operation::dot, Type::f64, LayoutKind::row_per_rank), Method::exact);
  EXPECT_EQ(method(Operation::norm2, Type::f32, LayoutKind::anywhere), Method::exact);
  EXPECT_EQ(method(Operation::sum_squares, Type::f64, LayoutKind::row_per_rank), Method::exact);
  EXPECT_EQ(method(Operation::masked_sum, Type::f64, LayoutKind::row_per_rank), Method::exact);
  EXPECT_EQ(method(Operation::masked_sum, Type::i32, LayoutKind::row_per_rank), Method::plain);
  EXPECT_EQ(method(Operation::abs_sum, Type::f32, LayoutKind::anywhere), Method::exact);
  EXPECT_EQ(method(Operation::abs_sum, Type::f64, LayoutKind::row_per_rank), Method::tree);
  EXPECT_EQ(method(Operation::norminf, Type::f64, LayoutKind::anywhere), Method::plain);
  EXPECT_EQ(method(Operation::user, Type::bytes, LayoutKind::anywhere), Method::tree);
  EXPECT_EQ(method(Operation::max, Type::f64, LayoutKind::row_per_rank), Method::plain);
  for (const Operation operation : {Operation::sum, Operation::product, Operation::min})
    EXPECT_EQ(method(operation, Type::i32, LayoutKind::row_per_rank), Method::plain);
}

/// Calls that differ have digests that differ; what is a rank's own does not count.
TEST(Descriptions, HaveDigestsOfTheirOwn) {
  std::vector<Call> calls = {sum_call(), user_call()};
  const auto add = [&](const std::function<void(Call&)>& change) {
    calls.push_back(sum_call());
    change(calls.back());
  };
  add([](Call& c) { c.operation = Operation::min; });
  for (const Operation operation : {Operation::abs_sum, Operation::sum_squares, Operation::masked_sum})
    add([operation](Call& c) { c.operation = operation; });
  add([](Call& c) { c.method = Method::exact; });
  add([](Call& c) { c.type = Type::f32; });
  add([](Call& c) { c.result_type = Type::f32; });
  add([](Call& c) { c.columns = 2; });
  add([](Call& c) {
    c.root = 0;
    c.collective = schedule::Collective::reduce;
  });
  add([](Call& c) {
    c.root = 1;
    c.collective = schedule::Collective::reduce;
  });
  add([](Call& c) { c.schedule = "flat"; });
  add([](Call& c) { c.element_count = 11; });
  add([](Call& c) { c.layout = LayoutKind::anywhere; });
  for (std::size_t i = 0; i < calls.size(); ++i) {
    for (std::size_t j = 0; j < calls.size(); ++j) {
      auto a = call::describe(calls[i]);
      auto b = call::describe(calls[j]);
      EXPECT_EQ(call::digest_of(a) == call::digest_of(b), i == j) << i << " and " << j;
      a.schedule = b.schedule = 0;  // not looked at
      EXPECT_EQ(call::difference(a, b) == "no difference", a == b) << i << " and " << j;
    }
  }
  Call mine = sum_call();
  mine.rows = 99;
  EXPECT_EQ(call::describe(mine), call::describe(sum_call()));
}

TEST(Statuses, HaveASentenceOfTheForm) {
  for (std::uint32_t status = 1; status <= static_cast<std::uint32_t>(Status::internal); ++status)
    expect_form(call::text_of(static_cast<Status>(status)));
}

}  // namespace
}  // namespace steadfold::test::agreement_test
