// Plans: run often, several at a time, in two phases; what they say of themselves; what they outlive.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/operators.hpp"
#include "mpi/outcome.hpp"
#include "mpi/ranks.hpp"
#include "mpi/reference.hpp"
#include "support/sanitized.hpp"

namespace steadfold::tests::plan_test {
namespace {

class PlanTest : public testing::Test {
 protected:
  Ranks world;
  Random random{seed_of("plan_test", 99109)};

  std::vector<std::size_t> some_counts(std::size_t n) { return random_counts(n, world.count(), random); }
};

// --- results ---------------------------------------------------------------------------------------------------------

TEST_F(PlanTest, RunsOftenWithOtherData) {
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{500}}) {
    const Ownership ownership = shuffled(n, world.count(), 10, true, random);
    const Layout layout = layout_on(world, ownership);
    const std::size_t rows = pick(std::vector<double>(n), ownership[world.index()]).size();
    Plan<double> by_tree(plus, rows, world.comm, {.method = tree(), .layout = layout});
    Plan<double> exactly(plus, rows, world.comm, {.layout = layout});
    for (int run = 0; run < 20; ++run) {
      const std::vector<double> all = elements<double>(n, random);
      const std::vector<double> mine = pick(all, ownership[world.index()]);
      EXPECT_TRUE(is(by_tree.run(mine), n == 0 ? 0.0 : tree_of(all, add))) << n << " elements, run " << run;
      EXPECT_TRUE(is(exactly.run(mine), reference::exact_sum(std::span<const double>(all)))) << n << ", run " << run;
    }
  }
}

TEST_F(PlanTest, ServesEveryScheduleAndRoot) {
  const std::size_t n = 77;
  const Ownership ownership = in_rank_order(some_counts(n));
  const std::size_t rows = pick(std::vector<double>(n), ownership[world.index()]).size();
  for (int root = -1; root < world.size; ++root) {
    for (const std::string& schedule : schedules_of({}, root >= 0)) {
      Options options{.schedule = schedule};
      if (root >= 0) options.root = root;
      Plan<double> plan(subtract, rows, world.comm, options);
      EXPECT_TRUE(schedule.empty() || plan.schedule() == schedule) << plan.schedule();
      const std::vector<double> all = elements<double>(n, random);
      const double found = plan.run(pick(all, ownership[world.index()]));
      if (root < 0 || root == world.rank) {
        EXPECT_TRUE(is(found, tree_of(all, subtract))) << text_of(options);
      } else {
        EXPECT_TRUE(found != found) << text_of(options);
      }
    }
  }
}

/// All but the root go on when their part is sent, so they may be runs ahead of it: it comes late in every third run.
TEST_F(PlanTest, LetsSendersRunAhead) {
  const std::size_t n = 60;
  const Ownership ownership = in_rank_order(some_counts(n));
  const int root = world.size - 1;
  for (const std::string& schedule : schedules_of({}, true)) {
    const std::size_t rows = pick(std::vector<double>(n), ownership[world.index()]).size();
    Plan<double> plan(subtract, rows, world.comm, {.root = root, .schedule = schedule});
    for (int run = 0; run < 30; ++run) {
      const std::vector<double> all = elements<double>(n, random);
      if (world.rank == root && run % 3 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      const double found = plan.run(pick(all, ownership[world.index()]));
      if (world.rank != root) continue;
      EXPECT_TRUE(is(found, tree_of(all, subtract))) << schedule << ", run " << run;
    }
  }
}

TEST_F(PlanTest, ServesDotProductsNormsAndVectors) {
  const std::size_t n = 200;
  const Ownership ownership = in_rank_order(some_counts(n));
  const auto& intervals = ownership[world.index()];
  const std::vector<double> x = wide_numbers<double>(n, random);
  const std::vector<double> y = wide_numbers<double>(n, random);
  const std::vector<double> my_x = pick(x, intervals);
  const std::vector<double> my_y = pick(y, intervals);
  const std::span<const double> all_x(x);
  for (const std::string& schedule : schedules_of(exact(), false)) {
    Plan<double> dot_plan(dot, my_x.size(), world.comm, {.schedule = schedule});
    Plan<double> norm_plan(norm2, my_x.size(), world.comm, {.schedule = schedule});
    EXPECT_TRUE(is(dot_plan.run(my_x, my_y), reference::exact_dot(all_x, std::span<const double>(y))));
    EXPECT_TRUE(is(norm_plan.run(my_x), reference::exact_norm2(all_x))) << schedule;
  }
  std::vector<std::uint8_t> mask(n);
  for (auto& byte : mask) byte = static_cast<std::uint8_t>(random() % 2);
  const std::vector<std::uint8_t> my_mask = pick(mask, intervals);
  Plan<double> masked_plan(masked_sum, my_x.size(), world.comm);
  const double selected = reference::exact_masked_sum(all_x, std::span<const std::uint8_t>(mask));
  EXPECT_TRUE(is(masked_plan.run(my_x, my_mask), selected));
  EXPECT_TRUE(is(masked_sum(my_x, my_mask, world.comm), selected));
  EXPECT_TRUE(is(abs_sum(my_x, world.comm), reference::exact_abs_sum(all_x)));
  EXPECT_TRUE(is(sum_squares(my_x, world.comm), reference::exact_dot(all_x, all_x)));
  EXPECT_TRUE(is(weighted_sum(my_x, my_y, world.comm), reference::exact_dot(all_x, std::span<const double>(y))));
  auto vectors = Plan<Text>::of_vectors(join, 3, world.comm);
  const std::vector<Text> own(3, Text::of(static_cast<char>('a' + world.rank)));
  std::vector<Text> letters;
  for (int r = 0; r < world.size; ++r) letters.push_back(Text::of(static_cast<char>('a' + r)));
  std::vector<Text> result = own;
  vectors.run(result, std::span{result});
  for (const Text& each : result) EXPECT_TRUE(is(each, tree_of(letters, join))) << each.string();
}

/// Every operator has a name that plans take, the function of one process is the reference.
TEST_F(PlanTest, ServesEveryOperatorByName) {
  const std::size_t n = 200;
  const Ownership ownership = in_rank_order(some_counts(n));
  const auto& intervals = ownership[world.index()];
  const std::vector<double> x = wide_numbers<double>(n, random);
  const std::vector<double> y = wide_numbers<double>(n, random);
  std::vector<std::uint8_t> mask(n);
  for (auto& byte : mask) byte = static_cast<std::uint8_t>(random() % 2);
  const std::vector<double> my_x = pick(x, intervals);
  const std::vector<double> my_y = pick(y, intervals);
  const std::vector<std::uint8_t> my_mask = pick(mask, intervals);
  const auto expect = [&](const char* what, auto plan, const auto& wanted, const auto&... second) {
    EXPECT_TRUE(is(plan.run(my_x, second...), wanted)) << what;
    auto result = wanted;
    std::memset(&result, 0x55, sizeof result);
    plan.start(my_x, second..., {&result, 1});
    plan.wait();
    EXPECT_TRUE(is(result, wanted)) << what << " in two phases";
  };
  const auto planned = [&](const auto& op) { return Plan<double>(op, my_x.size(), world.comm); };
  expect("sum", Plan<double>(sum, my_x.size(), world.comm), sum(x));
  expect("plus", planned(plus), sum(x));
  expect("min", planned(min), min(x));
  expect("maximum", planned(maximum), max(x));
  expect("norm2", planned(norm2), norm2(x));
  expect("mean", planned(mean), mean(x));
  expect("abs_sum", planned(abs_sum), abs_sum(x));
  expect("norminf", planned(norminf), norminf(x));
  expect("sum_squares", planned(sum_squares), sum_squares(x));
  expect("dot", planned(dot), dot(x, y), my_y);
  expect("weighted_sum", planned(weighted_sum), dot(x, y), my_y);
  expect("dotc", planned(dotc), dot(x, y), my_y);
  expect("masked_sum", planned(masked_sum), masked_sum(x, mask), my_mask);
  expect("times", Plan<double>(times, my_x.size(), world.comm, tree()), times(x, tree()));
  const auto located = [&](const auto& op) { return Plan<double, Located<double>>(op, my_x.size(), world.comm); };
  EXPECT_EQ(located(min_location).run(my_x), min_location(x));
  EXPECT_EQ(located(maximum_location).run(my_x), max_location(x));
}

/// One of several plans under way at once.
struct InFlight {
  std::unique_ptr<Plan<double>> plan;
  std::vector<double> mine;
  double wanted = 0;
  double result = 0;
  bool done = false;
};

TEST_F(PlanTest, SeveralRunAtATimeInAnyOrder) {
  std::vector<InFlight> flight(6);
  const std::size_t n = 300;
  std::vector<Ownership> ownerships;
  for (std::size_t i = 0; i < flight.size(); ++i) {
    ownerships.push_back(shuffled(n, world.count(), 9, i % 2 == 0, random));
    const std::size_t rows = pick(std::vector<double>(n), ownerships[i][world.index()]).size();
    const Options options{.method = i % 2 == 0 ? tree() : exact(),
                          .layout = layout_on(world, ownerships[i]),
                          .schedule = schedules_of({}, false)[i % 5]};
    flight[i].plan = std::make_unique<Plan<double>>(plus, rows, world.comm, options);
  }
  Random own_order(world.index());  // every rank starts and tests in an order of its own
  for (int round = 0; round < 10; ++round) {
    for (std::size_t i = 0; i < flight.size(); ++i) {
      const std::vector<double> all = elements<double>(n, random);
      flight[i].mine = pick(all, ownerships[i][world.index()]);
      flight[i].wanted = i % 2 == 0 ? tree_of(all, add) : reference::exact_sum(std::span<const double>(all));
      flight[i].done = false;
    }
    std::vector<std::size_t> order = {0, 1, 2, 3, 4, 5};
    std::shuffle(order.begin(), order.end(), own_order);
    for (const std::size_t i : order) flight[i].plan->start(flight[i].mine, {&flight[i].result, 1});
    std::size_t left = flight.size();
    while (left > 0) {
      InFlight& one = flight[draw(own_order, flight.size())];
      if (one.done || !one.plan->test()) continue;
      one.done = true;
      left -= 1;
    }
    for (InFlight& one : flight) {
      one.plan->wait();  // does nothing more
      EXPECT_TRUE(is(one.result, one.wanted)) << one.plan->describe();
    }
  }
}

/// Plans whose adding is a collective of MPI, which takes it up in the order of their starts.
TEST_F(PlanTest, NativeOnesAreAskedInAnyOrder) {
  Random own_order(world.index());
  std::vector<Plan<double>> plans;
  for (int i = 0; i < 4; ++i) plans.emplace_back(plus, 1, world.comm, Options{.schedule = "native"});
  for (int round = 0; round < 20; ++round) {
    std::vector<std::vector<double>> mine;
    std::vector<double> results(plans.size());
    for (std::size_t i = 0; i < plans.size(); ++i) mine.push_back({static_cast<double>(i + 1)});
    for (std::size_t i = 0; i < plans.size(); ++i) plans[i].start(mine[i], {&results[i], 1});
    std::vector<std::size_t> order = {0, 1, 2, 3};
    std::shuffle(order.begin(), order.end(), own_order);
    for (const std::size_t i : order) plans[i].test();
    for (auto& plan : plans) plan.wait();
    for (std::size_t i = 0; i < plans.size(); ++i)
      EXPECT_TRUE(is(results[i], static_cast<double>((i + 1) * world.count()))) << "plan " << i << ", round " << round;
  }
}

/// Those of binned sums add words when their first sweep is done on this rank, so in any order; those of exact sums
/// beside them keep the order of their starts.
TEST_F(PlanTest, NativeOnesOfTwoSweepsKeepNoOrder) {
  Random own_order(world.index());
  const Method twice = binned({.bins = 4, .sweep = SF_DOUBLE_SWEEP});
  constexpr std::size_t plan_count = 6;
  std::vector<VectorPlan<double>> plans;
  std::vector<std::vector<double>> buffers(plan_count);
  for (std::size_t i = 0; i < plan_count; ++i)
    plans.push_back(Plan<double>::of_vectors(plus, i + 1, world.comm,
                                             {.method = i % 3 == 0 ? exact() : twice, .schedule = "native"}));
  for (int round = 0; round < 30; ++round) {
    for (std::size_t i = 0; i < plan_count; ++i) {
      buffers[i].assign(i + 1, 0.1 * static_cast<double>(i + world.index()));
    }
    std::vector<std::size_t> order = {0, 1, 2, 4, 5};  // 3 comes after 0
    std::shuffle(order.begin(), order.end(), own_order);
    order.push_back(3);
    for (const std::size_t i : order) plans[i].start(buffers[i], std::span(buffers[i]));
    std::size_t left = plan_count;
    std::vector<bool> done(plan_count, false);
    while (left > 0) {
      const std::size_t i = draw(own_order, plan_count);
      if (done[i] || !plans[i].test()) continue;
      done[i] = true;
      left -= 1;
    }
    for (std::size_t i = 0; i < plan_count; ++i) {
      std::vector<double> column;
      for (std::size_t r = 0; r < world.count(); ++r) column.push_back(0.1 * static_cast<double>(i + r));
      const double due = reference::exact_sum(std::span<const double>(column));  // near each other: four bins hold all
      for (const double found : buffers[i]) EXPECT_TRUE(is(found, due)) << "plan " << i << ", round " << round;
    }
  }
}

/// Some ranks give a run up before their words are added, others while they are: what follows is not held up.
TEST_F(PlanTest, NativeOnesOfTwoSweepsMayBeGivenUp) {
  const Options twice{.method = binned({.bins = 4, .sweep = SF_DOUBLE_SWEEP}), .schedule = "native"};
  for (int round = 0; round < 5; ++round) {
    const std::vector<double> mine = {static_cast<double>(world.rank + 1)};
    double given_up = 0;
    double found = 0;
    Plan<double> kept(plus, 1, world.comm, twice);
    {
      Plan<double> plan(plus, 1, world.comm, twice);
      plan.start(mine, {&given_up, 1});
      outcome_of([&] {  // may already learn that others gave up
        for (int i = 0; i < 1000 * (world.rank % 2); ++i) plan.test();
      });
    }
    kept.start(mine, {&found, 1});
    kept.wait();
    EXPECT_TRUE(is(found, static_cast<double>(world.size * (world.size + 1) / 2)));
  }
}

/// Messages that wait for their receivers, in plans started in other orders on other ranks.
TEST_F(PlanTest, WideVectorsRunAtATimeInAnyOrder) {
  const std::size_t columns = 30000;
  std::vector<VectorPlan<double>> plans;
  std::vector<std::vector<double>> buffers(4);
  for (const char* schedule : {"recursive_doubling", "linear", "binomial", "flat"})
    plans.push_back(Plan<double>::of_vectors(plus, columns, world.comm, {.schedule = schedule}));
  Random own_order(world.index());
  for (int round = 0; round < 3; ++round) {
    std::vector<std::size_t> order = {0, 1, 2, 3};
    std::shuffle(order.begin(), order.end(), own_order);
    for (const std::size_t i : order) {
      buffers[i].assign(columns, 0.1 * static_cast<double>(i + world.index()));
      plans[i].start(buffers[i], std::span(buffers[i]));
    }
    std::vector<bool> done(plans.size(), false);
    while (std::count(done.begin(), done.end(), true) < 4) {
      const std::size_t i = draw(own_order, plans.size());
      if (!done[i]) done[i] = plans[i].test();
    }
    for (std::size_t i = 0; i < plans.size(); ++i) {
      std::vector<double> column;
      for (std::size_t r = 0; r < world.count(); ++r) column.push_back(0.1 * static_cast<double>(i + r));
      EXPECT_TRUE(is(buffers[i].front(), tree_of(column, add))) << plans[i].schedule();
      EXPECT_TRUE(is(buffers[i].back(), tree_of(column, add))) << plans[i].schedule();
    }
  }
}

TEST_F(PlanTest, OneShotsGoOnWhileAPlanIsUnderWay) {
  const std::vector<double> all = elements<double>(100, random);
  const Ownership ownership = in_rank_order(some_counts(100));
  const std::vector<double> mine = pick(all, ownership[world.index()]);
  Plan<double> plan(subtract, mine.size(), world.comm);
  for (int round = 0; round < 5; ++round) {
    double result = 0;
    plan.start(mine, {&result, 1});
    EXPECT_TRUE(is(sum(mine, world.comm), reference::exact_sum(std::span<const double>(all))));
    EXPECT_TRUE(is(reduce(mine, subtract, world.comm), tree_of(all, subtract)));
    plan.wait();
    EXPECT_TRUE(is(result, tree_of(all, subtract)));
  }
}

// --- what they say of themselves
// --------------------------------------------------------------------------------------

TEST_F(PlanTest, DescribesWhatWasAgreed) {
  Plan<double> plan(plus, 10, world.comm, {.method = tree(), .schedule = "linear"});
  const std::string text = plan.describe();
  for (const std::string word : {"tree", "linear", "sum", "f64"})
    EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
  EXPECT_NE(text.find(std::to_string(10 * world.size)), std::string::npos) << "the element count in: " << text;
  const Plan<double> chosen(plus, 10, world.comm);
  EXPECT_NE(chosen.describe().find("exact"), std::string::npos) << chosen.describe();
  EXPECT_NE(chosen.describe().find(chosen.schedule()), std::string::npos) << chosen.describe();
}

// --- lives -----------------------------------------------------------------------------------------------------------

TEST_F(PlanTest, OutlivesTheCommunicator) {
  for (int round = 0; round < 20; ++round) {
    Ranks copy = Ranks::duplicate();
    const std::vector<double> all = elements<double>(64, random);
    const Ownership ownership = in_rank_order(some_counts(64));
    const std::vector<double> mine = pick(all, ownership[world.index()]);
    Plan<double> plan(subtract, mine.size(), copy.comm);
    Plan<double> other(plus, mine.size(), copy.comm, {.schedule = "linear"});
    copy.free();
    EXPECT_TRUE(is(plan.run(mine), tree_of(all, subtract)));
    EXPECT_TRUE(is(other.run(mine), reference::exact_sum(std::span<const double>(all))));
  }
}

/// As when something is thrown between start and wait.
TEST_F(PlanTest, MayGoWhileUnderWay) {
  for (const std::size_t columns : {std::size_t{1}, std::size_t{30000}}) {
    for (const std::string& schedule : schedules_of(tree(), false)) {
      std::vector<double> buffer(columns, 1.0);
      {
        auto plan = Plan<double>::of_vectors(plus, columns, world.comm, {.schedule = schedule});
        plan.start(buffer, std::span(buffer));
      }
      MPI_Barrier(world.comm);
      const std::vector<double> mine = {1.0};
      EXPECT_TRUE(is(sum(mine, world.comm), static_cast<double>(world.size))) << columns << " by " << schedule;
    }
  }
}

TEST_F(PlanTest, ManyComeAndGo) {
  const std::vector<double> mine = {1.0};
  const int rounds = full() ? 5000 : test::sanitized ? 40 : 200;
  for (int round = 0; round < rounds; ++round) {
    Plan<double> plan(plus, 1, world.comm);
    EXPECT_TRUE(is(plan.run(mine), static_cast<double>(world.size)));
  }
}

TEST_F(PlanTest, MovesKeepThePlanWhole) {
  Plan<double> first(subtract, 1, world.comm);
  Plan<double> second = std::move(first);
  const std::vector<double> mine = {world.rank == 0 ? 10.0 : 0.0};
  EXPECT_TRUE(is(second.run(mine), 10.0));
  Plan<double> third(plus, 1, world.comm);
  third = std::move(second);
  EXPECT_TRUE(is(third.run(mine), 10.0));
  double result = 7;
  const auto expect_none = [](const auto& call) {
    const Outcome outcome = outcome_of(call);
    EXPECT_EQ(outcome.status, SF_INVALID_ARGUMENT);
    EXPECT_NE(outcome.text.find("no plan (the pointer is null)"), std::string::npos) << outcome.text;
  };
  for (Plan<double>* left : {&first, &second}) {
    expect_none([&] { left->run(mine); });
    expect_none([&] { left->start(mine, {&result, 1}); });
    expect_none([&] { left->wait(); });
  }
  EXPECT_TRUE(is(result, 7.0));
}

TEST_F(PlanTest, AnIdlePlanIsDone) {
  Plan<double> plan(plus, 1, world.comm);
  EXPECT_TRUE(plan.test());
  plan.wait();
  const std::vector<double> mine = {0.5};
  double result = 0;
  plan.start(mine, {&result, 1});
  EXPECT_EQ(outcome_of([&] { plan.start(mine, {&result, 1}); }).status, SF_INVALID_ARGUMENT);
  plan.wait();
  EXPECT_TRUE(is(result, 0.5 * world.size));
}

}  // namespace
}  // namespace steadfold::tests::plan_test
