// A run that one worker has given up, its memory with it, while the others go on.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "steadfold/plan.hpp"
#include "support/in_a_process.hpp"
#include "support/on_team.hpp"

namespace steadfold::test::given_up_test {
namespace {

/// Memory that ends a process that reads it once it is gone.
class Pages {
 public:
  explicit Pages(std::size_t doubles) : bytes_(doubles * sizeof(double)) {
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  std::span<double> all() const { return {static_cast<double*>(memory_), bytes_ / sizeof(double)}; }
  void go() const { mprotect(memory_, bytes_, PROT_NONE); }

 private:
  std::size_t bytes_;
  void* memory_;
};

/// Wide rows are read and results written where they stand, but only those of callers that stay.
TEST(GivenUp, NobodyTouchesTheMemoryOfAStartedRun) {
  for (const std::size_t columns : {std::size_t{900}, std::size_t{60000}}) {
    in_a_process([columns] {
      const Team team(2);
      std::vector<std::optional<VectorPlan<double>>> plans(2);
      on_members(team, [&](const Team::Member& member) {
        auto& plan = plans[static_cast<std::size_t>(member.worker())];
        plan.emplace(Plan<double>::of_vectors(sf::plus, columns, member));
        const std::vector<double> ones(columns, 1.0);
        std::vector<double> sums(columns);
        plan->run(ones, sums);
        EXPECT_EQ(sums, std::vector<double>(columns, 2.0));
      });
      const Pages rows[2] = {Pages(columns), Pages(columns)}, results[2] = {Pages(columns), Pages(columns)};
      plans[0]->start(rows[0].all(), results[0].all());
      plans[0].reset();
      rows[0].go();
      results[0].go();
      plans[1]->start(rows[1].all(), results[1].all());
      for (int look = 0; look < 1000; ++look) plans[1]->test();
      plans[1].reset();
      rows[1].go();
      results[1].go();
    });
  }
}

}  // namespace
}  // namespace steadfold::test::given_up_test
