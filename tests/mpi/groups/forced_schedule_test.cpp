// Schedules forced by the environment: rank 0's counts, for calls that ask for none, and what cannot be used is an
// error on every rank.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
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

/// Sets a variable for as long as it lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    setenv(name, value, 1);
  }
  ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

/// Sets the variable on one rank or on all, for as long as it lives.
class Forced {
 public:
  Forced(const char* schedule, bool here) {
    if (here) variable_.emplace("STEADFOLD_SCHEDULE", schedule);
  }

 private:
  std::optional<Variable> variable_;
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

/// That of rank 0, of which no rank prints anything.
TEST_F(ForcedScheduleTest, PlansSayWhyAProfileIsNotUsed) {
  const Variable transport("STEADFOLD_TRANSPORT", "mpi");
  const Forced forced("linear", world.rank == 0);
  {
    const Variable profile("STEADFOLD_PROFILE", world.rank == 0 ? "/no/profile" : "/no/other");
    testing::internal::CaptureStderr();
    const Ranks copy = Ranks::duplicate();
    const Plan<double> plan(plus, 1, copy.comm);
    EXPECT_EQ(testing::internal::GetCapturedStderr().find("steadfold"), std::string::npos);
    EXPECT_NE(plan.describe().find("\nthe profile /no/profile is not used: /no/profile cannot be read"),
              std::string::npos)
        << plan.describe();
    EXPECT_EQ(plan.schedule(), "linear")
        << "what rank 0 says of its environment stands before what it says of profiles";
  }
  const Variable profile("STEADFOLD_PROFILE", "");
  const Ranks copy = Ranks::duplicate();
  EXPECT_EQ(Plan<double>(plus, 1, copy.comm).describe().find("not used"), std::string::npos);
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
