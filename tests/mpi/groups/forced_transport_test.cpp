// Transports asked for by the environment: rank 0's counts, results have the same bits, and what is not known is an
// error on every rank.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/operators.hpp"
#include "mpi/outcome.hpp"
#include "mpi/ranks.hpp"
#include "steadfold/team.hpp"
#include "support/sanitized.hpp"

namespace steadfold::tests::forced_transport_test {
namespace {

/// Sets the variable on one rank or on all, for as long as it lives; then it is what it was.
class Asked {
 public:
  Asked(const char* transport, bool here) {
    if (const char* const before = std::getenv(name)) before_ = before;
    if (here) setenv(name, transport, 1);
  }
  ~Asked() { setenv(name, before_.c_str(), 1); }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;

 private:
  static constexpr const char* name = "STEADFOLD_TRANSPORT";
  std::string before_;
};

class ForcedTransportTest : public testing::Test {
 protected:
  Ranks world;
};

TEST_F(ForcedTransportTest, TheEnvironmentAsksForTheTransport) {
  for (const std::string transport : {"mpi", "shared", "rma", "rma:loads", "auto", ""}) {
    if (transport == "shared" && world.size == 1) continue;  // refused: see below
    for (const bool on_all : {true, false}) {                // rank 0's counts for all
      const Asked asked(transport.c_str(), on_all || world.rank == 0);
      const Ranks copy = Ranks::duplicate();
      const std::vector<double> mine = {static_cast<double>(1 + copy.rank)};
      const double expected = copy.size * (copy.size + 1) / 2.0;
      Plan<double> plan(plus, 1, copy.comm);
      std::string taken = "mpi";
      if (transport.starts_with("rma")) taken = "rma";
      if (world.size > 1 && (transport == "shared" || transport == "auto" || transport.empty())) taken = "shared";
      EXPECT_NE(plan.describe().find("transport " + taken + "\n"), std::string::npos) << plan.describe();
      sf_group* group = nullptr;
      ASSERT_EQ(sf_group_of(copy.comm, &group), SF_OK);
      EXPECT_EQ(sf_group_transport(group), taken);
      const Team team(copy.comm, 1);
      const bool sends_letters = copy.size == 1 || taken == "shared";  // windows are not for teams
      EXPECT_STREQ(team[0].group().transport(), sends_letters ? "shared" : "shared+mpi");
      EXPECT_TRUE(is(sum(mine, team[0]), expected)) << transport;
      for (int round = 0; round < (test::sanitized ? 4 : 20); ++round) {
        EXPECT_TRUE(is(plan.run(mine), expected)) << transport;
        EXPECT_TRUE(is(sum(mine, copy.comm), expected)) << transport;
      }
    }
  }
}

bool windows_are_named_by_number() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  return std::string_view(text).starts_with("Open MPI v4.") && std::getenv("OMPI_MCA_osc") == nullptr;
}

/// Open MPI 4.1 gives windows that two parts of a job make at once the same memory, now and then. Messages were lost
/// so, and ranks waited for ever.
TEST_F(ForcedTransportTest, PartsOfAJobDoNotShareAWindow) {
  for (int round = 0; round < 20; ++round) {
    const Asked asked("rma", true);
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(world.comm, world.rank % 2, world.rank, &half);
    int size = 0;
    MPI_Comm_size(half, &size);
    double found = 0;
    const Outcome outcome = outcome_of([&] { found = sum(std::vector<double>{1.0 + world.rank % 2}, half); });
    if (windows_are_named_by_number() && size > 1 && size < world.size) {
      EXPECT_EQ(outcome.status, SF_INVALID_ARGUMENT);
      EXPECT_EQ(outcome.text,
                "transport rma cannot be used (Open MPI before 5.0 may give the windows of two parts of a job the same "
                "memory), set "
                "OMPI_MCA_osc=^rdma, or STEADFOLD_TRANSPORT=mpi");
    } else {
      EXPECT_TRUE(is(found, size * (1.0 + world.rank % 2))) << outcome.text;
    }
    MPI_Comm_free(&half);
    int has_failed = HasFailure() ? 1 : 0;  // then later rounds may wait for ever
    MPI_Allreduce(MPI_IN_PLACE, &has_failed, 1, MPI_INT, MPI_MAX, world.comm);
    if (has_failed != 0) return;
  }
}

/// Plans may outlive the communicator, and are freed on different ranks at different times.
TEST_F(ForcedTransportTest, PlansOutliveTheirMemorysGroup) {
  for (const char* transport : {"rma", "auto"}) {
    const Asked asked(transport, true);
    std::vector<Plan<double>> plans;
    for (int i = 0; i < 3; ++i) {
      const Ranks copy = Ranks::duplicate();
      plans.emplace_back(plus, 1, copy.comm);
    }
    if (world.rank == 0) plans.pop_back();
    const std::vector<double> mine = {1.0};
    for (int i = 0; i < 2; ++i)
      EXPECT_TRUE(is(plans[static_cast<std::size_t>(i)].run(mine), static_cast<double>(world.size)));
  }
}

/// Plans that live when MPI ends are freed after that.
TEST_F(ForcedTransportTest, PlansMayLiveUntilMpiEnds) {
  static std::vector<Plan<double>> left;
  const Asked asked("auto", true);
  left.emplace_back(plus, 1, MPI_COMM_WORLD);
  EXPECT_TRUE(is(left.back().run(std::vector<double>{1.0}), static_cast<double>(world.size)));
}

/// More plans than there is shared memory for: the last of them send messages.
TEST_F(ForcedTransportTest, MemoryThatIsFullIsNoError) {
  const Asked asked("auto", true);
  const Ranks copy = Ranks::duplicate();
  std::vector<VectorPlan<double>> plans;
  const std::vector<double> mine(20000, 1.0);
  std::vector<double> sums(mine.size());
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 60; ++i) plans.push_back(Plan<double>::of_vectors(plus, mine.size(), copy.comm));
    if (world.size > 1) {
      EXPECT_NE(plans.front().describe().find("together"), std::string::npos);
      EXPECT_EQ(plans.back().describe().find("together"), std::string::npos) << "there is room for all of them";
    }
    for (VectorPlan<double>& plan : plans) {
      plan.run(std::span<const double>(mine), std::span<double>(sums));
      for (const double each : sums) EXPECT_TRUE(is(each, static_cast<double>(world.size)));
    }
    plans.clear();  // the next round has their room
  }
}

TEST_F(ForcedTransportTest, MemoryOfOneRankIsNotShared) {
  const Asked asked("shared", true);
  MPI_Comm alone = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &alone);
  const std::vector<double> mine = {1.0};
  const Outcome outcome = outcome_of([&] { sum(mine, alone); });
  EXPECT_EQ(outcome.status, SF_INVALID_ARGUMENT) << outcome.text;
  EXPECT_EQ(outcome.text, "transport shared cannot be used (there is only one rank), set STEADFOLD_TRANSPORT=mpi");
  MPI_Comm_free(&alone);
}

TEST_F(ForcedTransportTest, AnUnknownTransportIsAnErrorOnEveryRank) {
  const Asked asked("carrier_pigeon", world.rank == 0);
  const Ranks copy = Ranks::duplicate();
  const std::vector<double> mine = {1.0};
  for (int round = 0; round < 3; ++round) {
    const Outcome outcome = outcome_of([&] { sum(mine, copy.comm); });
    EXPECT_EQ(outcome.status, SF_INVALID_ARGUMENT) << outcome.text;
    EXPECT_EQ(outcome.text,
              "unknown transport 'carrier_pigeon' (STEADFOLD_TRANSPORT of rank 0 names it), set it to auto, mpi, "
              "shared, rma or rma:loads");
    if (copy.size == 1) continue;  // such a team sends nothing
    const Outcome of_team = outcome_of([&] { const Team team(copy.comm, 2); });
    EXPECT_EQ(of_team.text, "rank 0: " + outcome.text);
  }
}

}  // namespace
}  // namespace steadfold::tests::forced_transport_test
