// MPI's shape: blocks of a reduce_scatter, and scans, one-shot and by plans, by every schedule that serves them,
// against the sequential tree over the ranks concerned and exact sums of them.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/operators.hpp"
#include "mpi/outcome.hpp"
#include "mpi/ranks.hpp"
#include "mpi/reference.hpp"

namespace steadfold::tests::shares_test {
namespace {

class SharesTest : public testing::Test {
 protected:
  /// What every rank brings, known to all.
  template <class T>
  std::vector<std::vector<T>> vectors(std::size_t columns) {
    std::vector<std::vector<T>> all;
    for (int r = 0; r < world.size; ++r) all.push_back(elements<T>(columns, random));
    return all;
  }

  Ranks world;
  Random random{seed_of("shares_test", 61200)};
};

/// The trees over the first `ranks` vectors, by column.
template <class T, class Op>
std::vector<T> trees(const std::vector<std::vector<T>>& vectors, std::size_t ranks, const Op& op) {
  std::vector<T> results;
  for (std::size_t i = 0; i < vectors[0].size(); ++i) {
    std::vector<T> column;
    for (std::size_t r = 0; r < ranks; ++r) column.push_back(vectors[r][i]);
    results.push_back(reference::tree(std::span<const T>(column), op));
  }
  return results;
}

std::vector<double> exact_sums(const std::vector<std::vector<double>>& vectors, std::size_t ranks) {
  std::vector<double> results;
  for (std::size_t i = 0; i < vectors[0].size(); ++i) {
    std::vector<double> column;
    for (std::size_t r = 0; r < ranks; ++r) column.push_back(vectors[r][i]);
    results.push_back(reference::exact_sum(std::span<const double>(column)));
  }
  return results;
}

std::vector<std::string> some_of(const Ranks& ranks, const std::vector<std::string>& all) {
  if (thorough(ranks)) return all;
  return {"", next_of(all), next_of(all)};
}
std::vector<std::string> scans() {
  return {"", "flat", "linear", "pipelined_linear", "binomial", "recursive_doubling"};
}
std::vector<std::string> scatters() {
  return {"",     "flat",         "binomial",  "binary",           "knomial:k=3",
          "ring", "ring:block=2", "transpose", "halving_doubling", "circulant"};
}

template <class T, class Op, class ReferenceOp>
void expect_scans(const Ranks& ranks, const std::vector<std::vector<T>>& all, const Op& op, const ReferenceOp& by) {
  for (const std::string& schedule : some_of(ranks, scans())) {
    const Options options{.method = tree(), .schedule = schedule};
    std::vector<T> buffer = all[ranks.index()];
    scan(std::span{buffer}, op, ranks.comm, options);
    EXPECT_TRUE(are(buffer, trees(all, ranks.index() + 1, by))) << "scan, " << text_of(options);
    buffer = all[ranks.index()];
    exscan(std::span{buffer}, op, ranks.comm, options);
    EXPECT_TRUE(are(buffer, ranks.rank == 0 ? all[0] : trees(all, ranks.index(), by)))
        << "exscan, " << text_of(options);
  }
}

TEST_F(SharesTest, ScanInTheTreeOverTheRanksSoFar) {
  for (const std::size_t columns : {std::size_t{1}, std::size_t{5}, std::size_t{700}})
    expect_scans(world, vectors<double>(columns), plus, add);
  expect_scans(world, vectors<double>(3), subtract, subtract);
  expect_scans(world, vectors<std::int32_t>(4), maximum, greater);
}

TEST_F(SharesTest, ScanExactly) {
  const auto all = vectors<double>(9);
  auto plan = Plan<double>::of_scan(plus, 9, world.comm, {.method = exact()});
  auto before = Plan<double>::of_exscan(plus, 9, world.comm, {.method = exact()});
  for (int again = 0; again < 3; ++again) {
    std::vector<double> found(9, -1);
    plan.run(all[world.index()], std::span(found));
    EXPECT_TRUE(are(found, exact_sums(all, world.index() + 1)));
    found.assign(9, -1);
    before.run(all[world.index()], std::span(found));
    EXPECT_TRUE(are(found, world.rank == 0 ? std::vector<double>(9, -1) : exact_sums(all, world.index())));
  }
}

template <class T>
std::vector<T> part(const std::vector<T>& all, const std::vector<std::uint64_t>& blocks, std::size_t rank) {
  const auto begin =
      std::accumulate(blocks.begin(), blocks.begin() + static_cast<std::ptrdiff_t>(rank), std::uint64_t{0});
  return {all.begin() + static_cast<std::ptrdiff_t>(begin),
          all.begin() + static_cast<std::ptrdiff_t>(begin + blocks[rank])};
}

/// A block each, of sizes that differ, some of them 0.
std::vector<std::uint64_t> uneven_blocks(const Ranks& ranks, std::uint64_t unit) {
  std::vector<std::uint64_t> blocks(ranks.count());
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = (i + 1) % 3 * unit;
  return blocks;
}

TEST_F(SharesTest, ReduceAndScatterBlocks) {
  for (const std::uint64_t unit : {std::uint64_t{1}, std::uint64_t{90}, std::uint64_t{3000}}) {
    const auto blocks = uneven_blocks(world, unit);
    const auto all = vectors<double>(std::accumulate(blocks.begin(), blocks.end(), std::uint64_t{0}));
    const auto by_tree = part(trees(all, world.count(), add), blocks, world.index());
    const auto exactly = part(exact_sums(all, world.count()), blocks, world.index());
    for (const std::string& schedule : some_of(world, scatters())) {
      const Options options{.method = tree(), .schedule = schedule};
      std::vector<double> mine(blocks[world.index()]);
      reduce_scatter(std::span<const double>(all[world.index()]), blocks, std::span(mine), plus, world.comm, options);
      EXPECT_TRUE(are(mine, by_tree)) << text_of(options);
      auto plan = Plan<double>::of_reduce_scatter(plus, blocks, world.comm, {.method = exact(), .schedule = schedule});
      std::vector<double> again(mine.size());
      plan.run(all[world.index()], std::span(again));
      plan.run(all[world.index()], std::span(again));
      EXPECT_TRUE(are(again, exactly)) << "plan, " << text_of(options);
    }
  }
}

TEST_F(SharesTest, PutABlockIntoTheMemoryItCameFrom) {
  const auto all = vectors<double>(6 * world.count());
  const std::vector<std::uint64_t> blocks(world.count(), 6);
  const std::ptrdiff_t shift = world.size > 1 ? 2 : 0;
  for (const std::string& schedule : some_of(world, scatters())) {
    std::vector<double> buffer = all[world.index()];
    std::vector<double> wanted = buffer;
    std::ranges::copy(part(trees(all, world.count(), add), blocks, world.index()), wanted.begin() + shift);
    reduce_scatter_block(std::span<const double>(buffer), std::span(buffer).subspan(static_cast<std::size_t>(shift), 6),
                         plus, world.comm, {.method = tree(), .schedule = schedule});
    EXPECT_TRUE(are(buffer, wanted)) << schedule;
  }
}

TEST_F(SharesTest, AgreeWithMpiOnIntegers) {
  const auto all = vectors<std::int64_t>(4 * world.count());
  const std::vector<std::int64_t>& own = all[world.index()];
  std::vector<std::int64_t> mine(4), theirs(4);
  MPI_Reduce_scatter_block(own.data(), theirs.data(), 4, MPI_INT64_T, MPI_MAX, world.comm);
  reduce_scatter_block(std::span<const std::int64_t>(own), std::span(mine), maximum, world.comm);
  EXPECT_EQ(mine, theirs);
  std::vector<std::int64_t> buffer = own, expected = own;
  MPI_Exscan(own.data(), expected.data(), static_cast<int>(own.size()), MPI_INT64_T, MPI_MIN, world.comm);
  exscan(std::span(buffer), minimum, world.comm);
  if (world.rank > 0) {
    EXPECT_EQ(buffer, expected);
  }
}

/// Every rank learns of what is wrong on one, and the next call is served.
TEST_F(SharesTest, RefuseOnAllRanks) {
  const auto all = vectors<double>(4 * world.count());
  std::vector<double> block(world.rank == 0 ? 3 : 4);
  const auto status = outcome_of(
      [&] { reduce_scatter_block(std::span<const double>(all[world.index()]), std::span(block), plus, world.comm); });
  EXPECT_EQ(status.status, SF_INVALID_ARGUMENT) << status.text;
  if (world.size > 1) {
    std::vector<double> buffer = all[world.index()];
    const auto differing = outcome_of([&] {
      if (world.rank == world.size - 1)
        scan(std::span(buffer), plus, world.comm);
      else
        exscan(std::span(buffer), plus, world.comm);
    });
    EXPECT_EQ(differing.status, SF_MISMATCH) << differing.text;
    EXPECT_NE(differing.text.find("collective exscan against scan"), std::string::npos) << differing.text;
  }
  std::vector<double> buffer = all[world.index()];
  scan(std::span(buffer), plus, world.comm, {.method = tree()});
  EXPECT_TRUE(are(buffer, trees(all, world.index() + 1, add)));
}

}  // namespace
}  // namespace steadfold::tests::shares_test
