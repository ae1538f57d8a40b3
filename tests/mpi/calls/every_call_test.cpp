// Every call of C++ has the same outcome compiled as C++17 and as C++20, and that of a reference where there is one:
// over MPI, and, as far as it does not depend on the number of ranks, that of one process with all elements.
#include "every_call/every_call.hpp"

#include <gtest/gtest.h>

#include "steadfold/mpi.hpp"
#include "steadfold/team.hpp"
#include "support/environments.hpp"

namespace steadfold::tests::every_call_test {
namespace {

TEST(EveryCall, OfCxx17HasTheOutcomeOfCxx20) {
  const Group world = group_of(MPI_COMM_WORLD);
  Team alone(1);
  const test::Transcript in_17 = test::transcript_in_cxx17(world), in_20 = test::transcript_in_cxx20(world);
  const test::Transcript wanted = test::transcript_in_cxx20(alone[0].group());
  EXPECT_EQ(in_17.entries(), in_20.entries());
  EXPECT_EQ(in_17.entries_of_job(), wanted.entries_of_job());
  EXPECT_GT(in_17.entries().size(), std::size_t{2500});
  EXPECT_GT(in_17.entries_of_job().size(), std::size_t{2000});
  const test::Transcript in_c = test::transcript_in_c(world);
  for (const auto& entry : in_c.entries())
    EXPECT_EQ(entry.outcome, in_20.outcome_of_first(entry.name)) << "in C, " << entry.name;
  const test::Transcript references = test::transcript_of_references();
  for (const auto& entry : references.entries())
    EXPECT_EQ(entry.outcome, in_20.outcome_of_first(entry.name)) << "by references, " << entry.name;
  EXPECT_GT(references.entries().size(), std::size_t{150});
  const std::string control = "hostile, sum by plain";
  EXPECT_EQ(in_17.outcome_of_first(control) != wanted.outcome_of_first(control), world.size() > 1);
  // Every rank in another floating-point environment.
  const auto mine = 1 + static_cast<std::size_t>(world.rank()) % (test::environments.size() - 1);
  const test::InEnvironment environment(test::environments[mine]);
  EXPECT_EQ(test::transcript_in_cxx17(world).entries(), in_17.entries()) << test::environments[mine].name;
  EXPECT_EQ(test::transcript_in_c(world).entries(), in_c.entries()) << test::environments[mine].name;
}

}  // namespace
}  // namespace steadfold::tests::every_call_test
