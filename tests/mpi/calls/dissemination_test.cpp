// Dissemination over 13 ranks, the fewest for which one n needs messages of two partials, with short vectors and so
// wide ones that values stand apart: against the sequential tree. A plan runs twice. And strict, which refuses that.
#include <gtest/gtest.h>
#include <mpi.h>

#include <string>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/operators.hpp"
#include "mpi/outcome.hpp"
#include "mpi/ranks.hpp"
#include "mpi/reference.hpp"

namespace steadfold::tests::dissemination_test {
namespace {

/// Every rank's vector, and the tree over the ranks by column.
struct Vectors {
  std::vector<std::vector<double>> of_ranks;
  std::vector<double> wanted;

  Vectors(Random& random, std::size_t ranks, std::size_t columns) {
    for (std::size_t rank = 0; rank < ranks; ++rank) of_ranks.push_back(elements<double>(columns, random));
    for (std::size_t i = 0; i < columns; ++i) {
      std::vector<double> column;
      for (const std::vector<double>& each : of_ranks) column.push_back(each[i]);
      wanted.push_back(tree_of(column, add));
    }
  }
};

TEST(Dissemination, GivesTheTreeAlsoByMessagesOfTwoPartials) {
  const Ranks world;
  Random random{seed_of("dissemination_test", 60608)};
  for (const std::size_t columns : {std::size_t{1}, std::size_t{100}, std::size_t{1025}, std::size_t{20000}}) {
    const Vectors vectors(random, world.count(), columns);
    for (const std::string name : {"dissemination:n=1", "dissemination:n=2", "dissemination", "pairwise_exchange"}) {
      const Options options{.method = tree(), .schedule = name};
      auto plan = Plan<double>::of_vectors(plus, columns, world.comm, options);
      for (int again = 0; again < 2; ++again) {
        std::vector<double> result(columns, -1.0);
        plan.run(vectors.of_ranks[world.index()], std::span(result));
        EXPECT_TRUE(are(result, vectors.wanted)) << columns << " columns by " << text_of(options);
      }
    }
  }
}

TEST(Dissemination, StrictIsRefusedOnAllRanksWhereNothingFits) {
  const Ranks world;
  const auto error = [&](const std::string& name) -> std::string {
    try {
      auto plan = Plan<double>::of_vectors(plus, 3, world.comm, {.method = tree(), .schedule = name});
      return "";
    } catch (const Error& refused) {
      return refused.what();
    }
  };
  EXPECT_EQ(error("dissemination:strict=1"), "");
  EXPECT_EQ(error("dissemination:n=2:strict=1"), "");
  const std::string refused = error("dissemination:n=1:strict=1");
  EXPECT_EQ(world.size < 13 ? "" : "schedule 'dissemination:n=1:strict=1' cannot serve 13 ranks",
            refused.substr(0, refused.find(" (")));
}

}  // namespace
}  // namespace steadfold::tests::dissemination_test
