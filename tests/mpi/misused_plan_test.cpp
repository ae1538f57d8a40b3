// Plans used against their rules on one thread: started twice, run while started, asked without a start, given up on
// the way, called by their own operator. Each is answered at once, and the run it meets ends in the right bits.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "misuse.hpp"
#include "run_ranks.hpp"

namespace steadfold::tests {
namespace {

/// Every order of subtracting these gives other bits.
class MisusedPlanTest : public MisuseTest {
 protected:
  std::vector<double> elements_of(int run) {
    Random random(static_cast<std::uint64_t>(run));
    return numbers<double>(6 * world.count(), random);
  }
  std::vector<double> mine_of(const std::vector<double>& all) {
    const auto begin = all.begin() + 6 * world.rank;
    return {begin, begin + 6};
  }
  void expect_running(const Outcome& outcome, const std::string& what) {
    EXPECT_EQ(outcome.status, SF_INVALID_ARGUMENT) << what;
    expect_text(outcome.text, {"running", "wait"}, what);
  }
};

TEST_F(MisusedPlanTest, TheDataTellOrdersApart) {
  const std::vector<double> all = elements_of(1);
  double left_to_right = all[0];
  for (std::size_t i = 1; i < all.size(); ++i) left_to_right -= all[i];
  EXPECT_FALSE(same_bits(left_to_right, tree_of(all, subtract)));
}

TEST_F(MisusedPlanTest, StartedOrRunWhileUnderWay) {
  for (const std::string schedule : {"", "linear", "binomial", "flat"}) {
    Plan<double> plan(subtract, 6, world.comm, {.schedule = schedule});
    for (int run = 0; run < 5; ++run) {
      const std::vector<double> all = elements_of(run);
      const std::vector<double> mine = mine_of(all);
      const std::vector<double> other(6, 99.0);
      double result = 0;
      double nothing = 7;
      plan.start(mine, {&result, 1});
      if (run % 2 == 1) plan.test();
      const bool done = run % 2 == 1 && plan.test();
      if (!done) {
        expect_running(outcome_of([&] { plan.start(other, {&nothing, 1}); }), "started twice");
        expect_running(outcome_of([&] { plan.run(other, std::span{&nothing, 1}); }), "run while started");
      }
      plan.wait();
      EXPECT_TRUE(is(result, tree_of(all, subtract))) << schedule << ", run " << run;
      EXPECT_TRUE(is(nothing, 7.0)) << "what was refused wrote its result";
    }
  }
  expect_usable("starts while under way");
}

/// On one rank only: the others' runs must not notice.
TEST_F(MisusedPlanTest, StartedTwiceOnOneRank) {
  Plan<double> plan(subtract, 6, world.comm);
  for (int odd = 0; odd < world.size; ++odd) {
    const std::vector<double> all = elements_of(odd);
    const std::vector<double> mine = mine_of(all);
    double result = 0;
    plan.start(mine, {&result, 1});
    if (is_astray(odd)) expect_running(outcome_of([&] { plan.start(mine, {&result, 1}); }), "started twice");
    plan.wait();
    EXPECT_TRUE(is(result, tree_of(all, subtract)));
  }
}

TEST_F(MisusedPlanTest, AskedWithoutAStart) {
  Plan<double> plan(subtract, 6, world.comm);
  for (int run = 0; run < 3; ++run) {
    EXPECT_TRUE(plan.test());
    plan.wait();
    plan.wait();
    const std::vector<double> all = elements_of(run);
    double result = 0;
    plan.start(mine_of(all), {&result, 1});
    if (run == 1) {
      while (!plan.test()) {
      }
    } else {
      plan.wait();
    }
  }
  sf_call call = call_of_rows(0);
  sf_plan* bound = nullptr;
  ASSERT_EQ(sf_plan_bind(&call, world.comm, &bound), SF_OK);
  EXPECT_EQ(sf_plan_test(bound, nullptr), SF_INVALID_ARGUMENT);
  EXPECT_EQ(sf_plan_figures(bound, nullptr), SF_INVALID_ARGUMENT);
  int done = 0;
  EXPECT_EQ(sf_plan_test(bound, &done), SF_OK);
  EXPECT_EQ(done, 1);
  sf_plan_free(bound);
  sf_plan_free(nullptr);
}

/// A failed run keeps its verdict until the next.
TEST_F(MisusedPlanTest, AskedAfterAFailure) {
  sf_call call = call_of_rows(5);
  call.method = SF_TREE;
  sf_plan* plan = nullptr;
  ASSERT_EQ(sf_plan_bind(&call, world.comm, &plan), SF_OK);
  double result = 0;
  EXPECT_EQ(sf_plan_run(plan, world.rank == 0 ? nullptr : x.data(), nullptr, &result), SF_INVALID_ARGUMENT);
  EXPECT_EQ(sf_plan_wait(plan), SF_INVALID_ARGUMENT);
  EXPECT_EQ(sf_plan_run(plan, x.data(), nullptr, &result), SF_OK) << sf_error_text();
  EXPECT_EQ(sf_plan_wait(plan), SF_OK);
  sf_plan_free(plan);
}

/// The runs get as far as they may before they are given up, and what was sent from is overwritten if it can be: large
/// messages are still being read then.
TEST_F(MisusedPlanTest, GivenUpOnTheWay) {
  const std::size_t columns = 40000;
  for (int round = 0; round < 10; ++round) {
    for (const std::string& schedule : schedules_of(tree(), false)) {
      std::vector<double> buffer(columns, 1.0 + world.rank);
      auto plan = std::make_unique<Plan<double>>(
          Plan<double>::of_vectors(plus, columns, world.comm, {.method = tree(), .schedule = schedule}));
      plan->start(buffer, std::span(buffer));
      bool done = false;
      for (int tests = 0; tests < 3 * round && !done; ++tests) done = plan->test();
      plan.reset();
      std::vector<std::vector<double>> rubbish(8, std::vector<double>(columns, 1e300));
      MPI_Barrier(world.comm);
      std::vector<double> again(columns, 0.1 * (world.rank + 1));
      allreduce(std::span{again}, plus, world.comm, {.method = tree(), .schedule = schedule});
      std::vector<double> column;
      for (int r = 0; r < world.size; ++r) column.push_back(0.1 * (r + 1));
      EXPECT_TRUE(is(again.back(), tree_of(column, add))) << schedule << ", round " << round;
    }
  }
  expect_usable("runs given up");
}

// --- operators that call back ----------------------------------------------------------------------------------------

/// Calls `inner` once a combination; what that threw fails the run.
template <class Inner>
auto calling(const Inner& inner) {
  return [&inner](double a, double b) {
    inner();
    return a - b;
  };
}

TEST_F(MisusedPlanTest, RunByItsOwnOperator) {
  Plan<double>* self = nullptr;
  Words texts;
  const auto inner = [&] {
    double result = 0;
    const std::vector<double> mine(6, 1.0);
    for (const Outcome& outcome :
         {outcome_of([&] {
            self->run(mine, std::span{&result, 1});
          }),
          outcome_of([&] { self->test(); }), outcome_of([&] { self->wait(); }), outcome_of([&] {
            self->start(mine, std::span{&result, 1});
          }),
          outcome_of([&] { self->trace(true); })})
      texts.push_back(outcome.text);
  };
  Plan<double> plan(calling(inner), 6, world.comm);
  self = &plan;
  const std::vector<double> all = elements_of(5);
  EXPECT_TRUE(is(plan.run(mine_of(all)), tree_of(all, subtract)));
  EXPECT_GE(texts.size(), 5u) << "the operator was not called";
  for (const std::string& text : texts)
    expect_text(text, {"the plan", "in use", "operator"}, "calls of its own operator");
}

TEST_F(MisusedPlanTest, OneShotsByTheOperatorOfAOneShot) {
  for (const std::string schedule : {"", "linear"}) {
    const auto inner = [&] { sum(x, world.comm); };
    const Outcome outcome = outcome_of([&] { reduce(x, calling(inner), world.comm, {.schedule = schedule}); });
    EXPECT_EQ(outcome.status, SF_INVALID_ARGUMENT) << "what the operator threw: " << outcome.string();
    expect_text(outcome.text, {"the communicator", "in use", "operator"}, "a one-shot by an operator");
    expect_usable("a one-shot by an operator");
    const auto binds = [&] { Plan<double>(plus, 1, world.comm); };
    EXPECT_EQ(outcome_of([&] { reduce(x, calling(binds), world.comm, {.schedule = schedule}); }).status,
              SF_INVALID_ARGUMENT);
    expect_usable("a bind by an operator");
  }
}

/// What needs no other rank may be called from anywhere.
TEST_F(MisusedPlanTest, LocalReductionsByAnOperator) {
  const std::vector<double> all = elements_of(6);
  double inside = 0;
  const auto inner = [&] { inside = sum(std::vector<double>{0.1, 0.2, 0.3}); };
  EXPECT_TRUE(is(reduce(mine_of(all), calling(inner), world.comm), tree_of(all, subtract)));
  EXPECT_TRUE(is(inside, sum(std::vector<double>{0.1, 0.2, 0.3})));
}

}  // namespace
}  // namespace steadfold::tests

int main(int argc, char** argv) { return steadfold::tests::run_program(argc, argv, 60); }
