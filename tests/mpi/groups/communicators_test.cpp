// Communicators of every origin: duplicated, split again and again, reordered, merged from two groups, of one rank, of
// no rank; freed while plans live on them; thousands of them in turn. What cannot be used is refused on every rank.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mpi/misuse/misuse.hpp"
#include "mpi/run_ranks.hpp"

namespace steadfold::tests::communicators_test {
namespace {

class CommunicatorsTest : public MisuseTest {
 protected:
  /// Right bits of one-shots and plans, on whatever ranks the communicator has in whatever order.
  void expect_right(MPI_Comm comm, const std::string& what, bool with_plans = true) {
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    std::vector<double> all;
    for (int r = 0; r < size; ++r) all.push_back(0.1 * (r + 1));
    const std::vector<double> mine = {all[static_cast<std::size_t>(rank)]};
    EXPECT_TRUE(is(sum(mine, comm), reference::exact_sum(std::span<const double>(all)))) << what;
    EXPECT_TRUE(is(reduce(mine, subtract, comm), tree_of(all, subtract))) << what;
    if (!with_plans) return;
    EXPECT_TRUE(is(reduce(mine, subtract, comm, {.schedule = "linear"}), tree_of(all, subtract))) << what;
    Plan<double> plan(subtract, 1, comm);
    EXPECT_TRUE(is(plan.run(mine), tree_of(all, subtract))) << what;
  }

  /// This half's side of an intercommunicator of the even and the odd ranks; there must be two.
  MPI_Comm between(const Ranks& half) const {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Intercomm_create(half.comm, 0, MPI_COMM_WORLD, 1 - world.rank % 2, 0, &made);
    return made;
  }
};

TEST_F(CommunicatorsTest, TheOrderOfRanksCounts) {
  const Ranks backwards = Ranks::split(0, -world.rank);
  const std::vector<Hash> mine = {Hash{{world.index() + 1}}};
  const Hash forwards = reduce(mine, mix_hashes, world.comm);
  const Hash found = reduce(mine, mix_hashes, backwards.comm);
  if (world.size > 1) {
    EXPECT_FALSE(same_bits(found, forwards));
  }
  expect_right(backwards.comm, "backwards");
}

TEST_F(CommunicatorsTest, SplitAgainAndAgain) {
  std::vector<MPI_Comm> parts = {world.comm};
  for (int level = 0; level < 4; ++level) {
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(parts.back(), &rank);
    MPI_Comm_size(parts.back(), &size);
    MPI_Comm part = MPI_COMM_NULL;  // unevenly: all but the last in reverse order, the last alone
    MPI_Comm_split(parts.back(), rank == size - 1 ? 1 : 0, -rank, &part);
    parts.push_back(part);
    for (const MPI_Comm each : parts) expect_right(each, "level " + std::to_string(level));
  }
  while (parts.size() > 1) {
    MPI_Comm_free(&parts.back());
    parts.pop_back();
    for (const MPI_Comm each : parts) expect_right(each, "after those below were freed");
  }
}

/// A split leaves out ranks that get MPI_COMM_NULL.
TEST_F(CommunicatorsTest, OfSomeRanksOnly) {
  MPI_Comm some = MPI_COMM_NULL;
  MPI_Comm_split(world.comm, world.rank % 2 == 0 ? 0 : MPI_UNDEFINED, world.rank, &some);
  if (some != MPI_COMM_NULL) {
    expect_right(some, "even ranks");
    MPI_Comm_free(&some);
  } else {
    const Outcome outcome = outcome_of([&] { sum(x, some); });
    EXPECT_EQ(outcome.status, SF_INVALID_ARGUMENT);
    expect_text(outcome.text, {"MPI_COMM_NULL", "members"}, "a rank left out");
  }
  expect_usable("a split");
}

TEST_F(CommunicatorsTest, EveryFunctionRefusesNone) {
  double result = 0;
  sf_interval mine{};
  std::uint64_t count = 0;
  sf_plan* plan = nullptr;
  const sf_call call = call_of_rows(1);
  EXPECT_EQ(sf_reduce(&call, x.data(), nullptr, &result, MPI_COMM_NULL), SF_INVALID_ARGUMENT);
  EXPECT_EQ(sf_plan_bind(&call, MPI_COMM_NULL, &plan), SF_INVALID_ARGUMENT);
  EXPECT_EQ(sf_rank_order(1, MPI_COMM_NULL, &mine, &count), SF_INVALID_ARGUMENT);
  EXPECT_EQ(plan, nullptr);
}

TEST_F(CommunicatorsTest, OfOneRank) {
  for (int repetition = 0; repetition < 3; ++repetition) {
    expect_right(MPI_COMM_SELF, "MPI_COMM_SELF");
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_SELF, &copy);
    expect_right(copy, "a duplicate of MPI_COMM_SELF");
    MPI_Comm_free(&copy);
  }
}

// --- two groups ------------------------------------------------------------------------------------------------------

TEST_F(CommunicatorsTest, TwoGroupsAreRefusedOnBothSides) {
  if (world.size == 1) return;
  const Ranks half = Ranks::split(world.rank % 2, world.rank);
  MPI_Comm inter = between(half);
  sf_interval mine{};
  std::uint64_t count = 0;
  sf_plan* plan = nullptr;
  double result = 0;
  const sf_call call = call_of_rows(5);
  const Words words = {"intercommunicator", "MPI_Intercomm_merge"};
  expect_status(SF_INVALID_ARGUMENT, words, "one-shot",
                [&] { return sf_reduce(&call, x.data(), nullptr, &result, inter); });
  expect_status(SF_INVALID_ARGUMENT, words, "bind", [&] { return sf_plan_bind(&call, inter, &plan); });
  expect_status(SF_INVALID_ARGUMENT, words, "rank order", [&] { return sf_rank_order(5, inter, &mine, &count); });
  for (const int side : {0, 1}) {  // only one side tries; the other must not be needed
    if (world.rank % 2 != side) continue;
    EXPECT_EQ(sf_reduce(&call, x.data(), nullptr, &result, inter), SF_INVALID_ARGUMENT);
  }
  MPI_Comm_free(&inter);
  expect_usable("an intercommunicator");
}

TEST_F(CommunicatorsTest, TwoGroupsMergedWork) {
  if (world.size == 1) return;
  const Ranks half = Ranks::split(world.rank % 2, world.rank);
  for (const int high : {0, 1}) {
    MPI_Comm inter = between(half);
    MPI_Comm both = MPI_COMM_NULL;
    MPI_Intercomm_merge(inter, (world.rank + high) % 2, &both);
    expect_right(both, "merged");
    MPI_Comm_free(&inter);
    expect_right(both, "merged, the intercommunicator freed");
    MPI_Comm_free(&both);
  }
}

// --- lives -----------------------------------------------------------------------------------------------------------

/// Nothing of the first goes over: neither its plans nor what it was told to do.
TEST_F(CommunicatorsTest, DuplicatesStartAfresh) {
  Ranks first = Ranks::duplicate();
  Plan<double> plan(plus, 5, first.comm);
  for (const char* schedule : {"", "linear", "binomial"}) sum(x, first.comm, {.schedule = schedule});
  Ranks second;
  {
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(first.comm, &copy);
    for (const int odd : astray())  // a cached plan of the first would answer without asking the others
      EXPECT_EQ(outcome_of([&] { sum(x, copy, {.schedule = is_astray(odd) ? "linear" : "binomial"}); }).status,
                SF_MISMATCH);
    first.free();
    expect_right(copy, "a duplicate whose origin was freed");
    const std::vector<double> all(5 * world.count(), 0.1);
    EXPECT_TRUE(is(plan.run(x), reference::exact_sum(std::span<const double>(all)))) << "the plan lives on";
    MPI_Comm_free(&copy);
  }
  expect_usable("duplicates");
}

/// Plans live on after their communicator: run, under way, bound before and after others.
TEST_F(CommunicatorsTest, FreedWhilePlansLive) {
  const std::vector<double> all(5 * world.count(), 0.1);
  const double wanted = reference::exact_sum(std::span<const double>(all));
  std::vector<std::unique_ptr<Plan<double>>> plans;
  for (int round = 0; round < (thorough(world) ? 20 : 6); ++round) {
    Ranks copy = Ranks::duplicate();
    for (int i = 0; i < 3; ++i) plans.push_back(std::make_unique<Plan<double>>(plus, 5, copy.comm));
    sum(x, copy.comm, {.schedule = "linear"});
    double result = 0;
    plans.back()->start(x, {&result, 1});
    copy.free();
    plans.back()->wait();
    EXPECT_TRUE(is(result, wanted)) << "under way while its communicator was freed";
  }
  for (const auto& plan : plans) EXPECT_TRUE(is(plan->run(x), wanted));
  Random random(world.index());  // every rank lets them go in an order of its own
  while (!plans.empty()) plans.erase(plans.begin() + static_cast<std::ptrdiff_t>(draw(random, plans.size())));
  expect_usable("plans without a communicator");
}

/// More than an MPI library has at a time: MPICH has some 2000, while Open MPI does not run out within a test. None may
/// stay behind. Many ranks show no more than a few.
TEST_F(CommunicatorsTest, ThousandsComeAndGo) {
#ifdef MPICH_VERSION
  const int cycles = thorough(world) ? 2200 : 60;
#else
  const int cycles = full() ? 2200 : thorough(world) ? 200 : 60;
#endif
  for (int cycle = 0; cycle < cycles; ++cycle) {
    Watchdog::note("cycle " + std::to_string(cycle));
    Ranks copy = Ranks::duplicate();
    const bool with_plan = cycle % 3 == 0;
    std::unique_ptr<Plan<double>> plan;
    if (with_plan) plan = std::make_unique<Plan<double>>(plus, 5, copy.comm);
    if (cycle % 50 == 0)
      expect_right(copy.comm, "cycle " + std::to_string(cycle));
    else
      EXPECT_FALSE(outcome_of([&] { sum(x, copy.comm); }).failed()) << "cycle " << cycle;
    copy.free();
    if (with_plan) {
      EXPECT_FALSE(outcome_of([&] { plan->run(x); }).failed()) << "cycle " << cycle;
    }
  }
}

}  // namespace
}  // namespace steadfold::tests::communicators_test
