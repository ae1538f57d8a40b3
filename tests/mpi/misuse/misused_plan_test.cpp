// Plans used against their rules on one thread: started twice, run while started, asked without a start, given up on
// the way, called by their own operator. Each is answered at once, and the run it meets ends in the right bits.
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mpi/misuse/misuse.hpp"

namespace steadfold::tests::misused_plan_test {
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
        expect_running(outcome_of([&] { plan.run(other); }), "run while started");
      }
      plan.wait();
      EXPECT_TRUE(is(result, tree_of(all, subtract))) << schedule << ", run " << run;
      EXPECT_TRUE(is(nothing, 7.0)) << "what was refused wrote its result";
    }
  }
  expect_usable("starts while under way");
}

/// Other calls move a run to its end, but it has not ended before a test said so.
TEST_F(MisusedPlanTest, StartedAgainBeforeATestSaidSo) {
  if (world.size == 1) return;  // no call waits, so none moves another
  Plan<double> plan(subtract, 6, world.comm);
  const std::vector<double> all = elements_of(1);
  const std::vector<double> mine = mine_of(all);
  double result = 0;
  plan.start(mine, {&result, 1});
  for (int call = 0; call < 50; ++call) sum(mine, world.comm);
  EXPECT_TRUE(is(result, tree_of(all, subtract))) << "the run is over";
  expect_running(outcome_of([&] { plan.start(mine, {&result, 1}); }), "started twice");
  expect_running(outcome_of([&] { plan.run(mine); }), "run while started");
  plan.wait();
  EXPECT_TRUE(is(plan.run(mine), tree_of(all, subtract)));
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
    const std::vector<double> mine = mine_of(elements_of(run));
    double result = 0;
    plan.start(mine, {&result, 1});
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
      auto plan = std::make_unique<VectorPlan<double>>(
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

// --- what a failed run says ----------------------------------------------------------------------------------------

/// The rank that knows says what is wrong, the others that another one knows; in one phase, in two, by two sweeps.
TEST_F(MisusedPlanTest, PlansRunOnNull) {
  const std::vector<double> all(5 * world.count(), 0.1);
  double result = 0;
  sf_plan* plan = nullptr;
  const auto in_two_phases = [&](const double* data, double* place) {
    if (const sf_status status = sf_plan_start(plan, data, nullptr, place); status != SF_OK) return status;
    int done = 0;
    sf_status status = SF_OK;
    while (done == 0 && status == SF_OK) status = sf_plan_test(plan, &done);
    EXPECT_EQ(sf_plan_wait(plan), status) << "the last run came to the same";
    return status;
  };
  for (const sf_sweep sweep : {SF_SINGLE_SWEEP, SF_DOUBLE_SWEEP}) {
    sf_call call = call_of_rows(5);
    call.method = sweep == SF_DOUBLE_SWEEP ? SF_BINNED : SF_TREE;
    call.sweep = sweep;
    ASSERT_EQ(sf_plan_bind(&call, world.comm, &plan), SF_OK) << sf_error_text();
    for (int odd = 0; odd < world.size; ++odd) {
      const double* const data = is_astray(odd) ? nullptr : x.data();
      double* const place = is_astray(odd) ? nullptr : &result;
      const Words no_data = is_astray(odd) ? Words{"null", "5 rows"} : Words{"on another rank"};
      const Words no_place = is_astray(odd) ? Words{"the result has no memory"} : Words{"on another rank"};
      expect_status(SF_INVALID_ARGUMENT, no_data, "a plan on null data",
                    [&] { return sf_plan_run(plan, data, nullptr, &result); });
      expect_status(SF_INVALID_ARGUMENT, no_data, "a plan started on null data",
                    [&] { return in_two_phases(data, &result); });
      expect_status(SF_INVALID_ARGUMENT, no_place, "a plan with nowhere to put the result",
                    [&] { return sf_plan_run(plan, x.data(), nullptr, place); });
      expect_status(SF_INVALID_ARGUMENT, no_place, "a plan started with nowhere to put the result",
                    [&] { return in_two_phases(x.data(), place); });
      EXPECT_EQ(sf_plan_run(plan, x.data(), nullptr, &result), SF_OK) << sf_error_text();
      EXPECT_TRUE(is(
          result, sweep == SF_DOUBLE_SWEEP ? reference::exact_sum(std::span<const double>(all)) : tree_of(all, add)));
    }
    sf_plan_free(plan);
  }
}

TEST_F(MisusedPlanTest, PlansOfBundlesRunOnNull) {
  std::vector<sf_call> calls(3, call_of_rows(5));
  calls[1].operation = SF_DOT;
  calls[2].operation = SF_MASKED_SUM;
  const std::vector<std::uint8_t> mask(5, 1);
  std::vector<double> results(3);
  const std::vector<sf_data> good = {
      {x.data(), nullptr, &results[0]}, {x.data(), x.data(), &results[1]}, {x.data(), mask.data(), &results[2]}};
  sf_plan* plan = nullptr;
  ASSERT_EQ(sf_bundle_bind(calls.data(), 3, world.comm, &plan), SF_OK) << sf_error_text();
  for (int odd = 0; odd < world.size; ++odd) {
    const auto expect = [&](const Words& words, const std::vector<sf_data>& data) {
      expect_status(SF_INVALID_ARGUMENT, is_astray(odd) ? words : Words{"on another rank"}, words.front(), [&] {
        return sf_bundle_run(plan, is_astray(odd) ? data.data() : good.data(), is_astray(odd) ? data.size() : 3);
      });
      expect_text(sf_bundle_status(plan, 1) == SF_OK ? "" : sf_error_text(),
                  is_astray(odd) ? words : Words{"on another rank"}, "a member's status");
    };
    std::vector<sf_data> data = good;
    data[1].second = nullptr;
    expect({"call 1: the second factor of a dot product is null", "5 rows"}, data);
    data = good;
    data[2].second = nullptr;
    expect({"call 2: the mask of a masked sum is null", "5 rows"}, data);
    data = good;
    data[0].result = nullptr;
    expect({"call 0: the result has no memory"}, data);
    data.pop_back();
    expect({"data for 2 calls (the plan was bound for 3)"}, data);
    expect({"data for 0 calls (the plan was bound for 3)"}, {});
    EXPECT_EQ(sf_bundle_run(plan, good.data(), 3), SF_OK) << sf_error_text();
    EXPECT_TRUE(is(results[2], results[0]));
  }
  sf_plan_free(plan);
}

/// What a failing operator in C is told of: on its rank that it was its own.
TEST_F(MisusedPlanTest, OperatorsThatFailInPlansAndOneShots) {
  bool fails = false;
  sf_call call = call_of_rows(5);
  call.operation = SF_USER;
  call.type = call.result_type = SF_BYTES;
  call.element_bytes = sizeof(double);
  call.context = &fails;
  call.user = [](const void* left, const void*, void* result, std::size_t count, void* context) {
    std::memcpy(result, left, count * sizeof(double));
    return *static_cast<bool*>(context) ? 7 : 0;
  };
  sf_plan* plan = nullptr;
  ASSERT_EQ(sf_plan_bind(&call, world.comm, &plan), SF_OK) << sf_error_text();
  std::vector<sf_call> calls = {call_of_rows(5), call};
  sf_plan* bundle = nullptr;
  ASSERT_EQ(sf_bundle_bind(calls.data(), 2, world.comm, &bundle), SF_OK) << sf_error_text();
  std::vector<double> results(2);
  const sf_data data[2] = {{x.data(), nullptr, &results[0]}, {x.data(), nullptr, &results[1]}};
  for (int odd = 0; odd < world.size; ++odd) {
    fails = is_astray(odd);
    const std::string own = "the user operator failed (on this rank";
    const std::string others = "the user operator failed (on another rank";
    expect_status(SF_OPERATOR_FAILED, {fails ? own : others}, "a plan",
                  [&] { return sf_plan_run(plan, x.data(), nullptr, results.data()); });
    expect_status(SF_OPERATOR_FAILED, {fails ? "call 1: " + own : others}, "a bundle",
                  [&] { return sf_bundle_run(bundle, data, 2); });
    expect_status(SF_OPERATOR_FAILED, {fails ? own : others}, "one-shot by a plan",
                  [&] { return sf_reduce(&call, x.data(), nullptr, results.data(), world.comm); });
    const std::string where = world.size == 1 ? "" : "rank " + std::to_string(odd) + ": ";
    const std::vector<Interval> mine = {{5 * world.index(), 5 * world.index() + 5}};
    sf_call listed = call;
    listed.layout = SF_INTERVALS;
    listed.intervals = mine.data();
    listed.interval_count = 1;
    expect_status(SF_OPERATOR_FAILED, {where + own}, "one-shot in the opening",
                  [&] { return sf_reduce(&listed, x.data(), nullptr, results.data(), world.comm); });
  }
  fails = false;
  EXPECT_EQ(sf_plan_run(plan, x.data(), nullptr, results.data()), SF_OK) << sf_error_text();
  sf_plan_free(plan);
  sf_plan_free(bundle);
}

/// MPI belongs to the parent. What the child frees is memory that the ranks share, and the parents go on using it.
TEST_F(MisusedPlanTest, UsedByAChildOfFork) {
  const std::vector<double> all = elements_of(3);
  const std::vector<double> mine = mine_of(all);
  auto plan = std::make_unique<Plan<double>>(subtract, 6, world.comm);
  EXPECT_TRUE(is(plan->run(mine), tree_of(all, subtract)));
  const pid_t child = fork();
  if (child == 0) {
    int answered = 0;
    for (const Outcome& outcome : {outcome_of([&] { plan->run(mine); }), outcome_of([&] { sum(mine, world.comm); }),
                                   outcome_of([&] { Plan<double>(subtract, 6, world.comm); })}) {
      if (outcome.status == SF_INVALID_ARGUMENT && outcome.text.find("in a child of fork") != std::string::npos)
        answered += 1;
    }
    plan.reset();
    _exit(answered);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 3) << status;
  for (int run = 0; run < 3; ++run) {  // blocks that a child had given back would be taken by these plans
    Plan<double> other(subtract, 6, world.comm);
    EXPECT_TRUE(is(other.run(mine), tree_of(all, subtract)));
    EXPECT_TRUE(is(plan->run(mine), tree_of(all, subtract)));
  }
  expect_usable("a child of fork");
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
    for (const Outcome& outcome : {outcome_of([&] { self->run(mine); }), outcome_of([&] { self->test(); }),
                                   outcome_of([&] { self->wait(); }), outcome_of([&] {
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
}  // namespace steadfold::tests::misused_plan_test
