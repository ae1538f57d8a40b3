// Transports asked for by the environment: rank 0's counts, results have the same bits, and what is not known is an
// error on every rank.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "bits.hpp"
#include "operators.hpp"
#include "outcome.hpp"
#include "ranks.hpp"
#include "run_ranks.hpp"

namespace steadfold::tests {
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
  for (const char* transport : {"mpi", "rma", "rma:loads", "auto", ""}) {
    for (const bool on_all : {true, false}) {  // rank 0's counts for all
      const Asked asked(transport, on_all || world.rank == 0);
      const Ranks copy = Ranks::duplicate();
      const std::vector<double> mine = {static_cast<double>(1 + copy.rank)};
      const double expected = copy.size * (copy.size + 1) / 2.0;
      Plan<double> plan(plus, 1, copy.comm);
      const std::string taken = std::string(transport).starts_with("rma") ? "rma" : "mpi";
      EXPECT_NE(plan.describe().find("transport " + taken + "\n"), std::string::npos) << plan.describe();
      for (int round = 0; round < 20; ++round) {
        EXPECT_TRUE(is(plan.run(mine), expected)) << transport;
        EXPECT_TRUE(is(sum(mine, copy.comm), expected)) << transport;
      }
    }
  }
}

/// Plans may outlive the communicator, and are freed on different ranks at different times.
TEST_F(ForcedTransportTest, PlansOutliveTheirWindowsGroup) {
  const Asked asked("rma", true);
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

TEST_F(ForcedTransportTest, AnUnknownTransportIsAnErrorOnEveryRank) {
  const Asked asked("carrier_pigeon", world.rank == 0);
  const Ranks copy = Ranks::duplicate();
  const std::vector<double> mine = {1.0};
  for (int round = 0; round < 3; ++round) {
    const Outcome outcome = outcome_of([&] { sum(mine, copy.comm); });
    EXPECT_EQ(outcome.status, SF_INVALID_ARGUMENT) << outcome.text;
    EXPECT_EQ(outcome.text,
              "unknown transport 'carrier_pigeon' (STEADFOLD_TRANSPORT of rank 0 asks for it), take auto, mpi, "
              "rma or rma:loads");
  }
}

}  // namespace
}  // namespace steadfold::tests

int main(int argc, char** argv) { return steadfold::tests::run_program(argc, argv); }
