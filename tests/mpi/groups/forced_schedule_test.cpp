// Schedules forced by the environment: rank 0's counts, for calls that ask for none, and what cannot be used is an
// error on every rank.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/operators.hpp"
#include "mpi/outcome.hpp"
#include "mpi/ranks.hpp"

namespace steadfold::tests::forced_schedule_test {
namespace {

class ForcedScheduleTest : public testing::Test {
 protected:
  Ranks world;
};

/// Sets the variable on one rank or on all, for as long as it lives.
class Forced {
 public:
  Forced(const char* schedule, bool here) {
    if (here) setenv("STEADFOLD_SCHEDULE", schedule, 1);
  }
  ~Forced() { unsetenv("STEADFOLD_SCHEDULE"); }
  Forced(const Forced&) = delete;
  Forced& operator=(const Forced&) = delete;
};

TEST_F(ForcedScheduleTest, TheEnvironmentForcesTheSchedule) {
  for (const std::string name : {"flat", "linear", "binomial", "recursive_doubling", "native"}) {
    for (const bool on_all : {true, false}) {  // rank 0's counts for all
      const Forced forced(name.c_str(), on_all || world.rank == 0);
      const Ranks copy = Ranks::duplicate();
      Plan<double> plan(plus, 1, copy.comm);
      EXPECT_EQ(plan.schedule(), name);
      const std::vector<double> mine = {static_cast<double>(1 + copy.rank)};
      EXPECT_TRUE(is(plan.run(mine), copy.size * (copy.size + 1) / 2.0)) << name;
      EXPECT_TRUE(is(sum(mine, copy.comm), copy.size * (copy.size + 1) / 2.0)) << name;
      const Plan<double> asked(plus, 1, copy.comm, {.schedule = "linear"});
      EXPECT_EQ(asked.schedule(), "linear") << "what the call asks for counts more";
    }
  }
}

TEST_F(ForcedScheduleTest, AnEmptyVariableForcesNothing) {
  const Forced forced("", true);
  const Ranks copy = Ranks::duplicate();
  const Plan<double> plan(plus, 1, copy.comm);
  const Plan<double> usual(plus, 1, world.comm);
  EXPECT_EQ(plan.schedule(), usual.schedule());
}

TEST_F(ForcedScheduleTest, OtherRanksEnvironmentsDoNotCount) {
  if (world.size == 1) return;
  const Forced forced("linear", world.rank == 1);
  const Ranks copy = Ranks::duplicate();
  const Plan<double> plan(plus, 1, copy.comm);
  const Plan<double> usual(plus, 1, world.comm);
  EXPECT_EQ(plan.schedule(), usual.schedule());
}

TEST_F(ForcedScheduleTest, AnUnknownScheduleInTheEnvironmentIsAnErrorOnEveryRank) {
  const Forced forced("butterfly_of_yesterday", true);
  const Ranks copy = Ranks::duplicate();
  const std::vector<double> mine = {1.0};
  const Outcome bound = outcome_of([&] { Plan<double>(plus, 1, copy.comm); });
  EXPECT_EQ(bound.status, SF_INVALID_ARGUMENT) << bound.text;
  EXPECT_NE(bound.text.find("butterfly_of_yesterday"), std::string::npos) << bound.text;
  for (int round = 0; round < 3; ++round) {
    const Outcome summed = outcome_of([&] { sum(mine, copy.comm); });
    EXPECT_EQ(summed.status, SF_INVALID_ARGUMENT) << summed.text;
    EXPECT_NE(summed.text.find("butterfly_of_yesterday"), std::string::npos) << summed.text;
  }
  EXPECT_TRUE(is(sum(mine, copy.comm, {.schedule = "flat"}), static_cast<double>(copy.size)));
}

TEST_F(ForcedScheduleTest, AForcedScheduleThatCannotServeIsAnErrorOnEveryRank) {
  const Forced forced("native", true);
  const Ranks copy = Ranks::duplicate();
  const Outcome outcome = outcome_of([&] { Plan<double>(subtract, 1, copy.comm); });
  EXPECT_EQ(outcome.status, SF_UNSUPPORTED) << outcome.text;
}

}  // namespace
}  // namespace steadfold::tests::forced_schedule_test
