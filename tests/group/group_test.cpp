// One-shot calls and collective binds on ranks that are threads: every route to a result, caches that fill up, calls
// that fail on one rank or on all. The same bits, or the same failure, on every rank, and nobody hangs.
#include "group/group.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "order/distribution.hpp"
#include "support/inputs.hpp"
#include "support/simulated_job.hpp"
#include "support/threads.hpp"

namespace steadfold::test::group_test {
namespace {

using arithmetic::Operation;
using arithmetic::Type;
using group::Group;

/// One rank's part of a call and what it came to.
struct Side {
  Call call;
  std::vector<Interval> intervals = {};
  Memory first = {};
  Memory second = {};
  Memory result = {};
  Status status = Status::ok;
  std::string text = {};

  void make(Group& group) {
    call.intervals = intervals;
    result.assign(std::max<Bytes>(8 * call.columns, 64), std::byte{0xEE});
    status = Status::ok;
    text.clear();
    try {
      group.reduce(call, {.first = first.data(), .second = second.data(), .result = result.data()});
    } catch (const Failure& failure) {
      status = failure.status();
      text = failure.what();
    }
  }
};

/// A call as every rank makes it, and its result.
struct Case {
  std::vector<Side> sides;
  Memory expected;
};

Case sum_case(std::mt19937_64& random, const Deal& deal, Call call) {
  Count rows = 0;
  for (const auto& intervals : deal) rows += rows_of(intervals);
  const std::vector<double> elements = summands(random, rows * call.columns);
  Case made;
  for (const auto& intervals : deal) {
    call.rows = rows_of(intervals);
    made.sides.push_back({.call = call,
                          .intervals = call.layout == LayoutKind::intervals ? intervals : std::vector<Interval>{},
                          .first = memory_of(elements, call.columns, intervals)});
    Memory& first = made.sides.back().first;
    first.resize(2 * first.size() + 64);  // never null, and enough for a culprit that says it has two columns
  }
  std::vector<double> sums;
  const bool exact = static_cast<Method>(call::describe(call).method) == Method::exact;
  for (Count column = 0; column < call.columns; ++column) {
    const auto values = column_of(elements, call.columns, column);
    sums.push_back(exact ? exact_sum(values) : tree_sum(values));
  }
  made.expected = bytes_of(sums);
  return made;
}

void expect_sum(const Case& done) {
  for (std::size_t i = 0; i < done.sides.size(); ++i) {
    const Side& side = done.sides[i];
    ASSERT_EQ(side.text, "") << "rank " << i;
    const bool takes = side.call.root == all_ranks || side.call.root == static_cast<Rank>(i);
    const auto found = std::span(side.result).first(done.expected.size());
    if (takes) {
      ASSERT_EQ(hex(found), hex(done.expected)) << "rank " << i;
    } else {
      ASSERT_TRUE(std::ranges::all_of(side.result, [](std::byte b) { return b == std::byte{0xEE}; })) << "rank " << i;
    }
  }
}

/// All cases one after the other on one group; each `times` times.
void make_all(std::vector<Case>& cases, Rank p, std::uint64_t seed, int times = 1) {
  on_threads(p, seed, [&](std::shared_ptr<transport::Transport> transport) {
    Group group(transport);
    const auto rank = static_cast<std::size_t>(group.rank());
    for (int again = 0; again < times; ++again) {
      for (Case& each : cases) each.sides[rank].make(group);
    }
  });
}

Deal even_deal(Count n, Rank p) { return contiguous_deal(order::counts(order::Distribution::upper, n, p)); }

Deal cyclic_deal(Count n, Rank p) {
  Deal deal(static_cast<std::size_t>(p));
  for (Index i = 0; i < n; ++i) deal[i % deal.size()].push_back({i, i + 1});
  return deal;
}

/// Small partials travel in the handshake, large ones by plans, and some outgrow the handshake on the way.
std::vector<Case> cases_of(std::mt19937_64& random, Rank p) {
  const auto ranks = static_cast<Count>(p);
  std::vector<Case> cases;
  for (const Rank root : {all_ranks, p - 1}) {
    for (const Count columns : {1u, 3u, 70u}) {
      for (const Method method : {Method::automatic, Method::tree, Method::exact}) {
        Call call{.method = method, .columns = columns, .root = root, .collective = call::reduction_to(root)};
        for (const LayoutKind layout : {LayoutKind::anywhere, LayoutKind::rank_order, LayoutKind::intervals}) {
          call.layout = layout;
          for (const Count n : {Count{0}, Count{1}, ranks, 50 * ranks})
            cases.push_back(sum_case(random, even_deal(n, p), call));
        }
        call.layout = LayoutKind::intervals;
        cases.push_back(sum_case(random, cyclic_deal(60 * ranks, p), call));
        call.layout = LayoutKind::row_per_rank;
        cases.push_back(sum_case(random, even_deal(ranks, p), call));
        for (const auto* schedule : {"flat", "linear"}) {
          call.schedule = schedule;
          cases.push_back(sum_case(random, even_deal(ranks, p), call));
        }
      }
    }
  }
  return cases;
}

class Groups : public testing::TestWithParam<Rank> {};

TEST_P(Groups, SumInOneShotAgainAndAgain) {
  std::mt19937_64 random(1);
  std::vector<Case> cases = cases_of(random, GetParam());
  std::shuffle(cases.begin(), cases.end(), random);
  make_all(cases, GetParam(), 1, 3);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "case " << i << ", layout " << static_cast<int>(cases[i].sides[0].call.layout)
                                    << ", columns " << cases[i].sides[0].call.columns << ", root "
                                    << cases[i].sides[0].call.root);
    expect_sum(cases[i]);
    if (testing::Test::HasFailure()) return;
  }
}

/// Rows in several pieces, or divided among threads, keep to their bytes of the mask, in the handshake and by plans.
TEST_P(Groups, SelectRowsByTheirOwnBytesOfTheMask) {
  std::mt19937_64 random(11);
  constexpr Count n = 60;
  for (const Count columns : {1u, 300u}) {
    for (const unsigned threads : {1u, 3u}) {
      Case made = sum_case(random, cyclic_deal(n, GetParam()),
                           {.operation = Operation::masked_sum,
                            .columns = columns,
                            .layout = LayoutKind::intervals,
                            .threads = threads});
      std::vector<std::vector<double>> selected(columns);
      for (Index row = 0; row < n; ++row) {
        Side& side = made.sides[row % made.sides.size()];
        const bool is_selected = random() % 2 == 0;
        const Count before = side.second.size();
        side.second.push_back(static_cast<std::byte>(is_selected ? 255 : 0));
        for (Count column = 0; is_selected && column < columns; ++column) {
          double element = 0;
          std::memcpy(&element, side.first.data() + 8 * (before * columns + column), sizeof element);
          selected[column].push_back(element);
        }
      }
      std::vector<double> sums;
      for (const auto& values : selected) sums.push_back(exact_sum(values));
      made.expected = bytes_of(sums);
      std::vector<Case> cases = {made};
      make_all(cases, GetParam(), 11);
      expect_sum(cases[0]);
    }
  }
}

/// More shapes and more layouts than are kept, each made again when it has long been dropped.
TEST_P(Groups, OutgrowTheirCaches) {
  std::mt19937_64 random(2);
  std::vector<Case> cases;
  for (Count columns = 1; columns <= 80; ++columns)
    cases.push_back(sum_case(random, even_deal(9, GetParam()), {.method = Method::tree, .columns = columns}));
  for (Count n = 100; n < 140; ++n)
    cases.push_back(
        sum_case(random, even_deal(n, GetParam()), {.method = Method::tree, .layout = LayoutKind::rank_order}));
  make_all(cases, GetParam(), 2, 2);
  for (const Case& each : cases) expect_sum(each);
}

/// The rows of one rank stay, those of another change: no rank may take the other plan.
TEST_P(Groups, NeverMixUpPlansOfDifferentLayouts) {
  std::mt19937_64 random(3);
  std::vector<Case> cases;
  const auto p = static_cast<std::size_t>(GetParam());
  for (const Count last : {5u, 6u, 5u, 7u, 6u, 5u}) {
    std::vector<Count> counts(p, 4);
    counts.back() = last;
    cases.push_back(
        sum_case(random, contiguous_deal(counts), {.method = Method::tree, .layout = LayoutKind::rank_order}));
  }
  make_all(cases, GetParam(), 3, 4);
  for (const Case& each : cases) expect_sum(each);
}

/// What is wrong on one rank is told on all; the good call after it works.
void expect_failure_everywhere(Rank p, const Case& good, const std::function<void(Side&)>& change, Status status,
                               const std::string& part) {
  for (Rank culprit = 0; culprit < p; ++culprit) {
    std::vector<Case> cases = {good, good, good};
    change(cases[1].sides[static_cast<std::size_t>(culprit)]);
    make_all(cases, p, static_cast<std::uint64_t>(culprit) + 1, 2);
    expect_sum(cases[0]);
    expect_sum(cases[2]);
    for (const Side& side : cases[1].sides) {
      EXPECT_EQ(side.status, status) << "culprit " << culprit << ": " << side.text;
      EXPECT_EQ(side.text, cases[1].sides[0].text) << "culprit " << culprit;
      EXPECT_NE(side.text.find(part), std::string::npos) << "culprit " << culprit << ": " << side.text;
    }
    if (testing::Test::HasFailure()) return;
  }
}

TEST_P(Groups, TellEveryRankWhatIsWrongOnOne) {
  const Rank p = GetParam();
  std::mt19937_64 random(4);
  for (const LayoutKind layout : {LayoutKind::anywhere, LayoutKind::rank_order, LayoutKind::intervals}) {
    for (const Count columns : {1u, 300u}) {  // by the handshake, and by plans
      SCOPED_TRACE(testing::Message() << "layout " << static_cast<int>(layout) << ", columns " << columns);
      const Case good = sum_case(random, even_deal(4 * static_cast<Count>(p), p),
                                 {.method = Method::tree, .columns = columns, .layout = layout});
      const Status wrong = Status::invalid_argument;
      expect_failure_everywhere(
          p, good, [](Side& s) { s.call.columns = 0; }, wrong, "0 columns");
      expect_failure_everywhere(
          p, good,
          [](Side& s) {
            s.call.root = 99;
            s.call.collective = schedule::Collective::reduce;
          },
          wrong, "root 99");
      expect_failure_everywhere(
          p, good, [](Side& s) { s.call.type = Type::bytes; }, wrong, "do not fit together");
      if (p == 1) continue;
      expect_failure_everywhere(
          p, good, [](Side& s) { s.call.method = Method::exact; }, Status::mismatch, "method");
      expect_failure_everywhere(
          p, good, [](Side& s) { s.call.operation = Operation::max; }, Status::mismatch, "operator");
      expect_failure_everywhere(
          p, good,
          [](Side& s) {
            s.call.root = 0;
            s.call.collective = schedule::Collective::reduce;
          },
          Status::mismatch, "root");
      expect_failure_everywhere(
          p, good, [](Side& s) { s.call.schedule = "flat"; }, Status::mismatch, "schedule ");
      expect_failure_everywhere(
          p, good, [](Side& s) { s.call.columns = 2; }, Status::mismatch, "columns");
    }
  }
}

TEST_P(Groups, TellEveryRankOfGapsAndOverlaps) {
  const Rank p = GetParam();
  std::mt19937_64 random(5);
  for (const auto& [method, columns] :  // by records and by fingerprints, in the handshake and by plans
       {std::pair{Method::tree, 1u}, {Method::tree, 300u}, {Method::exact, 1u}, {Method::exact, 300u}}) {
    const Case good = sum_case(random, even_deal(4 * static_cast<Count>(p), p),
                               {.method = method, .columns = columns, .layout = LayoutKind::intervals});
    const auto lose_one = [](Side& s) {
      ++s.intervals.front().begin;
      --s.call.rows;
    };
    const auto twice = [](Side& s) {
      s.intervals = {{0, 1}, s.intervals.front()};
      if (s.intervals.back().begin == 0) s.intervals.back() = {1, s.intervals.back().end};
      s.intervals.push_back({0, 1});
      s.call.rows = rows_of(s.intervals);
      s.first.resize(s.first.size() + 16 * s.call.columns);
    };
    expect_failure_everywhere(p, good, lose_one, Status::gap, " listed nowhere");
    expect_failure_everywhere(p, good, twice, Status::overlap,
                              p == 1 ? "element 0 is listed twice" : "element 0 is listed twice by rank");
  }
}

// --- user operators
// --------------------------------------------------------------------------------------------------------

struct Trigger {
  std::uint64_t calls = 0;
  std::uint64_t fail_at = 0;
};

int add_or_fail(const void* left, const void* right, void* result, std::size_t count, void* context) {
  auto& trigger = *static_cast<Trigger*>(context);
  if (++trigger.calls == trigger.fail_at) return 1;
  for (std::size_t i = 0; i < count; ++i)
    static_cast<double*>(result)[i] = static_cast<const double*>(left)[i] + static_cast<const double*>(right)[i];
  return 0;
}

/// Every rank of an allreduce, of a reduce the root and the culprit; the other case is as good as ever. The culprit
/// says that it was its own operator.
void expect_operator_failure(const std::vector<Case>& cases, Rank culprit) {
  const auto failed = std::ranges::find_if(
      cases, [&](const Case& each) { return each.sides[static_cast<std::size_t>(culprit)].status != Status::ok; });
  ASSERT_NE(failed, cases.end()) << "the culprit itself was told nothing";
  const Rank root = failed->sides[0].call.root;
  for (std::size_t i = 0; i < failed->sides.size(); ++i) {
    const Side& side = failed->sides[i];
    const auto rank = static_cast<Rank>(i);
    if (root == all_ranks || root == rank || culprit == rank) {
      EXPECT_EQ(side.status, Status::operator_failed) << "rank " << i << ": " << side.text;
      const bool knows = side.text.find("the user operator failed (on this rank ") != std::string::npos;
      const std::string own = failed->sides.size() == 1 ? "" : "rank " + std::to_string(culprit) + ": ";
      EXPECT_TRUE(knows ? rank == culprit || side.text.starts_with(own)
                        : rank != culprit && side.text.find("(on another rank") != std::string::npos)
          << "rank " << i << ": " << side.text;
    } else {
      EXPECT_TRUE(side.status == Status::ok || side.status == Status::operator_failed) << "rank " << i;
    }
  }
  for (const Case& each : cases) {
    if (&each != &*failed) expect_sum(each);
  }
}

/// The operator fails in each of its calls in turn, on each rank, by the handshake and by plans.
void fail_in_every_call(const Case& good, Rank p) {
  for (Rank culprit = 0; culprit < p; ++culprit) {
    for (std::uint64_t fail_at = 1;; ++fail_at) {
      SCOPED_TRACE(testing::Message() << "rank " << culprit << " fails in call " << fail_at);
      std::vector<Trigger> triggers(static_cast<std::size_t>(p));
      std::vector<Case> cases = {good, good};
      for (std::size_t i = 0; i < triggers.size(); ++i) {
        for (Case& each : cases) each.sides[i].call.user.context = &triggers[i];
      }
      Trigger& trigger = triggers[static_cast<std::size_t>(culprit)];
      trigger.fail_at = fail_at;
      make_all(cases, p, fail_at);
      if (trigger.calls < fail_at) break;  // both cases take fewer calls
      expect_operator_failure(cases, culprit);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST_P(Groups, TellEveryRankOfAFailingOperator) {
  const Rank p = GetParam();
  std::mt19937_64 random(6);
  for (const Rank root : {all_ranks, p - 1}) {
    for (const Count columns : {1u, 300u}) {
      SCOPED_TRACE(testing::Message() << "root " << root << ", columns " << columns);
      const Call call{.operation = Operation::user,
                      .method = Method::tree,
                      .type = Type::bytes,
                      .result_type = Type::bytes,
                      .columns = columns,
                      .root = root,
                      .collective = call::reduction_to(root),
                      .user = {.apply = add_or_fail, .element_bytes = 8},
                      .layout = LayoutKind::intervals};
      fail_in_every_call(sum_case(random, even_deal(3 * static_cast<Count>(p) + 2, p), call), p);
      if (testing::Test::HasFailure()) return;
    }
  }
}

// --- plans and rank order
// ----------------------------------------------------------------------------------------------------

TEST_P(Groups, BindPlansThatOutliveThem) {
  const Rank p = GetParam();
  std::mt19937_64 random(7);
  const Case made = sum_case(random, even_deal(77, p), {.method = Method::tree, .layout = LayoutKind::rank_order});
  std::vector<std::string> found(static_cast<std::size_t>(p));
  on_threads(p, 7, [&](std::shared_ptr<transport::Transport> transport) {
    const auto rank = static_cast<std::size_t>(transport->rank());
    auto group = std::make_unique<Group>(transport);
    const auto plan = group->bind(std::span(&made.sides[rank].call, 1));
    const auto other = group->bind(std::span(&made.sides[rank].call, 1));
    group.reset();
    double result = 0;
    plan->run({.first = made.sides[rank].first.data(), .result = reinterpret_cast<std::byte*>(&result)});
    other->run({.first = made.sides[rank].first.data(), .result = reinterpret_cast<std::byte*>(&result)});
    found[rank] = hex(std::as_bytes(std::span(&result, 1)));
  });
  for (const std::string& bits : found) EXPECT_EQ(bits, hex(made.expected));
}

TEST_P(Groups, RefuseToBindWithOneTextOnEveryRank) {
  const Rank p = GetParam();
  std::vector<std::string> texts(static_cast<std::size_t>(p));
  on_threads(p, 8, [&](std::shared_ptr<transport::Transport> transport) {
    Group group(transport);
    Call call{.method = Method::tree, .schedule = "native", .rows = 1};
    if (group.rank() == p - 1) call.columns = 0;
    for (const Method method : {Method::tree, Method::tree, Method::binned}) {
      call.method = method;
      try {
        group.bind(std::span(&call, 1));
      } catch (const Failure& failure) {
        texts[static_cast<std::size_t>(group.rank())] += failure.what();
      }
      call.columns = 1;
    }
  });
  for (const std::string& text : texts) EXPECT_EQ(text, texts[0]);
  EXPECT_NE(texts[0].find("schedule 'native' cannot serve method 'binned' (it serves only method exact, and method "
                          "binned with the double sweep)"),
            std::string::npos)
      << texts[0];
  EXPECT_NE(texts[0].find("0 columns"), std::string::npos) << texts[0];
  EXPECT_NE(texts[0].find("schedule 'native' cannot serve method 'tree'"), std::string::npos) << texts[0];
}

/// Whichever of a plan's endpoints it is: that of the first sweep too.
TEST_P(Groups, SayOnEveryRankThatOneCouldNotPrepareItsPlan) {
  const Rank p = GetParam();
  on_threads(p, 12, [&](std::shared_ptr<transport::Transport> transport) {
    Group group(transport);
    const Call call{.method = Method::binned,
                    .layout = LayoutKind::row_per_rank,
                    .rows = 1,
                    .parameters = {.sweep = arithmetic::Sweep::double_sweep}};
    for (const std::uint32_t after : {0u, 1u, 2u}) {
      std::string text;
      if (group.rank() == p - 1) static_cast<ThreadTransport&>(*transport).refuse(after);
      for (int plans = 0; plans < 2; ++plans) {
        try {
          group.bind(std::span(&call, 1));
        } catch (const Failure& failure) {
          EXPECT_EQ(failure.status(), Status::internal);
          text = failure.what();
        }
      }
      EXPECT_EQ(text, "rank " + std::to_string(p - 1) +
                          ": no memory for messages (the test refuses the allocation), ignore this error");
    }
    const double x = 1;
    double sum = 0;
    group.reduce(call, {.first = reinterpret_cast<const std::byte*>(&x), .result = reinterpret_cast<std::byte*>(&sum)});
    EXPECT_EQ(sum, p) << "the group can be used all the same";
  });
}

TEST_P(Groups, RefuseBundlesWithACallOfNoColumns) {
  on_threads(GetParam(), 10, [&](std::shared_ptr<transport::Transport> transport) {
    Group group(transport);
    std::vector<Call> calls(2, {.method = Method::tree, .layout = LayoutKind::row_per_rank, .rows = 1});
    calls[1].columns = 0;
    std::string text;
    try {
      group.bind(calls);
    } catch (const Failure& failure) {
      text = failure.what();
    }
    EXPECT_NE(text.find("0 columns (every call of a bundle has at least one column)"), std::string::npos) << text;
  });
}

TEST_P(Groups, RefuseBundlesOfSeveralSchedules) {
  on_threads(GetParam(), 14, [&](std::shared_ptr<transport::Transport> transport) {
    Group group(transport);
    std::vector<Call> calls(2, {.method = Method::tree, .layout = LayoutKind::row_per_rank, .rows = 1});
    calls[0].schedule = "flat";
    calls[1].schedule = "binomial";
    std::string text;
    try {
      group.bind(calls);
    } catch (const Failure& failure) {
      text = failure.what();
    }
    EXPECT_NE(text.find("call 1: a different root or schedule than in the first call"), std::string::npos) << text;
  });
}

TEST_P(Groups, KnowWhereRowsBegin) {
  const Rank p = GetParam();
  on_threads(p, 9, [&](std::shared_ptr<transport::Transport> transport) {
    Group group(transport);
    const auto rank = static_cast<Count>(group.rank());
    const auto found = group.rank_order(rank * 3);
    EXPECT_EQ(found.mine, (Interval{3 * rank * (rank - 1) / 2, 3 * rank * (rank + 1) / 2}));
    EXPECT_EQ(found.element_count, static_cast<Count>(3 * p * (p - 1) / 2));
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, Groups, testing::Values(1, 2, 3, 4, 5));

/// Rank 0's environment counts; bits stay what they are.
TEST(ForcedSchedules, ComeFromTheEnvironment) {
  std::mt19937_64 random(10);
  std::vector<Case> cases = {
      sum_case(random, even_deal(20, 3), {.method = Method::tree, .layout = LayoutKind::intervals})};
  for (const auto* schedule : {"flat", "linear", "binomial"}) {
    ASSERT_EQ(setenv("STEADFOLD_SCHEDULE", schedule, 1), 0);
    make_all(cases, 3, 10, 2);
    expect_sum(cases[0]);
  }
  ASSERT_EQ(setenv("STEADFOLD_SCHEDULE", "no such", 1), 0);
  make_all(cases, 3, 10);
  unsetenv("STEADFOLD_SCHEDULE");
  for (const Side& side : cases[0].sides) {
    EXPECT_EQ(side.status, Status::invalid_argument);
    EXPECT_NE(side.text.find("STEADFOLD_SCHEDULE of rank 0: unknown schedule 'no such'"), std::string::npos)
        << side.text;
  }
}

}  // namespace
}  // namespace steadfold::test::group_test
