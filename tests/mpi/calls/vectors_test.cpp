// MPI's shape: every rank brings one vector, in place. Wide vectors against the sequential tree over ranks, column by
// column, by every schedule, to all ranks and to every root.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/operators.hpp"
#include "mpi/outcome.hpp"
#include "mpi/ranks.hpp"
#include "mpi/reference.hpp"

namespace steadfold::tests::vectors_test {
namespace {

class VectorsTest : public testing::Test {
 protected:
  Ranks world;
  Random random{seed_of("vectors_test", 77003)};
};

/// vectors[r] is what rank r brings.
template <class T>
std::vector<std::vector<T>> vectors_of(const Ranks& ranks, std::size_t columns, Random& random) {
  std::vector<std::vector<T>> vectors;
  for (int r = 0; r < ranks.size; ++r) vectors.push_back(elements<T>(columns, random));
  return vectors;
}

template <class T>
std::vector<T> column(const std::vector<std::vector<T>>& vectors, std::size_t i) {
  std::vector<T> values;
  for (const std::vector<T>& vector : vectors) values.push_back(vector[i]);
  return values;
}

template <class T, class Op>
std::vector<T> trees_of(const std::vector<std::vector<T>>& vectors, const Op& op) {
  std::vector<T> results;
  for (std::size_t i = 0; i < vectors[0].size(); ++i) results.push_back(tree_of(column(vectors, i), op));
  return results;
}

template <class T>
std::vector<T> exact_sums_of(const std::vector<std::vector<T>>& vectors) {
  std::vector<T> results;
  for (std::size_t i = 0; i < vectors[0].size(); ++i) {
    const std::vector<T> values = column(vectors, i);
    results.push_back(reference::exact_sum(std::span<const T>(values)));
  }
  return results;
}

template <class T, class Op>
void expect_allreduce(const Ranks& ranks, const std::vector<std::vector<T>>& vectors, const std::vector<T>& wanted,
                      const Op& op, Method method) {
  std::vector<std::string> schedules = schedules_of(method, false);
  if (!thorough(ranks)) schedules = {"", next_of(schedules), next_of(schedules)};
  for (const std::string& schedule : schedules) {
    const Options options{.method = method, .schedule = schedule};
    std::vector<T> buffer = vectors[ranks.index()];
    allreduce(std::span{buffer}, op, ranks.comm, options);
    EXPECT_TRUE(are(buffer, wanted)) << wanted.size() << " columns by " << text_of(options);
  }
}

template <class T, class Op>
void expect_reduce_to(const Ranks& ranks, const std::vector<std::vector<T>>& vectors, const std::vector<T>& wanted,
                      const Op& op, Method method) {
  for (int root = 0; root < ranks.size; ++root) {
    std::vector<std::string> schedules = schedules_of(method, true);
    if (!thorough(ranks)) schedules = {next_of(schedules)};
    for (const std::string& schedule : schedules) {
      const Options options{.method = method, .schedule = schedule};
      std::vector<T> buffer = vectors[ranks.index()];
      reduce_to(root, std::span{buffer}, op, ranks.comm, options);
      EXPECT_TRUE(are(buffer, ranks.rank == root ? wanted : vectors[ranks.index()]))
          << wanted.size() << " columns to " << root << " by " << text_of(options);
    }
  }
}

template <class T, class Op, class ReferenceOp>
void expect_vectors(const Ranks& ranks, std::size_t columns, const Op& op, const ReferenceOp& reference_op,
                    Random& random, Method method = {}) {
  const auto vectors = vectors_of<T>(ranks, columns, random);
  const std::vector<T> wanted = trees_of(vectors, reference_op);
  expect_allreduce(ranks, vectors, wanted, op, method);
  expect_reduce_to(ranks, vectors, wanted, op, method);
}

TEST_F(VectorsTest, AddsDoublesInTheTreeOverRanks) {
  for (const std::size_t columns : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{17}, std::size_t{3000}})
    expect_vectors<double>(world, columns, plus, add, random);
}
TEST_F(VectorsTest, AddsVeryWideVectors) {
  const std::size_t columns = 100000;
  const auto vectors = vectors_of<double>(world, columns, random);
  expect_allreduce(world, vectors, trees_of(vectors, add), plus, {});
  std::vector<double> buffer = vectors[world.index()];
  reduce_to(world.size - 1, std::span{buffer}, plus, world.comm);
  EXPECT_TRUE(are(buffer, world.rank == world.size - 1 ? trees_of(vectors, add) : vectors[world.index()]));
}
TEST_F(VectorsTest, AddsExactly) {
  for (const std::size_t columns : {std::size_t{1}, std::size_t{5}, std::size_t{400}}) {
    const auto doubles = vectors_of<double>(world, columns, random);
    expect_allreduce(world, doubles, exact_sums_of(doubles), plus, exact());
    expect_reduce_to(world, doubles, exact_sums_of(doubles), plus, exact());
    const auto floats = vectors_of<float>(world, columns, random);
    expect_allreduce(world, floats, exact_sums_of(floats), plus, exact());
  }
}
TEST_F(VectorsTest, AddsFloatsAndIntegers) {
  expect_vectors<float>(world, 50, plus, add, random);
  expect_vectors<std::int32_t>(world, 9, plus, add, random);
  expect_vectors<std::int64_t>(world, 600, plus, add, random);
  expect_vectors<std::uint32_t>(world, 3, plus, add, random, tree());
  expect_vectors<std::uint64_t>(world, 2, plus, add, random);
}
TEST_F(VectorsTest, TakesOtherBuiltInOperators) {
  expect_vectors<double>(world, 31, times, multiply, random);
  expect_vectors<double>(world, 31, minimum, lesser, random);
  expect_vectors<float>(world, 31, maximum, greater, random);
  expect_vectors<std::int32_t>(world, 31, times, multiply, random);
}
TEST_F(VectorsTest, TakesUserOperators) {
  expect_vectors<Text>(world, 2, join, join, random);
  expect_vectors<Matrix>(world, 7, matrix_product, matrix_product, random);
  expect_vectors<double>(world, 200, subtract, subtract, random);
  expect_vectors<Hash>(world, 13, MixArrays(), mix_hashes, random);
  expect_vectors<Mixed<unsigned char, 7>>(world, 40, mix, mix, random);
}
TEST_F(VectorsTest, AddsHostileValues) {
  std::vector<std::vector<double>> vectors(world.count());
  const auto inputs = hostile_inputs();
  for (std::size_t r = 0; r < world.count(); ++r)
    for (const Hostile& input : inputs) vectors[r].push_back(input.x.empty() ? -0.0 : input.x[r % input.x.size()]);
  expect_allreduce(world, vectors, trees_of(vectors, add), plus, {});
  expect_allreduce(world, vectors, exact_sums_of(vectors), plus, exact());
  expect_allreduce(world, vectors, trees_of(vectors, lesser), minimum, {});
  expect_allreduce(world, vectors, trees_of(vectors, greater), maximum, {});
}

/// Other ranks in another order: the tree follows the communicator's ranks.
TEST_F(VectorsTest, FollowsTheOrderOfTheCommunicator) {
  const Ranks reversed = Ranks::split(0, -world.rank);
  std::vector<Text> mine = {Text::of(static_cast<char>('a' + reversed.rank))};
  std::vector<Text> letters;
  for (int r = 0; r < world.size; ++r) letters.push_back(Text::of(static_cast<char>('a' + r)));
  allreduce(std::span{mine}, join, reversed.comm);
  EXPECT_TRUE(is(mine[0], tree_of(letters, join))) << mine[0].string();
}

/// As in MPI: any associative operator, in rank order where it does not commute.
TEST_F(VectorsTest, PlainKeepsRankOrder) {
  const auto concatenate = [](const Text& l, const Text& r) {
    const std::string all = l.string() + r.string();
    Text text;
    std::memcpy(text.letters.data(), all.data(), std::min(all.size(), text.letters.size()));
    return text;
  };
  std::string wanted;
  for (int r = 0; r < world.size; ++r) wanted += static_cast<char>('a' + r);
  const Text own = Text::of(static_cast<char>('a' + world.rank));
  for (const std::string& schedule : schedules_of(plain(), false)) {
    std::vector<Text> buffer(2, own);
    allreduce(std::span{buffer}, concatenate, world.comm, {.method = plain(), .schedule = schedule});
    for (const Text& each : buffer) EXPECT_EQ(each.string(), wanted) << schedule;
  }
  for (int root = 0; root < world.size; ++root) {
    for (const std::string schedule : {"", "flat", "linear"}) {
      std::vector<Text> buffer(2, own);
      reduce_to(root, std::span{buffer}, concatenate, world.comm, {.method = plain(), .schedule = schedule});
      EXPECT_EQ(buffer[1].string(), world.rank == root ? wanted : own.string()) << root << " by " << schedule;
    }
  }
}

/// What a rank added up before is lost: with another number of ranks the bits are others, as they are in MPI.
TEST_F(VectorsTest, IsNoPromiseAcrossNumbersOfRanks) {
  if (world.size < 3) return;
  const std::vector<double> all = elements<double>(1 << 10, random);
  std::vector<double> found;
  for (int ranks = 2; ranks <= world.size; ++ranks) {
    const Ranks part = Ranks::split(world.rank < ranks ? 0 : 1, world.rank);
    const Ownership ownership = in_rank_order(even_counts(all.size(), part.count(), true));
    double local = 0;
    for (const double x : pick(all, ownership[part.index()])) local += x;
    std::vector<double> buffer = {local};
    allreduce(std::span{buffer}, plus, part.comm);
    MPI_Bcast(buffer.data(), 1, MPI_DOUBLE, 0, world.comm);
    found.push_back(buffer[0]);
  }
  bool varies = false;
  for (const double each : found) varies = varies || !same_bits(each, found[0]);
  EXPECT_TRUE(varies) << "these data do not show it";
}

}  // namespace
}  // namespace steadfold::tests::vectors_test
