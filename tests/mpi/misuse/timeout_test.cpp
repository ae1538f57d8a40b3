// Waits with a timeout: they end in time while a rank is stopped by a signal, and the run that was waited for ends in
// the right bits once it goes on.
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <string>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/operators.hpp"
#include "mpi/ranks.hpp"
#include "mpi/reference.hpp"
#include "mpi/run_ranks.hpp"
#include "steadfold/bundle.hpp"

namespace steadfold::tests {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t rows = 6;

/// Stops this process for a while; a child wakes it.
void stop_for(std::chrono::microseconds time) {
  const pid_t stopped = getpid();
  const pid_t child = fork();
  if (child == 0) {
    usleep(static_cast<useconds_t>(time.count()));
    kill(stopped, SIGCONT);
    _exit(0);
  }
  ASSERT_GT(child, 0);
  raise(SIGSTOP);
  int status = 0;
  waitpid(child, &status, 0);
}

class TimeoutTest : public testing::Test {
 protected:
  std::vector<double> all_elements() {
    Random random(seed_of("timeout_test", 2718));
    return numbers<double>(rows * world.count(), random);
  }
  std::vector<double> mine_of(const std::vector<double>& all) const {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(rows * world.index());
    return {begin, begin + rows};
  }

  /// Waits for `timeout` at a time until the run has ended; says how often that was too short. None may last as long as
  /// the other rank is stopped.
  template <class Plan>
  int timeouts_of(Plan& plan, std::chrono::milliseconds timeout, std::chrono::milliseconds most) {
    int timeouts = 0;
    while (true) {
      const auto before = Clock::now();
      const bool is_done = plan.wait_for(timeout);
      const auto waited = Clock::now() - before;
      EXPECT_TRUE(is_done || waited >= timeout);
      EXPECT_LT(waited, most);
      if (is_done) return timeouts;
      ++timeouts;
    }
  }

  Ranks world;
};

TEST_F(TimeoutTest, OthersGoOnWhileARankIsStopped) {
  const std::vector<double> all = all_elements();
  const std::vector<double> mine = mine_of(all);
  const double expected = tree_of(all, subtract);
  for (const std::string schedule : {"", "transpose", "binomial"}) {
    Plan<double> plan(subtract, rows, world.comm, {.schedule = schedule});
    const int stopped = world.size - 1;
    MPI_Barrier(world.comm);
    if (world.size > 1 && world.rank == stopped) stop_for(1500ms);
    double result = 0;
    plan.start(mine, {&result, 1});
    const int timeouts = timeouts_of(plan, 60ms, 1450ms);
    EXPECT_TRUE(world.rank == stopped || timeouts > 0) << schedule;
    EXPECT_TRUE(is(result, expected)) << schedule;
  }
}

TEST_F(TimeoutTest, BundlesToo) {
  const std::vector<double> all = all_elements();
  const std::vector<double> mine = mine_of(all);
  Bundle bundle;
  const auto difference = bundle.reduce(mine, subtract);
  const auto sum = bundle.sum(mine);
  BundlePlan plan = bundle.bind(world.comm);
  MPI_Barrier(world.comm);
  if (world.size > 1 && world.rank == 0) stop_for(1500ms);
  plan.start();
  const int timeouts = timeouts_of(plan, 60ms, 1450ms);
  EXPECT_TRUE(world.rank == 0 || timeouts > 0);
  EXPECT_TRUE(is(difference.value(), tree_of(all, subtract)));
  EXPECT_TRUE(is(sum.value(), reference::exact_sum(std::span<const double>(all))));
}

/// Zero and less look once; a time that no clock has is no end.
TEST_F(TimeoutTest, OfNoTimeAndOfAllTime) {
  const std::vector<double> all = all_elements();
  const std::vector<double> mine = mine_of(all);
  Plan<double> plan(subtract, rows, world.comm);
  for (int run = 0; run < 3; ++run) {
    double result = 0;
    plan.start(mine, {&result, 1});
    if (run == 0) {
      while (!plan.wait_for(0s)) EXPECT_EQ(result, 0) << "written before the end";
    } else if (run == 1) {
      EXPECT_TRUE(plan.wait_for(std::chrono::hours::max()));
    } else {
      while (!plan.wait_for(-1ms)) plan.wait_for(std::chrono::duration<double>(std::nan("")));
    }
    EXPECT_TRUE(is(result, tree_of(all, subtract))) << "run " << run;
    EXPECT_TRUE(plan.wait_for(0s)) << "it has ended";
  }
}

TEST_F(TimeoutTest, InC) {
  const std::vector<double> all = all_elements();
  const std::vector<double> mine = mine_of(all);
  sf_call call = sf_call_default();
  call.method = SF_TREE;
  call.rows = rows;
  call.layout = SF_RANK_ORDER;
  sf_plan* plan = nullptr;
  ASSERT_EQ(sf_plan_bind(&call, world.comm, &plan), SF_OK) << sf_error_text();
  double result = 0;
  int done = 0;
  ASSERT_EQ(sf_plan_start(plan, mine.data(), nullptr, &result), SF_OK) << sf_error_text();
  EXPECT_EQ(sf_plan_wait_for(plan, 0, nullptr), SF_INVALID_ARGUMENT) << "no place for the answer";
  while (done == 0) ASSERT_EQ(sf_plan_wait_for(plan, 1000, &done), SF_OK) << sf_error_text();
  EXPECT_TRUE(is(result, tree_of(all, add)));
  ASSERT_EQ(sf_plan_start(plan, mine.data(), nullptr, &result), SF_OK) << sf_error_text();
  EXPECT_EQ(sf_plan_wait_for(plan, SF_FOREVER, &done), SF_OK) << sf_error_text();
  EXPECT_EQ(done, 1);
  EXPECT_EQ(sf_plan_wait_for(nullptr, 0, &done), SF_INVALID_ARGUMENT);
  sf_plan_free(plan);
}

std::atomic<bool> is_asked_to_stop = false;

/// As interpreters do, where a user presses Ctrl-C: one rank gives up a call that no other rank makes, and with it the
/// communicator, which is not freed: MPI may still read what was sent over it.
TEST_F(TimeoutTest, AnInterruptEndsAWaitForOtherRanks) {
  if (world.size == 1) return;
  const std::vector<double> all = all_elements();
  const std::vector<double> mine = mine_of(all);
  const double expected = reference::exact_sum(std::span<const double>(all));
  MPI_Comm used = MPI_COMM_NULL;
  MPI_Comm_dup(world.comm, &used);
  sf_call call = sf_call_default();
  call.rows = rows;
  double result = 0;
  sf_set_interrupt([] { return is_asked_to_stop ? 1 : 0; });
  EXPECT_EQ(sf_reduce(&call, mine.data(), nullptr, &result, used), SF_OK) << sf_error_text();
  EXPECT_TRUE(is(result, expected));
  if (world.rank == 0) {
    is_asked_to_stop = true;
    for (int again = 0; again < 2; ++again) {
      const auto before = Clock::now();
      EXPECT_EQ(sf_reduce(&call, mine.data(), nullptr, &result, used), SF_TRANSPORT_FAILED);
      EXPECT_LT(Clock::now() - before, 10s) << "it should be 0.1";
      EXPECT_STREQ(
          sf_error_text(),
          "the communicator can't be used any more (a call on it was interrupted), use another communicator or team");
    }
    is_asked_to_stop = false;
  }
  sf_set_interrupt(nullptr);
  MPI_Barrier(world.comm);
  EXPECT_TRUE(is(sum(mine, world.comm), expected)) << "on another one";
}

/// A run that fails is not one whose time is over.
TEST_F(TimeoutTest, AFailureIsAnotherOutcome) {
  const std::vector<double> all = all_elements();
  const std::vector<double> mine = mine_of(all);
  Plan<double> plan(subtract, rows, world.comm);
  double result = 0;
  plan.start(std::span(mine).first(world.rank == 0 ? rows - 1 : rows), {&result, 1});
  EXPECT_THROW(
      {
        while (!plan.wait_for(1ms)) {
        }
      },
      Error);
  plan.start(mine, {&result, 1});
  EXPECT_TRUE(plan.wait_for(1h));
  EXPECT_TRUE(is(result, tree_of(all, subtract)));
}

}  // namespace
}  // namespace steadfold::tests

int main(int argc, char** argv) { return steadfold::tests::run_program(argc, argv); }
