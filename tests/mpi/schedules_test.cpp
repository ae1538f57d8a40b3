// Every schedule of the registry, alone and with its examples of parameters, over real ranks: vectors of a few columns
// and of more than there are ranks, and so wide that values stand apart in every segment, to all ranks and to roots,
// against the sequential tree. A plan runs twice.
#include <gtest/gtest.h>
#include <mpi.h>

#include <string>
#include <vector>

#include "bits.hpp"
#include "operators.hpp"
#include "outcome.hpp"
#include "ranks.hpp"
#include "reference.hpp"
#include "run_ranks.hpp"
#include "schedule/registry.hpp"
#include "schedule/served.hpp"

namespace steadfold::tests {
namespace {

using schedule::Collective;

class SchedulesTest : public testing::Test {
 protected:
  Ranks world;
  Random random{seed_of("schedules_test", 60607)};
  std::vector<std::vector<double>> vectors;  // by rank
  std::vector<double> wanted;

  void take(std::size_t columns) {
    vectors.clear();
    wanted.clear();
    for (int rank = 0; rank < world.size; ++rank) vectors.push_back(elements<double>(columns, random));
    for (std::size_t i = 0; i < columns; ++i) {
      std::vector<double> column;
      for (const auto& vector : vectors) column.push_back(vector[i]);
      wanted.push_back(tree_of(column, add));
    }
  }

  void expect_wanted(const std::string& name, Options options) {
    options.schedule = name;
    auto plan = Plan<double>::of_vectors(plus, wanted.size(), world.comm, options);
    for (int again = 0; again < 2; ++again) {
      std::vector<double> result(wanted.size(), -1.0);
      plan.run(vectors[world.index()], std::span(result));
      const bool is_due = !options.root || *options.root == world.rank;
      EXPECT_TRUE(are(result, is_due ? wanted : std::vector<double>(wanted.size(), -1.0)))
          << wanted.size() << " columns by " << text_of(options);
    }
    std::vector<double> in_place = vectors[world.index()];
    plan.run(in_place, std::span(in_place));
    if (!options.root || *options.root == world.rank) {
      EXPECT_TRUE(are(in_place, wanted)) << wanted.size() << " columns in place by " << text_of(options);
    }
  }
};

TEST_F(SchedulesTest, GiveTheTreeOverRanks) {
  int found = 0;
  for (const std::size_t columns :
       {std::size_t{1}, world.count(), world.count() + 1, std::size_t{1000}, 1025 * world.count()}) {
    take(columns);
    for (const schedule::Row& row : schedule::registry()) {
      for (const std::string& name : names_of(row)) {
        const auto serves = [&](Collective collective) {
          return test::says_it_serves(row, collective, 0, "tree", schedule::Operator::ordered);
        };
        const Options options{.method = tree()};
        if (serves(Collective::allreduce)) ++found, expect_wanted(name, options);
        if (!serves(Collective::reduce)) continue;
        for (const int root : {0, world.size / 2, world.size - 1}) {
          Options rooted = options;
          rooted.root = root;
          ++found, expect_wanted(name, rooted);
        }
      }
    }
  }
  EXPECT_GT(found, 200);
}

}  // namespace
}  // namespace steadfold::tests

int main(int argc, char** argv) { return steadfold::tests::run_program(argc, argv); }
