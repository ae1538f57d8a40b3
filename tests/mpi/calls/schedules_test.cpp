// Every schedule of the registry, alone and with its examples of parameters, over real ranks: vectors of a few columns
// and of more than there are ranks, and so wide that values stand apart in every segment, to all ranks and to roots,
// against the sequential tree. A plan runs twice. Few landing slots, which a run uses again and again.
#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/operators.hpp"
#include "mpi/outcome.hpp"
#include "mpi/ranks.hpp"
#include "mpi/reference.hpp"
#include "schedule/registry.hpp"
#include "schedule/served.hpp"

namespace steadfold::tests::schedules_test {
namespace {

using schedule::Collective;

/// The tree over the first ranks, by column.
std::vector<double> trees(const std::vector<std::vector<double>>& vectors, std::size_t ranks) {
  std::vector<double> all;
  for (std::size_t i = 0; i < vectors[0].size(); ++i) {
    std::vector<double> column;
    for (std::size_t rank = 0; rank < ranks; ++rank) column.push_back(vectors[rank][i]);
    all.push_back(tree_of(column, add));
  }
  return all;
}

class SchedulesTest : public testing::Test {
 protected:
  Ranks world;
  Random random{seed_of("schedules_test", 60607)};
  std::vector<std::vector<double>> vectors;  // by rank
  std::vector<double> wanted;

  void take(std::size_t columns) {
    vectors.clear();
    for (int rank = 0; rank < world.size; ++rank) vectors.push_back(elements<double>(columns, random));
    wanted = trees(vectors, world.count());
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

/// On more than 3 ranks each schedule runs with one of the five widths and one root. The number of ranks selects the
/// width and the root.
TEST_F(SchedulesTest, GiveTheTreeOverRanks) {
  const bool all = full() || world.size <= 3;
  std::size_t found = 0;
  std::size_t turn = world.count();
  for (const std::size_t columns :
       {std::size_t{1}, world.count(), world.count() + 1, std::size_t{1000}, 1025 * world.count()}) {
    take(columns);
    std::size_t asked = turn++;
    const auto is_due = [&] { return all || asked++ % 5 == 0; };
    for (const schedule::Algorithm& algorithm : schedule::registry()) {
      for (const std::string& name : names_of(algorithm)) {
        const auto serves = [&](Collective collective) {
          return test::says_it_serves(algorithm, collective, 0, test::tree_merging, schedule::OperatorKind::ordered);
        };
        const Options options{.method = tree()};
        if (serves(Collective::allreduce) && is_due()) ++found, expect_wanted(name, options);
        if (!serves(Collective::reduce) || !is_due()) continue;
        const std::array roots = {world.size / 2, 0, world.size - 1};
        for (const int root : roots) {
          if (all ? columns > 1000 && root != roots[0] : root != roots[found % 3]) continue;
          Options rooted = options;
          rooted.root = root;
          expect_wanted(name, rooted);
        }
        ++found;
      }
    }
  }
  EXPECT_GT(found, all ? 200u : 40u);
}

/// Ranks count twice there, which changes no bit of minima and maxima; sums, which it would change, are refused.
TEST_F(SchedulesTest, MinimaAndMaximaByTheOriginalDissemination) {
  const auto special = [&](std::size_t i) {
    const double all[] = {0.0, -0.0, std::numeric_limits<double>::infinity(), -std::nan("7")};
    return all[(i + random() % 2) % 4];
  };
  for (const std::size_t columns : {std::size_t{1}, std::size_t{1000}, 1025 * world.count()}) {
    take(columns);
    for (std::vector<double>& vector : vectors)
      for (std::size_t i = 0; i < columns; i += 1 + random() % 5) vector[i] = special(i);
    for (const std::string name : {"", ":n=2", ":n=5"}) {
      const Options options{.method = plain(), .schedule = "original_dissemination" + name};
      const Options by_tree{.method = tree(), .schedule = "flat"};
      const auto expect_equal = [&](const auto& op) {
        auto plan = Plan<double>::of_vectors(op, columns, world.comm, options);
        auto other = Plan<double>::of_vectors(op, columns, world.comm, by_tree);
        for (int again = 0; again < 2; ++again) {
          std::vector<double> result(columns, -1.0);
          std::vector<double> expected(columns, -1.0);
          plan.run(vectors[world.index()], std::span(result));
          other.run(vectors[world.index()], std::span(expected));
          EXPECT_TRUE(are(result, expected)) << columns << " columns by " << text_of(options);
        }
      };
      expect_equal(min);
      expect_equal(max);
      EXPECT_THROW(Plan<double>::of_vectors(plus, columns, world.comm, options), Error);
    }
  }
}

/// Merged in an order of its own, every rank would get sums with bits of its own. No call gets them.
TEST_F(SchedulesTest, RefusePlainSumsThatDifferBetweenRanks) {
  take(100);
  for (const std::string name : {"bruck", "bruck:n=2", "dissemination", "two_level:size=2:outer=[bruck]"}) {
    const Options options{.method = plain(), .schedule = name};
    std::vector<double> buffer = vectors[world.index()];
    const Outcome bound = outcome_of([&] { Plan<double>::of_vectors(plus, 100, world.comm, options); });
    const Outcome called = outcome_of([&] { allreduce(buffer, plus, world.comm, options); });
    EXPECT_EQ(bound.status, SF_UNSUPPORTED) << name << ": " << bound.text;
    EXPECT_EQ(called.status, SF_UNSUPPORTED) << name << ": " << called.text;
    EXPECT_NE(bound.text.find("different bits"), std::string::npos) << bound.text;
    EXPECT_FALSE(outcome_of([&] { allreduce(buffer, max, world.comm, options); }).failed()) << name;
  }
}

/// With few receives open a landing slot takes several messages in a run, and every run begins with them anew. Segments
/// by blocks share them, too.
TEST_F(SchedulesTest, UseLandingSlotsAgain) {
  for (const std::size_t each : {std::size_t{1}, std::size_t{5}, std::size_t{300}}) {
    take(each * world.count());
    const std::vector<std::uint64_t> blocks(world.count(), each);
    for (const std::string name : {"flat:open=", "transpose:open=", "two_level:size=7:inner=[flat:open="}) {
      for (const std::string open : {"1", "2", "3", "4"}) {
        const Options options{.method = tree(), .schedule = name + open + (name.ends_with("[flat:open=") ? "]" : "")};
        const std::string what = std::to_string(wanted.size()) + " columns by " + text_of(options);
        for (int again = 0; again < 2; ++again) {
          std::vector<double> found = vectors[world.index()];
          allreduce(std::span{found}, plus, world.comm, options);
          EXPECT_TRUE(are(found, wanted)) << what;
          found = vectors[world.index()];
          reduce_to(world.size - 1, std::span{found}, plus, world.comm, options);
          EXPECT_TRUE(world.rank + 1 < world.size || are(found, wanted)) << what;
          std::vector<double> block(each);
          reduce_scatter(std::span<const double>(vectors[world.index()]), blocks, std::span(block), plus, world.comm,
                         options);
          const auto first = wanted.begin() + static_cast<std::ptrdiff_t>(each * world.index());
          EXPECT_TRUE(are(block, std::vector<double>(first, first + static_cast<std::ptrdiff_t>(each)))) << what;
          if (!name.starts_with("flat")) continue;
          found = vectors[world.index()];
          scan(std::span{found}, plus, world.comm, options);
          EXPECT_TRUE(are(found, trees(vectors, world.index() + 1))) << "scan of " << what;
          found = vectors[world.index()];
          exscan(std::span{found}, plus, world.comm, options);
          EXPECT_TRUE(world.rank == 0 || are(found, trees(vectors, world.index()))) << "exscan of " << what;
        }
      }
    }
  }
}

}  // namespace
}  // namespace steadfold::tests::schedules_test
