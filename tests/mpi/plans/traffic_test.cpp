// What plans send, counted in the calls that reach MPI, against their own figures and the algorithms' formulas.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "mpi/operators.hpp"
#include "mpi/ranks.hpp"
#include "mpi/run_ranks.hpp"

namespace {
std::uint64_t sends_seen = 0;
std::uint64_t bytes_seen = 0;
}  // namespace

/// Stands before the MPI library's own: every message that the library under test sends comes by here.
extern "C" int PMPI_Isend(const void* data, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm,
                          MPI_Request* request) {
  using Function = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "PMPI_Isend"));
  int size = 0;
  MPI_Type_size(type, &size);
  sends_seen += 1;
  bytes_seen += static_cast<std::uint64_t>(size) * static_cast<std::uint64_t>(count);
  return real(data, count, type, target, tag, comm, request);
}

namespace steadfold::tests {
namespace {

class TrafficTest : public testing::Test {
 protected:
  Ranks world;
  Random random{seed_of("traffic_test", 99109)};
};

std::uint64_t total(const Ranks& ranks, std::uint64_t own) {
  std::uint64_t sum = 0;
  MPI_Allreduce(&own, &sum, 1, MPI_UINT64_T, MPI_SUM, ranks.comm);
  return sum;
}

std::uint32_t most(const Ranks& ranks, std::uint32_t own) {
  std::uint32_t largest = 0;
  MPI_Allreduce(&own, &largest, 1, MPI_UINT32_T, MPI_MAX, ranks.comm);
  return largest;
}

struct Sent {
  std::uint64_t messages;  // of all ranks, as MPI saw them
  std::uint64_t bytes;
  std::uint64_t figured_messages;  // as the plans say
  std::uint64_t figured_bytes;
  std::uint32_t rounds;  // of the rank that was done last
};

/// Runs once untraced, for the messages, and once traced, for the rounds.
template <class T>
Sent sent_by(const Ranks& ranks, Plan<T>& plan, const std::vector<T>& mine) {
  plan.run(mine);  // the first run may differ from later ones
  const std::uint64_t sends_before = sends_seen;
  const std::uint64_t bytes_before = bytes_seen;
  plan.run(mine);
  const sf_figures figures = plan.figures();
  EXPECT_EQ(figures.rounds, 0u) << "not traced";
  Sent sent{total(ranks, sends_seen - sends_before), total(ranks, bytes_seen - bytes_before),
            total(ranks, figures.messages), total(ranks, figures.bytes), 0};
  plan.trace(true);
  plan.run(mine);
  sent.rounds = most(ranks, plan.figures().rounds);
  plan.trace(false);
  return sent;
}

std::uint32_t ceil_log2(std::size_t x) {
  std::uint32_t levels = 0;
  while ((std::size_t{1} << levels) < x) ++levels;
  return levels;
}

/// Binds and runs on `ranks` with n elements in rank order.
Sent sent_for(const Ranks& ranks, std::size_t n, Options options) {
  Random part_random(n + ranks.count());
  const Ownership ownership = in_rank_order(random_counts(n, ranks.count(), part_random));
  const std::vector<double> mine = pick(elements<double>(n, part_random), ownership[ranks.index()]);
  options.layout = layout_on(ranks, ownership);
  Plan<double> plan(plus, mine.size(), ranks.comm, options);
  const Sent sent = sent_by(ranks, plan, mine);
  EXPECT_EQ(sent.messages, sent.figured_messages) << text_of(options);
  EXPECT_EQ(sent.bytes, sent.figured_bytes) << text_of(options);
  EXPECT_TRUE(ranks.size == 1 || sent.bytes > 0) << text_of(options);
  return sent;
}

TEST_F(TrafficTest, BinomialReduceSendsOneMessageARankButTheRoot) {
  const std::uint64_t p = world.count();
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, world.count(), std::size_t{10000}}) {
    for (const Method method : {tree(), exact()}) {
      for (int root = 0; root < world.size; ++root) {
        const Sent sent = sent_for(world, n, {.method = method, .root = root, .schedule = "binomial"});
        EXPECT_EQ(sent.messages, p - 1) << n << " elements to " << root;
        EXPECT_EQ(sent.rounds, ceil_log2(world.count())) << n << " elements to " << root;
      }
    }
  }
}

TEST_F(TrafficTest, RecursiveDoublingTakesLogarithmicallyManyRounds) {
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{1000}}) {
    for (int ranks = 1; ranks <= world.size; ++ranks) {
      const Ranks part = Ranks::split(world.rank < ranks ? 0 : 1, world.rank);
      const Sent sent = sent_for(part, n, {.method = tree(), .schedule = "recursive_doubling"});
      const bool power_of_two = std::has_single_bit(part.count());
      EXPECT_EQ(sent.rounds, ceil_log2(part.count()) + (power_of_two ? 0 : 1)) << part.size << " ranks";
    }
  }
}

TEST_F(TrafficTest, TreesOfMessagesGoUpAndDown) {
  const std::uint64_t p = world.count();
  for (const char* schedule : {"flat", "linear", "binomial"}) {
    const Sent all = sent_for(world, 100, {.method = tree(), .schedule = schedule});
    EXPECT_EQ(all.messages, 2 * (p - 1)) << schedule;
    const Sent rooted = sent_for(world, 100, {.method = tree(), .root = world.size - 1, .schedule = schedule});
    EXPECT_EQ(rooted.messages, p - 1) << schedule;
  }
}

TEST_F(TrafficTest, NativeSendsNothingItself) {
  EXPECT_EQ(total(world, 0), 0u);
  const Ownership ownership = in_rank_order(random_counts(50, world.count(), random));
  const std::vector<double> mine = pick(elements<double>(50, random), ownership[world.index()]);
  Plan<double> plan(plus, mine.size(), world.comm, {.schedule = "native"});
  const Sent sent = sent_by(world, plan, mine);
  EXPECT_EQ(sent.messages, 0u);
  EXPECT_EQ(sent.messages, sent.figured_messages);
}

/// An operator that may throw is asked about in a second exchange, which figures() counts too.
TEST_F(TrafficTest, FiguresCountTheVerdictOnOperators) {
  const std::vector<double> mine = {1.0 + world.rank};
  Plan<double> noexcept_plan(subtract, 1, world.comm, {.schedule = "binomial"});
  const Sent sure = sent_by(world, noexcept_plan, mine);
  EXPECT_EQ(sure.messages, 2 * (world.count() - 1));
  EXPECT_EQ(sure.figured_messages, sure.messages);
  const auto may_throw = [](double a, double b) { return a - b; };
  Plan<double> plan(may_throw, 1, world.comm, {.schedule = "binomial"});
  const Sent sent = sent_by(world, plan, mine);
  EXPECT_GE(sent.messages, sure.messages);
  EXPECT_EQ(sent.figured_messages, sent.messages);
  EXPECT_EQ(sent.figured_bytes, sent.bytes);
}

}  // namespace
}  // namespace steadfold::tests

int main(int argc, char** argv) {
  setenv("STEADFOLD_TRANSPORT", "mpi", 1);  // what is counted are the library's messages
  return steadfold::tests::run_program(argc, argv);
}
