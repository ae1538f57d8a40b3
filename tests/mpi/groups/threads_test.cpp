// Threads: plans run at once on one communicator and on several, one-shots on communicators of their own, first uses
// that race, and what two threads may not share, which is refused while the first goes on unharmed.
#include <gtest/gtest.h>
#include <mpi.h>

#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/operators.hpp"
#include "mpi/outcome.hpp"
#include "mpi/ranks.hpp"
#include "mpi/reference.hpp"
#include "mpi/run_ranks.hpp"

namespace steadfold::tests {
namespace {

constexpr std::size_t thread_count = 4;
constexpr std::size_t rows = 37;  // of a rank

/// What this rank brings to run `run` of thread `thread`, and what all ranks' rows come to.
struct Round {
  std::vector<double> all, mine;
  double exactly, by_tree;
};

Round round_of(const Ranks& ranks, std::size_t thread, int run) {
  Random random(1000 * thread + static_cast<std::size_t>(run));
  Round round;
  round.all = numbers<double>(rows * ranks.count(), random);
  const auto begin = round.all.begin() + static_cast<std::ptrdiff_t>(rows * ranks.index());
  round.mine.assign(begin, begin + rows);
  round.exactly = reference::exact_sum(std::span<const double>(round.all));
  round.by_tree = tree_of(round.all, subtract);
  return round;
}

/// Runs `body(thread)` on so many threads at once; it returns what went wrong.
void at_once(std::size_t threads, const std::function<std::string(std::size_t)>& body) {
  std::vector<std::string> faults(threads);
  std::barrier start(static_cast<std::ptrdiff_t>(threads));
  std::vector<std::thread> running;
  for (std::size_t t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      start.arrive_and_wait();
      try {
        faults[t] = body(t);
      } catch (const std::exception& error) {
        faults[t] = error.what();
      }
    });
  for (std::thread& thread : running) thread.join();
  for (std::size_t t = 0; t < threads; ++t) EXPECT_EQ(faults[t], "") << "thread " << t;
}

std::string fault_of(double found, double wanted, int run) {
  return same_bits(found, wanted) ? "" : "run " + std::to_string(run) + ": " + hex(found) + " for " + hex(wanted);
}

class ThreadsTest : public testing::Test {
 protected:
  void SetUp() override {
    int provided = MPI_THREAD_SINGLE;
    MPI_Query_thread(&provided);
    if (provided != MPI_THREAD_MULTIPLE) GTEST_SKIP() << "the MPI library does not provide MPI_THREAD_MULTIPLE";
  }

  Ranks world;
  const int runs = full() ? 3000 : 100;
  std::vector<Ranks> duplicates() const {
    std::vector<Ranks> made;
    for (std::size_t t = 0; t < thread_count; ++t) made.push_back(Ranks::duplicate());
    return made;
  }
};

TEST_F(ThreadsTest, TheDataTellRunsAndOrdersApart) {
  int differ = 0;
  for (int run = 0; run < 20; ++run) {
    const Round round = round_of(world, 1, run);
    double left_to_right = 0;
    for (const double x : round.all) left_to_right += x;
    differ += same_bits(left_to_right, round.exactly) ? 0 : 1;
    EXPECT_FALSE(same_bits(round.exactly, round_of(world, 1, run + 1).exactly));
    EXPECT_FALSE(same_bits(round.exactly, round_of(world, 2, run).exactly));
  }
  EXPECT_GE(differ, 5) << "of 20 naive sums";
}

// --- what may run at once --------------------------------------------------------------------------------------------

/// A plan for each thread, another schedule for each.
struct PlanOfThread {
  std::unique_ptr<Plan<double>> plan;
  bool exactly;
};

PlanOfThread plan_of(std::size_t thread, MPI_Comm comm) {
  const Options options{.schedule = std::vector<std::string>{"", "linear", "binomial", "flat"}[thread % 4]};
  const bool exactly = thread % 2 == 0;
  return {exactly ? std::make_unique<Plan<double>>(plus, rows, comm, options)
                  : std::make_unique<Plan<double>>(subtract, rows, comm, options),
          exactly};
}

std::string run_often(const Ranks& ranks, std::size_t thread, PlanOfThread& own, int runs) {
  for (int run = 0; run < runs; ++run) {
    const Round round = round_of(ranks, thread, run);
    double result = 0;
    if (run % 2 == 0) {
      result = own.plan->run(round.mine);
    } else {
      own.plan->start(round.mine, {&result, 1});
      while (!own.plan->test()) {
      }
    }
    const std::string fault = fault_of(result, own.exactly ? round.exactly : round.by_tree, run);
    if (!fault.empty()) return fault;
  }
  return "";
}

TEST_F(ThreadsTest, PlansOfOneCommunicator) {
  std::vector<PlanOfThread> plans;
  for (std::size_t t = 0; t < thread_count; ++t) plans.push_back(plan_of(t, world.comm));
  at_once(thread_count, [&](std::size_t t) { return run_often(world, t, plans[t], runs); });
}

TEST_F(ThreadsTest, PlansOfSeveralCommunicators) {
  const std::vector<Ranks> copies = duplicates();
  std::vector<PlanOfThread> plans;
  for (std::size_t t = 0; t < thread_count; ++t) plans.push_back(plan_of(t, copies[t].comm));
  at_once(thread_count, [&](std::size_t t) { return run_often(copies[t], t, plans[t], runs); });
}

/// The communicator's own thread goes on with one-shots and binds meanwhile.
TEST_F(ThreadsTest, OneShotsAndBindsBesidePlans) {
  std::vector<PlanOfThread> plans;
  for (std::size_t t = 0; t < thread_count; ++t) plans.push_back(plan_of(t, world.comm));
  at_once(thread_count, [&](std::size_t t) -> std::string {
    if (t > 0) return run_often(world, t, plans[t], runs);
    for (int run = 0; run < runs / 4; ++run) {
      const Round round = round_of(world, t, run);
      std::string fault = fault_of(sum(round.mine, world.comm), round.exactly, run);
      if (fault.empty()) fault = fault_of(plan_of(1, world.comm).plan->run(round.mine), round.by_tree, run);
      if (!fault.empty()) return fault;
    }
    return "";
  });
}

TEST_F(ThreadsTest, OneShotsAndBindsOfSeveralCommunicators) {
  const std::vector<Ranks> copies = duplicates();
  at_once(thread_count, [&](std::size_t t) -> std::string {
    const MPI_Comm comm = copies[t].comm;
    for (int run = 0; run < runs / 4; ++run) {
      const Round round = round_of(world, t, run);
      for (const char* schedule : {"", "linear"}) {
        std::string fault = fault_of(sum(round.mine, comm, {.schedule = schedule}), round.exactly, run);
        if (fault.empty())
          fault = fault_of(reduce(round.mine, subtract, comm, {.schedule = schedule}), round.by_tree, run);
        if (!fault.empty()) return fault;
      }
      PlanOfThread bound = plan_of(t + static_cast<std::size_t>(run), comm);
      const std::string fault =
          fault_of(bound.plan->run(round.mine), bound.exactly ? round.exactly : round.by_tree, run);
      if (!fault.empty()) return fault;
    }
    return "";
  });
}

TEST_F(ThreadsTest, WrongCallsOnOneCommunicatorLeaveTheOthersAlone) {
  const std::vector<Ranks> copies = duplicates();
  at_once(thread_count, [&](std::size_t t) -> std::string {
    for (int run = 0; run < runs / 4; ++run) {
      const Round round = round_of(world, t, run);
      if (t % 2 == 0) {
        const Options wrong{.method = world.rank == 0 ? exact() : tree(), .root = world.size};
        const Outcome outcome = outcome_of([&] { sum(round.mine, copies[t].comm, wrong); });
        if (outcome.status != SF_INVALID_ARGUMENT) return outcome.string();
        if (outcome.text.find("root " + std::to_string(world.size)) == std::string::npos) return outcome.text;
      }
      const std::string fault = fault_of(sum(round.mine, copies[t].comm), round.exactly, run);
      if (!fault.empty()) return fault;
    }
    return "";
  });
}

/// Each thread is the first to use a communicator, and frees another.
TEST_F(ThreadsTest, FirstUsesOfSeveralCommunicators) {
  for (int round = 0; round < (full() ? 200 : 10); ++round) {
    std::vector<Ranks> copies = duplicates();
    at_once(thread_count, [&](std::size_t t) {
      const Round data = round_of(world, t, round);
      return fault_of(sum(data.mine, copies[t].comm), data.exactly, round);
    });
  }
}

/// A run may be handed from thread to thread, one after the other.
TEST_F(ThreadsTest, APlanStartedHereAndAwaitedThere) {
  PlanOfThread own = plan_of(0, world.comm);
  for (int run = 0; run < 20; ++run) {
    const Round round = round_of(world, 0, run);
    double result = 0;
    own.plan->start(round.mine, {&result, 1});
    std::thread([&] { own.plan->wait(); }).join();
    EXPECT_TRUE(is(result, round.exactly));
  }
}

// --- what may not ----------------------------------------------------------------------------------------------------

/// A plan whose first run stops in its operator until it is let go.
class StoppedRun {
 public:
  explicit StoppedRun(const Ranks& ranks) : round_(round_of(ranks, 0, 0)) {
    sf_call call = sf_call_default();
    call.operation = SF_USER;
    call.type = call.result_type = SF_BYTES;
    call.element_bytes = sizeof(double);
    call.user = wait_and_subtract;
    call.context = this;
    call.never_fails = 1;
    call.rows = rows;
    EXPECT_EQ(sf_plan_bind(&call, ranks.comm, &plan), SF_OK) << sf_error_text();
    running_ = std::thread([this] { status = sf_plan_run(plan, round_.mine.data(), nullptr, &result); });
    while (!stopped_) std::this_thread::yield();
  }
  void let_go() {
    may_go_ = true;
    running_.join();
  }
  const Round& round() const { return round_; }

  sf_plan* plan = nullptr;
  sf_status status = SF_INTERNAL;
  double result = 0;

 private:
  static int wait_and_subtract(const void* left, const void* right, void* result, std::size_t count, void* context) {
    auto& self = *static_cast<StoppedRun*>(context);
    self.stopped_ = true;
    while (!self.may_go_) std::this_thread::yield();
    const auto* a = static_cast<const double*>(left);
    const auto* b = static_cast<const double*>(right);
    for (std::size_t i = 0; i < count; ++i) static_cast<double*>(result)[i] = a[i] - b[i];
    return 0;
  }

  Round round_;
  std::atomic<bool> stopped_ = false;
  std::atomic<bool> may_go_ = false;
  std::thread running_;
};

TEST_F(ThreadsTest, ASecondThreadOnAPlanIsRefused) {
  StoppedRun first(world);
  const std::vector<double> other(rows, 1.0);
  double nothing = 7;
  int done = 7;
  sf_figures figures{};
  const std::function<sf_status()> calls[] = {
      [&] { return sf_plan_run(first.plan, other.data(), nullptr, &nothing); },
      [&] { return sf_plan_start(first.plan, other.data(), nullptr, &nothing); },
      [&] { return sf_plan_test(first.plan, &done); },
      [&] { return sf_plan_wait(first.plan); },
      [&] { return sf_plan_trace(first.plan, 1); },
      [&] { return sf_plan_figures(first.plan, &figures); }};
  for (const auto& call : calls) {
    EXPECT_EQ(call(), SF_INVALID_ARGUMENT);
    const std::string text = sf_error_text();
    EXPECT_NE(text.find("the plan is in use by another thread ("), std::string::npos) << text;
    EXPECT_NE(text.find("), give every thread its own plan"), std::string::npos) << text;
  }
  sf_plan_free(first.plan);  // stays: it is in use
  EXPECT_NE(std::string(sf_plan_describe(first.plan)), "") << "what does not change may be read";
  first.let_go();
  EXPECT_EQ(first.status, SF_OK);
  EXPECT_TRUE(is(first.result, first.round().by_tree));
  EXPECT_TRUE(is(nothing, 7.0));
  EXPECT_EQ(done, 7);
  EXPECT_EQ(sf_plan_run(first.plan, first.round().mine.data(), nullptr, &nothing), SF_OK) << sf_error_text();
  EXPECT_TRUE(is(nothing, first.round().by_tree));
  sf_plan_free(first.plan);
}

/// Refused or right, whoever comes when. On one rank: elsewhere others would miss the runs that are refused here.
TEST_F(ThreadsTest, ThreadsThatRaceForAPlan) {
  const Ranks alone = Ranks::split(world.rank, 0);
  PlanOfThread shared = plan_of(1, alone.comm);
  std::atomic<int> right = 0;
  at_once(thread_count, [&](std::size_t t) -> std::string {
    for (int run = 0; run < (world.size == 1 ? 1000 : 200); ++run) {
      const Round round = round_of(alone, t, run);
      double result = 0;
      const Outcome outcome = outcome_of([&] { result = shared.plan->run(round.mine); });
      if (outcome.failed() && outcome.text.find("in use by another thread") == std::string::npos) return outcome.text;
      if (outcome.failed()) continue;
      ++right;
      const std::string fault = fault_of(result, round.by_tree, run);
      if (!fault.empty()) return fault;
    }
    return "";
  });
  EXPECT_GT(right.load(), 0);
}

TEST_F(ThreadsTest, ThreadsThatRaceForACommunicator) {
  for (int repetition = 0; repetition < (world.size == 1 ? 20 : 5); ++repetition) {
    const Ranks alone = Ranks::split(world.rank, 0);  // its first use is raced for, too
    std::atomic<int> right = 0;
    at_once(thread_count, [&](std::size_t t) -> std::string {
      for (int run = 0; run < 50; ++run) {
        const Round round = round_of(alone, t, run);
        double result = 0;
        const Outcome outcome = outcome_of([&] { result = sum(round.mine, alone.comm); });
        if (outcome.failed() && outcome.text.find("in use by another thread") == std::string::npos) return outcome.text;
        if (outcome.failed()) continue;
        ++right;
        const std::string fault = fault_of(result, round.exactly, run);
        if (!fault.empty()) return fault;
      }
      return "";
    });
    EXPECT_GT(right.load(), 0);
  }
}

}  // namespace
}  // namespace steadfold::tests

int main(int argc, char** argv) {
  if (steadfold::tests::only_lists(argc, argv)) return 0;
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  const int failed = steadfold::tests::run_all(argc, argv);
  MPI_Finalize();
  return failed;
}
