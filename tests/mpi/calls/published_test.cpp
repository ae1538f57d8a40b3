// Real data whose bits are published: per-site log-likelihoods that [S0] sums, read from $STEADFOLD_SHARED/data.
// Without that folder these tests say so and do nothing; generated inputs carry the proof elsewhere.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/operators.hpp"
#include "mpi/ranks.hpp"
#include "mpi/reference.hpp"

namespace steadfold::tests::published_test {
namespace {

struct Published {
  const char* file;
  std::size_t element_count;
  std::uint64_t by_tree;        // of the author of [S0]
  std::uint64_t exactly;        // of Python's math.fsum
  std::uint64_t left_to_right;  // of one naive loop
};

constexpr Published table[] = {
    {"354.binpsllh", 460, 0xC0B99E673E7E9052, 0xC0B99E673E7E9052, 0xC0B99E673E7E9059},
    {"multi100.binpsllh", 767, 0xC0DE408235095FA1, 0xC0DE408235095FA1, 0xC0DE408235095FA2},
    {"prim.binpsllh", 898, 0xC0B64D0131608EB4, 0xC0B64D0131608EB5, 0xC0B64D0131608EAC},
    {"aa_rokasA8.binpsllh", 504850, 0xC174654CD49DEF08, 0xC174654CD49DEF08, 0xC174654CD49DEF15}};

/// Why there are no data; nothing where there are. The same on every rank: rank 0 looks.
std::string reason_for_none(const Ranks& world) {
  const char* const folder = std::getenv("STEADFOLD_SHARED");
  int reason = folder == nullptr ? 1 : 0;
  if (folder != nullptr && !std::ifstream(std::string(folder) + "/data/" + table[0].file)) reason = 2;
  MPI_Bcast(&reason, 1, MPI_INT, 0, world.comm);
  if (reason == 0) return "";
  return reason == 1 ? "STEADFOLD_SHARED is not set" : "there is no data/ in STEADFOLD_SHARED";
}

/// A 64-bit count, then that many doubles, all little-endian, as the machine's own.
std::vector<double> read(const Published& published) {
  std::ifstream file(std::string(std::getenv("STEADFOLD_SHARED")) + "/data/" + published.file, std::ios::binary);
  std::uint64_t count = 0;
  file.read(reinterpret_cast<char*>(&count), sizeof count);
  EXPECT_EQ(count, published.element_count) << published.file;
  std::vector<double> x(published.element_count);
  file.read(reinterpret_cast<char*>(x.data()), static_cast<std::streamsize>(x.size() * sizeof(double)));
  EXPECT_TRUE(file) << published.file;
  return x;
}

class PublishedTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = reason_for_none(world);
    if (!reason.empty()) GTEST_SKIP() << reason;
  }

  Ranks world;
  Random random{seed_of("published_test", 460767898)};
};

TEST_F(PublishedTest, TheReferencesAgreeWithTheTable) {
  for (const Published& published : table) {
    const std::vector<double> x = read(published);
    double left_to_right = x[0];
    for (std::size_t i = 1; i < x.size(); ++i) left_to_right += x[i];
    EXPECT_TRUE(is(tree_of(x, add), double_of(published.by_tree))) << published.file;
    EXPECT_TRUE(is(reference::exact_sum(std::span<const double>(x)), double_of(published.exactly))) << published.file;
    EXPECT_TRUE(is(left_to_right, double_of(published.left_to_right))) << published.file;
  }
}

void expect_published(const Ranks& ranks, const Published& published, const std::vector<double>& x,
                      const NamedOwnership& layout) {
  const std::vector<double> mine = pick(x, layout.ownership[ranks.index()]);
  const Layout known = layout_on(ranks, layout.ownership);
  for (const Method method : {tree(), exact()}) {
    const double wanted = double_of(method.id == SF_TREE ? published.by_tree : published.exactly);
    for (const std::string& schedule : schedules_of(method, false)) {
      const Options options{.method = method, .layout = known, .schedule = schedule};
      EXPECT_TRUE(is(sum(mine, ranks.comm, options), wanted))
          << published.file << " " << layout.name << " on " << ranks.size << " by " << text_of(options);
    }
    const int root = ranks.size / 2;
    const Options to_root{.method = method, .layout = known, .root = root, .schedule = "binomial"};
    const double found = sum(mine, ranks.comm, to_root);
    if (ranks.rank == root) {
      EXPECT_TRUE(is(found, wanted)) << published.file << " to rank " << root;
    }
  }
}

TEST_F(PublishedTest, EveryLayoutAndScheduleGivesThePublishedBits) {
  for (const Published& published : table) {
    const std::vector<double> x = read(published);
    for (const auto& layout : sorts_of_layouts(x.size(), world.count(), random))
      expect_published(world, published, x, layout);
  }
}

/// Local loops and MPI's own sum, for a few random splits in rank order.
std::set<std::string> naive_sums(const Ranks& ranks, const std::vector<double>& x, Random& random) {
  std::set<std::string> found;
  for (int split = 0; split < 10; ++split) {
    const Ownership ownership = in_rank_order(random_counts(x.size(), ranks.count(), random));
    double local = 0;
    for (const double each : pick(x, ownership[ranks.index()])) local += each;
    double result = 0;
    MPI_Allreduce(&local, &result, 1, MPI_DOUBLE, MPI_SUM, ranks.comm);
    found.insert(hex(result));
  }
  return found;
}

/// The first 1, 2, ... ranks, and the control: a naive sum's bits vary.
TEST_F(PublishedTest, EveryNumberOfRanksGivesThePublishedBitsWhereNaiveSumsDiffer) {
  for (const Published& published : table) {
    const std::vector<double> x = read(published);
    std::set<std::string> naive;
    for (int ranks = 1; ranks <= world.size; ++ranks) {
      const Ranks part = Ranks::split(world.rank < ranks ? 0 : 1, world.rank);  // the others among themselves
      Random part_random(published.exactly + part.count());
      const Ownership ownership = in_rank_order(random_counts(x.size(), part.count(), part_random));
      const std::vector<double> mine = pick(x, ownership[part.index()]);
      EXPECT_TRUE(is(sum(mine, part.comm, {.method = tree()}), double_of(published.by_tree))) << published.file;
      EXPECT_TRUE(is(sum(mine, part.comm), double_of(published.exactly))) << published.file;
      naive.merge(naive_sums(part, x, part_random));
    }
    if (world.size > 1) {
      EXPECT_GT(naive.size(), 1u) << published.file << ": the control does not vary, it proves nothing";
    }
  }
}

}  // namespace
}  // namespace steadfold::tests::published_test
