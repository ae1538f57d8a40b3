// Calls that are started and ended later, over real ranks: ended in another order on every rank, on several
// communicators, beside plans under way; given up; too many to count. Bits are those of the calls that wait.
#include "steadfold/started.hpp"

#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <optional>
#include <random>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/operators.hpp"
#include "mpi/outcome.hpp"
#include "mpi/ranks.hpp"
#include "mpi/reference.hpp"
#include "support/sanitized.hpp"

namespace steadfold::tests::started_test {
namespace {

using namespace std::chrono_literals;

class StartedTest : public testing::Test {
 protected:
  std::vector<double> elements(std::size_t count) {
    Random random(seed_of("started_test", 31) + world.index());
    return numbers<double>(count, random);
  }
  /// An order of 0 to count-1 that differs from rank to rank.
  std::vector<std::size_t> own_order(std::size_t count) const {
    std::vector<std::size_t> order(count);
    for (std::size_t i = 0; i < count; ++i) order[i] = (i + static_cast<std::size_t>(world.rank)) % count;
    if (world.rank % 2 != 0) std::ranges::reverse(order);
    return order;
  }

  Ranks world;
};

TEST_F(StartedTest, WhatWasMovedFromIsAnError) {
  const std::vector<double> x(3, 1.0);
  auto left = start(plus, x, world.comm);
  auto right = std::move(left);
  EXPECT_EQ(outcome_of([&] { left.test(); }).status, SF_INVALID_ARGUMENT);
  EXPECT_EQ(outcome_of([&] { left.wait(); }).status, SF_INVALID_ARGUMENT);
  EXPECT_EQ(outcome_of([&] { left.get(); }).status, SF_INVALID_ARGUMENT);
  EXPECT_EQ(right.get(), 3.0 * world.size);
}

/// What is asked of a call whose communicator is gone, when it had ended while others were waited for.
TEST_F(StartedTest, OutlivesItsCommunicator) {
  const std::vector<double> x(3, 1.0);
  for (int round = 0; round < (test::sanitized ? 4 : 20); ++round) {
    Ranks own = Ranks::duplicate(world.comm);
    auto first = start(plus, x, own.comm);
    auto second = start(plus, x, own.comm);
    EXPECT_EQ(second.get(), 3.0 * world.size);
    own = Ranks::duplicate(world.comm);  // frees the first
    const std::vector<double> more(40, 0.5);
    EXPECT_EQ(sum(more, own.comm), 20.0 * world.size);
    EXPECT_EQ(first.get(), 3.0 * world.size);
  }
}

TEST_F(StartedTest, EveryKindOfCallHasTheBitsOfTheOneThatWaits) {
  const std::vector<double> x = elements(900 + 11 * world.index());
  const std::vector<double> y(x.size(), 0.3);
  const auto layout = Layout::contiguous(x.size(), world.comm);
  const Options by_tree{.method = tree(), .layout = layout};
  std::vector<double> vector(600, x[0]), scanned = vector, blocks(static_cast<std::size_t>(world.size) * 2, x[1]);
  std::vector<double> due = vector, scan_due = scanned, block(2), block_due(2);
  const std::vector<std::uint64_t> sizes(static_cast<std::size_t>(world.size), 2);

  auto sum_started = start(plus, x, world.comm);
  auto named = start(sf::sum, x, world.comm);
  auto dotted = start(dot, x, y, world.comm);
  auto by_indices = start(subtract, x, world.comm, by_tree);
  auto reduced = start_allreduce(vector, plus, world.comm);
  auto scanning = start_scan(scanned, plus, world.comm);
  auto scattered = start_reduce_scatter(blocks, sizes, block, plus, world.comm);
  auto meeting = start_barrier(world.comm);
  auto where = start_layout(x.size(), world.comm);
  auto planned = start_bind<double>(plus, x.size(), world.comm);
  allreduce(due, plus, world.comm);
  scan(scan_due, plus, world.comm);
  reduce_scatter(blocks, sizes, block_due, plus, world.comm);
  const double expected = sum(x, world.comm);

  meeting.wait();
  EXPECT_TRUE(is(planned.get().run(x), expected));
  EXPECT_TRUE(is(sum(x, world.comm, {.method = tree(), .layout = where.get()}), sum(x, world.comm, by_tree)));
  scattered.wait();
  EXPECT_EQ(block, block_due);
  scanning.wait();
  EXPECT_EQ(scanned, scan_due);
  reduced.wait();
  EXPECT_EQ(vector, due);
  EXPECT_TRUE(is(by_indices.get(), reduce(x, subtract, world.comm, by_tree)));
  EXPECT_TRUE(is(dotted.get(), dot(x, y, world.comm)));
  EXPECT_TRUE(is(named.get(), expected));
  EXPECT_TRUE(is(sum_started.get(), expected));
}

/// Without progress of everything by whoever waits for anything, ranks would wait for each other here.
TEST_F(StartedTest, CallsPlansAndCommunicatorsEndInAnyOrder) {
  const std::vector<double> x = elements(50);
  const Ranks other = Ranks::duplicate();
  Plan<double> first(plus, x.size(), world.comm, {.schedule = "recursive_doubling"});
  Plan<double> second(subtract, x.size(), other.comm, {.schedule = "binary"});
  const double sum_due = first.run(x);
  const double difference_due = second.run(x);
  for (int again = 0; again < 20; ++again) {
    double sum_found = 0;
    double difference_found = 0;
    first.start(x, {&sum_found, 1});
    auto third = start(plus, x, other.comm);
    second.start(x, {&difference_found, 1});
    auto fourth = start(subtract, x, world.comm, {.method = tree()});
    auto fifth = start_barrier(other.comm);
    double third_found = 0;
    for (const std::size_t which : own_order(5)) {
      if (which == 0) first.wait();
      if (which == 1) second.wait();
      if (which == 2) third_found = third.get();
      if (which == 3) fourth.wait();
      if (which == 4) fifth.wait();
    }
    EXPECT_TRUE(is(third_found, sum_due));
    EXPECT_TRUE(is(sum_found, sum_due));
    EXPECT_TRUE(is(difference_found, difference_due));
  }
}

/// What MPI adds up itself keeps the order of the starts among plans, and that of the calls among one-shot calls.
TEST_F(StartedTest, NativeCallsAndPlansTakeTheirTurns) {
  const std::vector<double> x = elements(40);
  for (const Method method : {exact(), binned({.bins = 4, .sweep = SF_DOUBLE_SWEEP})}) {
    const Options by_mpi{.method = method, .schedule = "native"};
    Plan<double> plan(plus, x.size(), world.comm, by_mpi);
    const double due = sum(x, world.comm, {.method = method});
    const double due_second = norm2(x, world.comm, {.method = method});
    for (int again = 0; again < 20; ++again) {
      double found = 0;
      auto first = start(plus, x, world.comm, by_mpi);
      plan.start(x, {&found, 1});
      auto second = start(norm2, x, world.comm, by_mpi);
      if (world.rank % 2 == 0) plan.wait();
      EXPECT_TRUE(is(first.get(), due));
      if (world.rank % 2 != 0) plan.wait();
      EXPECT_TRUE(is(found, due));
      EXPECT_TRUE(is(second.get(), due_second));
    }
  }
}

/// A blocking call between a start and its end moves on what the other ranks wait for.
TEST_F(StartedTest, CallsThatWaitMoveOthersOn) {
  const std::vector<double> x = elements(8);
  Plan<double> plan(plus, x.size(), world.comm);
  const double due = plan.run(x);
  for (int again = 0; again < 20; ++again) {
    double found = 0;
    plan.start(x, {&found, 1});
    auto started = start(max, x, world.comm);
    if (world.rank % 2 == 0) plan.wait();
    EXPECT_TRUE(is(sum(x, world.comm), due));
    if (world.rank % 2 != 0) plan.wait();
    EXPECT_TRUE(is(found, due));
    EXPECT_TRUE(is(started.get(), max(x, world.comm)));
  }
}

TEST_F(StartedTest, TimeoutsAreNoFailures) {
  const std::vector<double> x = elements(3);
  if (world.rank == 0) MPI_Barrier(world.comm);  // until all others have seen a timeout
  auto started = start(plus, x, world.comm);
  auto late = start_barrier(world.comm);
  if (world.rank != 0) {
    EXPECT_FALSE(late.wait_for(1us));
    MPI_Barrier(world.comm);
  }
  while (!late.wait_for(1us)) {
  }
  EXPECT_TRUE(late.wait_for(0s)) << "what has ended stays so";
  EXPECT_TRUE(late.test());
  EXPECT_TRUE(is(started.get(), sum(x, world.comm)));
}

TEST_F(StartedTest, FailOnAllRanks) {
  const std::vector<double> x = elements(4);
  const std::vector<double> shorter(world.rank == 0 ? 3 : 4, 1.0);
  auto misfit = start(dot, x, shorter, world.comm);
  auto throwing =
      start([&](double l, double r) -> double { return world.rank == 0 ? throw Thrown{0} : l + r; }, x, world.comm);
  auto good = start(plus, x, world.comm);
  const Outcome thrown = outcome_of([&] { throwing.wait(); });
  EXPECT_TRUE(world.rank == 0 ? thrown.thrown_on == 0 : thrown.status == SF_OPERATOR_FAILED) << thrown.string();
  const Outcome wrong = outcome_of([&] { misfit.wait(); });
  EXPECT_EQ(wrong.status, SF_INVALID_ARGUMENT);
  EXPECT_NE(wrong.text.find("differ in size"), world.rank == 0 ? std::string::npos : 0) << wrong.text;
  EXPECT_TRUE(is(good.get(), sum(x, world.comm)));
}

/// Nothing ends before rank 0 takes part, so the others' calls are under way when they give the same memory again.
TEST_F(StartedTest, MemoryOfACallUnderWayIsRefused) {
  if (world.size == 1) return;
  std::vector<double> same = elements(4);
  const std::vector<double> other = elements(4);
  VectorPlan<double> plan = Plan<double>::of_vectors(plus, same.size(), world.comm);
  VectorPlan<double> reading = Plan<double>::of_vectors(plus, same.size(), world.comm);
  std::vector<double> apart(4), again(4);
  if (world.rank == 0) MPI_Barrier(world.comm);
  auto first = start_allreduce(same, plus, world.comm);
  auto second = start_allreduce(same, max, world.comm);
  plan.start(same);
  reading.start(other, apart);
  auto third = start(plus, other, world.comm);
  if (world.rank != 0) MPI_Barrier(world.comm);
  const Outcome refused = outcome_of([&] { second.wait(); });
  EXPECT_EQ(refused.status, SF_INVALID_ARGUMENT) << refused.string();
  EXPECT_NE(refused.text.find("another call under way"), std::string::npos) << refused.text;
  const Outcome refused_run = outcome_of([&] { plan.wait(); });
  EXPECT_EQ(refused_run.status, SF_INVALID_ARGUMENT) << refused_run.string();
  EXPECT_NO_THROW(first.wait());
  EXPECT_NO_THROW(reading.wait()) << "two calls may read the same";
  EXPECT_TRUE(is(third.get(), sum(other, world.comm)));
}

/// Resident memory, in KiB.
long resident() {
  std::ifstream file("/proc/self/statm");
  long pages = 0, found = 0;
  file >> pages >> found;
  return found * sysconf(_SC_PAGESIZE) / 1024;
}

/// Many calls at once, ended in random order; as many again need no more memory, nor requests of the MPI library.
TEST_F(StartedTest, ThousandsOverlap) {
  const std::size_t count = world.size > 3 || test::sanitized ? 300 : 2000;
  const std::vector<double> x = elements(5);
  const double due = sum(x, world.comm);
  std::mt19937_64 random(world.index());
  long before = 0;
  for (int round = 0; round < 5; ++round) {
    std::vector<std::optional<Pending<double>>> calls;
    for (std::size_t i = 0; i < count; ++i) calls.emplace_back(start(plus, x, world.comm));
    std::ranges::shuffle(calls, random);
    for (auto& call : calls) {
      if (random() % 3 == 0) call->test();
    }
    for (auto& call : calls) {
      ASSERT_TRUE(is(call->get(), due));
      call.reset();
    }
    if (round == 1) before = resident();
  }
  if (test::sanitized) {
    if (world.rank == 0) std::printf("memory is not measured (a sanitizer keeps what is freed)\n");
    return;
  }
  EXPECT_LT(resident(), before + 4096) << "KiB, of " << 3 * count << " further calls";
}

/// A request that is freed goes on by itself; a communicator may be freed with calls under way.
TEST_F(StartedTest, GivenUpCallsDoNoHarm) {
  const std::vector<double> x = elements(7);
  static std::vector<double> kept;  // calls under way use it for as long as the program runs
  kept = x;
  const double due = sum(x, world.comm);
  for (int again = 0; again < 3; ++again) {
    {
      auto dropped = start(plus, kept, world.comm);
    }
    { auto dropped = start_bind<double>(plus, 3, world.comm); }
    EXPECT_TRUE(is(sum(x, world.comm), due));
  }
  {
    Ranks other = Ranks::duplicate();
    auto started = start(plus, kept, other.comm);
    auto planned = start_bind<double>(plus, kept.size(), other.comm);
    MPI_Barrier(world.comm);
    other.free();
    EXPECT_TRUE(is(started.get(), due)) << "it goes on without the communicator";
    EXPECT_TRUE(is(planned.get().run(kept), due));
  }
  { auto dropped = start_barrier(world.comm); }  // nobody ends it before MPI is finalised
}

/// Ranks that start different things are told so.
TEST_F(StartedTest, DifferentCallsFailOnAllRanks) {
  if (world.size == 1) return;
  const std::vector<double> x = elements(4);
  std::optional<Pending<double>> summing;
  std::optional<Pending<>> meeting;
  if (world.rank == 0)
    meeting.emplace(start_barrier(world.comm));
  else
    summing.emplace(start(plus, x, world.comm));
  const Outcome outcome = outcome_of([&] { world.rank == 0 ? meeting->wait() : summing->wait(); });
  EXPECT_EQ(outcome.status, SF_MISMATCH) << outcome.string();
  EXPECT_NE(outcome.text.find("a barrier against a reduction"), std::string::npos) << outcome.text;
  barrier(world.comm);
}

}  // namespace
}  // namespace steadfold::tests::started_test
