// Owner over real ranks: the tree's bits to every root for every distribution, wide vectors, any operator, the messages
// of [S0]'s count, and the published sums where $STEADFOLD_SHARED has them.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/operators.hpp"
#include "mpi/outcome.hpp"
#include "mpi/ranks.hpp"
#include "order/distribution.hpp"
#include "order/pe_intersecting.hpp"

namespace steadfold::tests::owner_test {
namespace {

const std::vector<std::string> schedules = {"owner", "owner:buffer=4"};

class OwnerTest : public testing::Test {
 protected:
  /// Element counts by every rule, and with empty ranks, rank 0 among them.
  std::vector<std::vector<std::size_t>> all_counts(std::size_t elements) {
    using order::Distribution;
    std::vector<std::vector<std::size_t>> all;
    for (const auto rule : {Distribution::lower, Distribution::upper, Distribution::power2, Distribution::optimized}) {
      const auto counts = order::counts(rule, elements, world.size);
      all.emplace_back(counts.begin(), counts.end());
    }
    all.push_back(random_counts(elements, world.count(), random));
    if (world.size > 1) {
      std::vector<std::size_t> without_first = random_counts(elements, world.count() - 1, random);
      without_first.insert(without_first.begin(), 0);
      all.push_back(without_first);
    }
    return all;
  }

  template <class T, class Op>
  void expect_tree(const std::vector<T>& x, const Op& op) {
    for (const auto& counts : all_counts(x.size())) {
      const Ownership ownership = in_rank_order(counts);
      const std::vector<T> mine = pick(x, ownership[world.index()]);
      for (const std::string& schedule : schedules) {
        for (int root = -1; root < world.size; ++root) {  // -1: all ranks
          Options options{.method = tree(), .layout = layout_on(world, ownership), .schedule = schedule};
          if (root >= 0) options.root = root;
          const T found = reduce(mine, op, world.comm, options);
          if (root < 0 || world.rank == root) {
            EXPECT_TRUE(is(found, tree_of(x, op))) << x.size() << " elements by " << text_of(options);
          }
        }
      }
    }
  }

  Ranks world;
  Random random{seed_of("owner_test", 310811)};
};

TEST_F(OwnerTest, GivesTheBitsOfTheTreeToEveryRootAndToAllRanks) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{2}, world.count() + 1, std::size_t{65}, std::size_t{1000}}) {
    expect_tree(elements<double>(n, random), subtract);
    expect_tree(elements<Hash>(n, random), mix_hashes);
  }
}

TEST_F(OwnerTest, ReducesVectorsOfAnyWidth) {
  for (const std::size_t columns : {std::size_t{1}, std::size_t{3}, std::size_t{3000}}) {
    std::vector<std::vector<double>> vectors;
    for (int rank = 0; rank < world.size; ++rank) vectors.push_back(elements<double>(columns, random));
    std::vector<double> wanted;
    for (std::size_t i = 0; i < columns; ++i) {
      std::vector<double> column;
      for (const auto& vector : vectors) column.push_back(vector[i]);
      wanted.push_back(tree_of(column, add));
    }
    for (const std::string& schedule : schedules) {
      for (int root = 0; root < world.size; ++root) {
        std::vector<double> buffer = vectors[world.index()];
        reduce_to(root, std::span{buffer}, plus, world.comm, {.method = tree(), .schedule = schedule});
        EXPECT_TRUE(are(buffer, world.rank == root ? wanted : vectors[world.index()])) << columns << " " << schedule;
      }
    }
  }
}

TEST_F(OwnerTest, SendsAMessageAPeIntersectingNode) {
  for (const std::size_t n : {std::size_t{9}, std::size_t{1000}, std::size_t{4097}}) {
    const std::vector<double> x = elements<double>(n, random);
    for (const bool lower : {true, false}) {
      const auto counts = even_counts(n, world.count(), lower);
      const Ownership ownership = in_rank_order(counts);
      std::vector<order::Index> starts;
      for (const auto& intervals : ownership) starts.push_back(intervals.front().begin);
      Plan<double> plan(plus, counts[world.index()], world.comm,
                        {.method = tree(), .layout = layout_on(world, ownership), .root = 0, .schedule = "owner"});
      plan.run(pick(x, ownership[world.index()]));
      std::uint64_t messages = plan.figures().messages;
      MPI_Allreduce(MPI_IN_PLACE, &messages, 1, MPI_UINT64_T, MPI_SUM, world.comm);
      EXPECT_EQ(messages, order::pe_intersecting_nodes(starts, n)) << n;
    }
  }
}

TEST_F(OwnerTest, RefusesWhatItCannotServeOnEveryRank) {
  const std::vector<double> x = elements<double>(4 * world.count(), random);
  Ownership ownership = in_rank_order(even_counts(x.size(), world.count(), true));
  const auto status_of = [&](const Options& options) {
    const std::vector<double> mine = pick(x, ownership[world.index()]);
    return outcome_of([&] { sum(mine, world.comm, options); }).status;
  };
  const Options good{.method = tree(), .layout = layout_on(world, ownership), .root = 0, .schedule = "owner"};
  const auto with = [&](auto change) {
    Options options = good;
    change(options);
    return status_of(options);
  };
  EXPECT_EQ(status_of(good), SF_OK);
  std::vector<double> buffer = x;
  const Outcome of_scan = outcome_of([&] { scan(buffer, plus, world.comm, {.method = tree(), .schedule = "owner"}); });
  EXPECT_EQ(of_scan.status, SF_UNSUPPORTED) << of_scan.text;
  EXPECT_EQ(with([](Options& o) { o.method = exact(); }), SF_OK) << "exact needs no order, but takes this one";
  EXPECT_EQ(with([](Options& o) { o.schedule = "owner:buffer=0"; }), SF_INVALID_ARGUMENT);
  if (world.size == 1) return;
  std::swap(ownership.front(), ownership.back());
  EXPECT_EQ(with([&](Options& o) { o.layout = layout_on(world, ownership); }), SF_UNSUPPORTED);
}

/// Bits of the author of [S0].
TEST_F(OwnerTest, GivesThePublishedBits) {
  const char* const folder = std::getenv("STEADFOLD_SHARED");
  const std::string path = std::string(folder == nullptr ? "" : folder) + "/data/aa_rokasA8.binpsllh";
  int is_there = std::ifstream(path, std::ios::binary) ? 1 : 0;
  MPI_Bcast(&is_there, 1, MPI_INT, 0, world.comm);
  if (is_there == 0) GTEST_SKIP() << "no data/aa_rokasA8.binpsllh in STEADFOLD_SHARED";
  std::ifstream file(path, std::ios::binary);
  std::uint64_t count = 0;
  file.read(reinterpret_cast<char*>(&count), sizeof count);
  std::vector<double> x(count);
  file.read(reinterpret_cast<char*>(x.data()), static_cast<std::streamsize>(x.size() * sizeof(double)));
  for (const auto& counts : all_counts(x.size())) {
    const Ownership ownership = in_rank_order(counts);
    for (const std::string& schedule : schedules) {
      const double found =
          sum(pick(x, ownership[world.index()]), world.comm,
              {.method = tree(), .layout = layout_on(world, ownership), .root = 0, .schedule = schedule});
      if (world.rank == 0) {
        EXPECT_TRUE(is(found, double_of(0xC174654CD49DEF08))) << schedule;
      }
    }
  }
}

}  // namespace
}  // namespace steadfold::tests::owner_test
