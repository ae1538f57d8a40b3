// Every call of C++ has the same outcome compiled as C++17 and as C++20, and that of a reference where there is one:
// between the workers of a team.
#include "every_call/every_call.hpp"

#include <gtest/gtest.h>

#include "support/environments.hpp"
#include "support/on_team.hpp"

namespace steadfold::test::every_call_test {
namespace {

class EveryCall : public testing::TestWithParam<int> {};

TEST_P(EveryCall, OfCxx17HasTheOutcomeOfCxx20) {
  Team alone(1);
  const Transcript wanted = transcript_in_cxx20(alone[0].group());
  on_team(GetParam(), [&](const Team::Member& member) {
    const Transcript in_17 = transcript_in_cxx17(member.group()), in_20 = transcript_in_cxx20(member.group());
    EXPECT_EQ(in_17.entries(), in_20.entries());
    EXPECT_EQ(in_17.entries_of_job(), wanted.entries_of_job());
    EXPECT_GT(in_17.entries().size(), std::size_t{2500});
    const Transcript in_c = transcript_in_c(member.group());
    for (const auto& entry : in_c.entries())
      EXPECT_EQ(entry.outcome, in_20.outcome_of_first(entry.name)) << "in C, " << entry.name;
    const Transcript references = transcript_of_references();
    for (const auto& entry : references.entries())
      EXPECT_EQ(entry.outcome, in_20.outcome_of_first(entry.name)) << "by references, " << entry.name;
    EXPECT_GT(references.entries().size(), std::size_t{150});
    const std::string control = "hostile, sum by plain";
    EXPECT_EQ(in_17.outcome_of_first(control) != wanted.outcome_of_first(control), member.size() > 1);
  });
}
/// Every worker is in another floating-point environment, in turn until all of them were met.
TEST(EveryCallInAnEnvironment, HasTheOutcomeOfTheUsualOne) {
  Team team(3);
  std::array<std::vector<Transcript::Entry>, 3> wanted, wanted_in_c;
  on_members(team, [&](const Team::Member& member) {
    const auto worker = static_cast<std::size_t>(member.group().rank());
    wanted[worker] = transcript_in_cxx20(member.group()).entries();
    wanted_in_c[worker] = transcript_in_c(member.group()).entries();
  });
  const auto usual = arithmetic_in_force();
  for (std::size_t turn = 0; turn < environments.size(); turn += 3) {
    on_members(team, [&](const Team::Member& member) {
      const auto worker = static_cast<std::size_t>(member.group().rank());
      const std::size_t mine = (turn + worker) % environments.size();
      SCOPED_TRACE(environments[mine].name);
      const InEnvironment environment(environments[mine]);
      const auto before = arithmetic_in_force();
      EXPECT_EQ(before == usual, mine == 0) << "the control";
      EXPECT_EQ(transcript_in_cxx20(member.group()).entries(), wanted[worker]);
      EXPECT_EQ(transcript_in_c(member.group()).entries(), wanted_in_c[worker]);
      EXPECT_EQ(arithmetic_in_force(), before);
    });
  }
}

#if !defined(STEADFOLD_TEST_ONE_PROGRAM)
TEST(EveryCallInBothStandards, IsCodeOfEach) { EXPECT_NE(check_in_cxx17(), check_in_cxx20()); }
#endif

INSTANTIATE_TEST_SUITE_P(Teams, EveryCall, testing::Values(1, 3, 4, 5));

}  // namespace
}  // namespace steadfold::test::every_call_test
