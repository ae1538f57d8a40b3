// What goes wrong on one rank: pointers that are null, operators that fail in any of their calls, other calls, starts
// out of turn. Every rank of an allreduce learns of it, of a reduce at least the root and the culprit; nobody hangs,
// and the next run is as good as new.
#include <gtest/gtest.h>

#include <chrono>

#include "order/distribution.hpp"
#include "support/inputs.hpp"
#include "support/sanitized.hpp"
#include "support/simulated_job.hpp"

namespace steadfold::test::failure_test {
namespace {

using arithmetic::Operation;
using arithmetic::Type;

/// A call on p ranks by one schedule, with everything to run it.
struct Setting {
  Rank p;
  Rank root;
  std::string schedule;
  std::vector<Call> calls;
  Agreement agreement;
};

/// Every schedule and root that serve the call, on few rank counts.
template <class Test>
void for_every_setting(const Call& common, const Test& test) {
  for (const Rank p : {1, 2, 3, 4, 5, 7, 8, 11}) {
    if (sanitized && p > 5) break;
    const Deal deal = contiguous_deal(order::counts(order::Distribution::upper, 5 * static_cast<Count>(p) + 2, p));
    for (const schedule::Algorithm& algorithm : schedule::registry()) {
      for (const Rank root : {all_ranks, 0, p / 2}) {
        Setting setting{.p = p, .root = root, .schedule = std::string(algorithm.name), .calls = {}, .agreement = {}};
        Call call = common;
        call.root = root;
        call.collective = call::reduction_to(root);
        call.schedule = setting.schedule;
        call.layout = LayoutKind::rank_order;
        setting.calls = calls_for(call, deal);
        const Concluded agreed = concluded(setting.calls);
        if (agreed.status == Status::unsupported) continue;
        setting.agreement = agreed.agreement.value();
        SCOPED_TRACE(testing::Message() << setting.schedule << ", root " << root << ", p " << p);
        test(setting, deal);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

/// `knows` is in the culprit's text; the others' say that another rank knows.
void expect_texts(SimulatedJob& job, Rank culprit, const std::string& knows) {
  for (Rank rank = 0; rank < job.rank_count(); ++rank) {
    if (job.plan(rank).status() == Status::ok) continue;
    const Failure failure = job.plan(rank).failure();
    const std::string text = failure.what();
    EXPECT_EQ(failure.status(), job.plan(rank).status()) << text;
    EXPECT_NE(text.find(rank == culprit ? knows : "another rank"), std::string::npos)
        << "rank " << rank << ": " << text;
  }
}

void expect_failure(const Outcome& outcome, Rank root, Rank culprit, Status status) {
  ASSERT_FALSE(outcome.stuck) << "deadlock";
  for (std::size_t i = 0; i < outcome.statuses.size(); ++i) {
    const auto rank = static_cast<Rank>(i);
    if (root == all_ranks || root == rank || culprit == rank) {
      EXPECT_EQ(outcome.statuses[i], status) << "rank " << i;
      EXPECT_TRUE(outcome.results[i].intact()) << "rank " << i << " got a result";
    } else {
      EXPECT_TRUE(outcome.statuses[i] == Status::ok || outcome.statuses[i] == status) << "rank " << i;
    }
  }
}

/// Like `run`, with the pointers as given.
Outcome run_with(SimulatedRanks& ranks, SimulatedJob& job, const std::vector<const std::byte*>& first,
                 const std::vector<const std::byte*>& second, Rank no_result = -1) {
  Outcome outcome;
  for (std::size_t i = 0; i < first.size(); ++i) outcome.results.emplace_back(sizeof(double));
  for (Rank rank = 0; rank < job.rank_count(); ++rank) {
    const auto i = static_cast<std::size_t>(rank);
    job.plan(rank).start(
        {.first = first[i], .second = second[i], .result = rank == no_result ? nullptr : outcome.results[i].data()});
  }
  outcome.stuck = !finish(ranks, {&job});
  for (Rank rank = 0; rank < job.rank_count(); ++rank) outcome.statuses.push_back(job.plan(rank).status());
  return outcome;
}

TEST(NullPointers, AreReportedByTheRankThatKnowsAndTheNextRunIsGood) {
  for (const Method method : {Method::tree, Method::exact, Method::binned, Method::plain}) {
    for_every_setting({.operation = method == Method::exact ? Operation::dot : Operation::sum,
                       .method = method,
                       .parameters = {.sweep = arithmetic::Sweep::double_sweep}},
                      [&](const Setting& setting, const Deal& deal) {
                        const std::vector<double> ones(deal.back().front().end, 1.0);
                        SimulatedRanks ranks(setting.p, 1);
                        SimulatedJob job(ranks, setting.agreement, setting.calls);
                        std::vector<const std::byte*> good(deal.size(),
                                                           reinterpret_cast<const std::byte*>(ones.data()));
                        for (Rank culprit = 0; culprit < setting.p; ++culprit) {
                          auto bad = good;
                          bad[static_cast<std::size_t>(culprit)] = nullptr;
                          const Status wrong = Status::invalid_argument;
                          const Count rows = rows_of(deal[static_cast<std::size_t>(culprit)]);
                          expect_failure(run_with(ranks, job, bad, good), setting.root, culprit, wrong);
                          expect_texts(job, culprit, "null (");
                          expect_texts(job, culprit, std::to_string(rows) + " rows are to be read), give ");
                          if (method == Method::exact) {
                            expect_failure(run_with(ranks, job, good, bad), setting.root, culprit, wrong);
                            expect_texts(job, culprit, "the second factor of a dot product is null (");
                          }
                          if (setting.root == all_ranks || setting.root == culprit) {
                            expect_failure(run_with(ranks, job, good, good, culprit), setting.root, culprit, wrong);
                            expect_texts(job, culprit, "the result has no memory (");
                          }
                          expect_result(run_with(ranks, job, good, good), setting.root,
                                        bytes_of(std::vector<double>{static_cast<double>(ones.size())}));
                          if (testing::Test::HasFailure()) return;
                        }
                      });
  }
}

/// One rank gives entries for another number of calls than the plan was bound for: nobody waits for it.
TEST(Entries, OfAnotherNumberAreReportedAndTheNextRunIsGood) {
  for_every_setting({.method = Method::tree}, [&](const Setting& setting, const Deal& deal) {
    const std::vector<double> ones(deal.back().front().end, 1.0);
    const std::vector<const std::byte*> good(deal.size(), reinterpret_cast<const std::byte*>(ones.data()));
    const std::vector<const std::byte*> none(deal.size(), nullptr);
    SimulatedRanks ranks(setting.p, 1);
    SimulatedJob job(ranks, setting.agreement, setting.calls);
    for (const std::size_t entries : {0u, 2u}) {
      const Rank culprit = setting.p / 2;
      std::vector<Result> results(deal.size(), Result(sizeof(double)));
      for (Rank rank = 0; rank < setting.p; ++rank) {
        const auto i = static_cast<std::size_t>(rank);
        const std::vector<call::Data> data(rank == culprit ? entries : 1,
                                           {.first = good[i], .result = results[i].data()});
        job.plan(rank).start(data);
      }
      Outcome outcome{.stuck = !finish(ranks, {&job}), .statuses = {}, .results = std::move(results)};
      for (Rank rank = 0; rank < setting.p; ++rank) outcome.statuses.push_back(job.plan(rank).status());
      expect_failure(outcome, setting.root, culprit, Status::invalid_argument);
      expect_texts(job, culprit, "data for " + std::to_string(entries) + " calls (the plan was bound for 1), give ");
      expect_result(run_with(ranks, job, good, none), setting.root,
                    bytes_of(std::vector<double>{static_cast<double>(ones.size())}));
    }
  });
}

/// A rank without rows, or one that gets no result, may bring null.
TEST(NullPointers, AreFineWhereNothingIsReadOrWritten) {
  const Deal deal = contiguous_deal({0, 3, 0, 2});
  const Call call{
      .method = Method::tree, .root = 1, .collective = schedule::Collective::reduce, .layout = LayoutKind::rank_order};
  const std::vector<Call> calls = calls_for(call, deal);
  const std::vector<double> ones(3, 1.0);
  const auto* data = reinterpret_cast<const std::byte*>(ones.data());
  SimulatedRanks ranks(4, 1);
  SimulatedJob job(ranks, concluded(calls).agreement.value(), calls);
  const std::vector<const std::byte*> none(4, nullptr);
  expect_result(run_with(ranks, job, {nullptr, data, nullptr, data}, none, 0), 1, bytes_of(std::vector<double>{5.0}));
}

// --- operators that fail
// -------------------------------------------------------------------------------------------------

struct Pair {
  std::uint64_t hash;
  std::uint64_t size;
};

/// Context of one rank's operator, which counts its calls and fails in one of them.
struct Trigger {
  std::uint64_t calls = 0;
  std::uint64_t fail_at = 0;
};

int join(const void* left, const void* right, void* result, std::size_t count, void* context) {
  auto& trigger = *static_cast<Trigger*>(context);
  if (++trigger.calls == trigger.fail_at) return 7;
  for (std::size_t i = 0; i < count; ++i) {
    const Pair l = static_cast<const Pair*>(left)[i];
    const Pair r = static_cast<const Pair*>(right)[i];
    static_cast<Pair*>(result)[i] = {(l.hash * 31 + 17) ^ (r.hash * 1009 + l.size), l.size + r.size};
  }
  return 0;
}

/// Calls of the operator to try: the first and the last, and some between.
std::vector<std::uint64_t> tried(std::uint64_t calls) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t call = 1; call <= calls; call += calls > 6 && call < calls - 4 ? 3 : 1) all.push_back(call);
  return all;
}

void fail_in_every_call(const Setting& setting, const Deal& deal) {
  std::vector<Trigger> triggers(deal.size());
  std::vector<Call> calls = setting.calls;
  for (std::size_t i = 0; i < calls.size(); ++i) calls[i].user.context = &triggers[i];
  std::vector<Memory> memory;
  for (const auto& intervals : deal) {
    std::vector<Pair> rows;
    for (Index x = intervals.front().begin; x < intervals.front().end; ++x) rows.push_back({x * x + 3, 1});
    memory.push_back(bytes_of(rows));
  }
  SimulatedRanks ranks(setting.p, 3);
  SimulatedJob job(ranks, setting.agreement, calls);
  const Outcome good = run(ranks, job, memory, sizeof(Pair));
  const auto taker = static_cast<std::size_t>(std::max(setting.root, 0));
  expect_result(good, setting.root, good.results[taker].bytes());
  std::vector<std::uint64_t> needed;
  for (const Trigger& trigger : triggers) needed.push_back(trigger.calls);
  for (Rank culprit = 0; culprit < setting.p; ++culprit) {
    Trigger& trigger = triggers[static_cast<std::size_t>(culprit)];
    for (const std::uint64_t call : tried(needed[static_cast<std::size_t>(culprit)])) {
      SCOPED_TRACE(testing::Message() << "rank " << culprit << " fails in call " << call);
      trigger = {.calls = 0, .fail_at = call};
      expect_failure(run(ranks, job, memory, sizeof(Pair)), setting.root, culprit, Status::operator_failed);
      expect_texts(job, culprit, "the user operator failed (on this rank ");
      trigger = {};
      if (testing::Test::HasFailure()) return;
    }
  }
  expect_result(run(ranks, job, memory, sizeof(Pair)), setting.root, good.results[taker].bytes());
}

TEST(FailingOperators, InAnyCallOnAnyRank) {
  for (const Method method : {Method::tree, Method::plain}) {
    for_every_setting({.operation = Operation::user,
                       .method = method,
                       .type = Type::bytes,
                       .result_type = Type::bytes,
                       .user = {.apply = join, .element_bytes = sizeof(Pair)}},
                      fail_in_every_call);
  }
}

// --- ranks that run different plans
// ----------------------------------------------------------------------------------------

/// Plans that were not agreed on together: the digest in the messages says so.
TEST(DifferentPlans, AreAMismatchOnEveryRank) {
  for (const Method method : {Method::tree, Method::exact, Method::binned, Method::plain}) {
    for_every_setting({.method = method}, [&](const Setting& setting, const Deal& deal) {
      if (setting.p == 1) return;
      std::vector<Call> others = setting.calls;
      for (Call& call : others) call.element_count = deal.back().front().end;  // the same, but said
      const Agreement other = concluded(others).agreement.value();
      std::vector<Memory> memory;
      for (const auto& intervals : deal) memory.push_back(bytes_of(std::vector<double>(rows_of(intervals), 1.0)));
      for (Rank culprit = 0; culprit < setting.p; ++culprit) {
        SimulatedRanks ranks(setting.p, 5);
        std::vector<std::unique_ptr<Plan>> plans;
        std::vector<double> results(deal.size());
        for (Rank rank = 0; rank < setting.p; ++rank) {
          const auto i = static_cast<std::size_t>(rank);
          plans.push_back(std::make_unique<Plan>(rank == culprit ? other : setting.agreement,
                                                 std::span(&setting.calls[i], 1), ranks.transport(rank), 2));
        }
        ranks.connect();
        for (std::size_t i = 0; i < plans.size(); ++i)
          plans[i]->start({.first = memory[i].data(), .result = reinterpret_cast<std::byte*>(&results[i])});
        bool done = false;
        for (int sweep = 0; sweep < 5000 && !done; ++sweep) {
          done = true;
          for (const Rank rank : ranks.shuffled()) done &= plans[static_cast<std::size_t>(rank)]->test();
        }
        ASSERT_TRUE(done) << "deadlock";
        for (Rank rank = 0; rank < setting.p; ++rank) {
          if (setting.root != all_ranks && setting.root != rank) continue;
          EXPECT_EQ(plans[static_cast<std::size_t>(rank)]->status(), Status::mismatch)
              << "rank " << rank << ", culprit " << culprit;
        }
      }
    });
  }
}

// --- starts
// --------------------------------------------------------------------------------------------------------------

std::string failure_of_start(Plan& plan, const Memory& memory, std::byte* result) {
  try {
    plan.start({.first = memory.data(), .result = result});
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status(), Status::invalid_argument);
    return failure.what();
  }
  return "";
}

TEST(Starts, AreWaitedForNoLongerThanAsked) {
  using namespace std::chrono_literals;
  using Clock = std::chrono::steady_clock;
  const std::vector<Call> calls = calls_for({.layout = LayoutKind::rank_order}, contiguous_deal({4, 4}));
  const std::vector<Memory> memory(2, bytes_of(std::vector<double>{1, 2, 3, 4}));
  SimulatedRanks ranks(2, 1);
  SimulatedJob job(ranks, concluded(calls).agreement.value(), calls);
  std::vector<Result> results(2, Result(8));
  job.plan(0).start({.first = memory[0].data(), .result = results[0].data()});
  const auto before = Clock::now();
  EXPECT_FALSE(job.plan(0).wait_until(before + 3ms)) << "the other rank has not started";
  EXPECT_GE(Clock::now(), before + 3ms);
  EXPECT_FALSE(job.plan(0).wait_until(before)) << "that is over";
  job.plan(1).start({.first = memory[1].data(), .result = results[1].data()});
  ASSERT_TRUE(finish(ranks, {&job}));
  for (const Rank rank : {0, 1}) EXPECT_TRUE(job.plan(rank).wait_until(before)) << "it is done";
  for (const Result& result : results) EXPECT_EQ(hex(result.bytes()), hex(bytes_of(std::vector<double>{20})));
}

TEST(Starts, TwiceIsRefusedAndTheRunGoesOn) {
  const Deal deal = contiguous_deal({4, 4, 4});
  const std::vector<Call> calls = calls_for({.layout = LayoutKind::rank_order}, deal);
  const std::vector<Memory> memory(3, bytes_of(std::vector<double>{1, 2, 3, 4}));
  SimulatedRanks ranks(3, 1);
  SimulatedJob job(ranks, concluded(calls).agreement.value(), calls);
  std::vector<Result> results(3, Result(8));
  for (int again = 0; again < 3; ++again) {
    for (Rank rank = 0; rank < 3; ++rank) {
      const auto i = static_cast<std::size_t>(rank);
      EXPECT_FALSE(job.plan(rank).running());
      EXPECT_TRUE(job.plan(rank).test()) << "nothing is running, so it is done";
      EXPECT_EQ(failure_of_start(job.plan(rank), memory[i], results[i].data()), "");
      EXPECT_TRUE(job.plan(rank).running());
      EXPECT_EQ(
          failure_of_start(job.plan(rank), memory[i], results[i].data()),
          "the plan is running (it was started, and its run has not been waited for), call wait before the next start");
    }
    ASSERT_TRUE(finish(ranks, {&job}));
    for (const Result& result : results) EXPECT_EQ(hex(result.bytes()), hex(bytes_of(std::vector<double>{30})));
  }
}

/// Five plans of different methods, widths and schedules at once, started in another order on every rank.
TEST(Starts, OfManyPlansInFlight) {
  constexpr Rank p = 7;
  const Deal deal = contiguous_deal({3, 0, 5, 20, 1, 1, 9});
  struct Wanted {
    Method method;
    const char* schedule;
    Rank root;
    Count columns;
  };
  const std::vector<Wanted> all = {{Method::tree, "binomial", 3, 2},
                                   {Method::exact, "native", all_ranks, 1},
                                   {Method::tree, "recursive_doubling", all_ranks, 1},
                                   {Method::exact, "linear", 0, 3},
                                   {Method::tree, "flat", all_ranks, 1}};
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    SimulatedRanks ranks(p, seed, seed % 2 == 0 ? Sends::synchronous : Sends::buffered);
    std::vector<std::unique_ptr<SimulatedJob>> jobs;
    std::vector<std::vector<Memory>> memory(all.size());
    std::vector<Memory> expected;
    std::vector<std::vector<Result>> results;
    for (std::size_t j = 0; j < all.size(); ++j) {
      const Call call{.method = all[j].method,
                      .columns = all[j].columns,
                      .root = all[j].root,
                      .collective = call::reduction_to(all[j].root),
                      .schedule = all[j].schedule,
                      .layout = LayoutKind::rank_order};
      const std::vector<Call> calls = calls_for(call, deal);
      jobs.push_back(std::make_unique<SimulatedJob>(ranks, concluded(calls).agreement.value(), calls, 1,
                                                    static_cast<std::uint32_t>(2 + 2 * j)));
      const std::vector<double> rows = summands(random, 39 * call.columns);
      std::vector<double> sums;
      for (Count column = 0; column < call.columns; ++column) {
        const auto values = column_of(rows, call.columns, column);
        sums.push_back(call.method == Method::tree ? tree_sum(values) : exact_sum(values));
      }
      expected.push_back(bytes_of(sums));
      for (const auto& intervals : deal) memory[j].push_back(memory_of(rows, call.columns, intervals));
      results.emplace_back(p, Result(8 * call.columns));
    }
    for (Rank rank = 0; rank < p; ++rank) {
      const auto i = static_cast<std::size_t>(rank);
      std::vector<std::size_t> order = {0, 1, 2, 3, 4};
      std::shuffle(order.begin(), order.end(), random);
      for (const std::size_t j : order)
        jobs[j]->plan(rank).start({.first = memory[j][i].data(), .result = results[j][i].data()});
    }
    ASSERT_TRUE(finish(ranks, {jobs[0].get(), jobs[1].get(), jobs[2].get(), jobs[3].get(), jobs[4].get()}, 4));
    for (std::size_t j = 0; j < all.size(); ++j) {
      Outcome outcome{.stuck = false, .statuses = {}, .results = results[j]};
      for (Rank rank = 0; rank < p; ++rank) outcome.statuses.push_back(jobs[j]->plan(rank).status());
      expect_result(outcome, all[j].root, expected[j]);
    }
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace steadfold::test::failure_test
