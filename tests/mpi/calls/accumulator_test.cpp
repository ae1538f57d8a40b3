// Accumulators in MPI's own reductions: the bytes of one process that has all elements, for any number of ranks and any
// division, on every rank and root; a prefix on each rank; a restart with another number of ranks.
#include "steadfold/accumulator.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/inputs.hpp"
#include "mpi/outcome.hpp"
#include "mpi/ranks.hpp"

namespace steadfold::tests::accumulator_test {
namespace {

using Bytes = std::vector<std::byte>;

class AccumulatorTest : public testing::Test {
 protected:
  Ranks world;
  Random random{seed_of("accumulator_test", 4711)};

  /// This rank's part of all elements, of random size.
  std::vector<std::size_t> random_starts(std::size_t count) {
    std::vector<std::size_t> starts = {0, count};
    for (int i = 1; i < world.size; ++i) starts.push_back(random() % (count + 1));
    std::ranges::sort(starts);
    return starts;
  }
  template <class T>
  std::span<const T> mine(const std::vector<T>& all, const std::vector<std::size_t>& starts) const {
    return std::span(all).subspan(starts[world.index()], starts[world.index() + 1] - starts[world.index()]);
  }
};

template <class T>
Bytes bytes_of(std::span<const T> x) {
  Accumulator<T> a;
  a.add(x);
  return a.bytes();
}

template <class T>
std::vector<std::vector<T>> inputs(Random& random) {
  std::vector<std::vector<T>> all = {{}, {T{-0.0}}, wide_numbers<T>(1000, random), wide_numbers<T>(37, random)};
  for (const Hostile& input : hostile_inputs()) {
    all.emplace_back();
    for (const double x : input.x) all.back().push_back(static_cast<T>(x));
  }
  return all;
}

template <class T>
void expect_allreduce(const Ranks& world, const std::vector<T>& all, std::span<const T> mine) {
  Accumulator<T> a;
  a.add(mine);
  merge_ranks(a, world.comm);
  EXPECT_EQ(a.bytes(), bytes_of(std::span<const T>(all))) << all.size();
}

TEST_F(AccumulatorTest, AllreduceGivesTheBytesOfOneProcess) {
  for (const auto& all : inputs<double>(random)) expect_allreduce(world, all, mine(all, random_starts(all.size())));
  for (const auto& all : inputs<float>(random)) expect_allreduce(world, all, mine(all, random_starts(all.size())));
}

TEST_F(AccumulatorTest, AllreduceOfProductsAndColumns) {
  constexpr std::size_t columns = 30;
  constexpr std::size_t rows = 40;
  const auto x = wide_numbers<double>(rows * columns, random);
  const auto y = wide_numbers<double>(rows * columns, random);
  ProductAccumulator<double> due(columns);
  due.add_products(x, y);
  std::vector<std::size_t> starts = random_starts(rows);
  for (std::size_t& start : starts) start *= columns;
  ProductAccumulator<double> a(columns);
  a.add_products(mine(x, starts), mine(y, starts));
  merge_ranks(a, world.comm);
  EXPECT_EQ(a.bytes(), due.bytes());
  EXPECT_EQ(a.rows(), static_cast<std::int64_t>(rows));
}

TEST_F(AccumulatorTest, ReduceToEveryRoot) {
  const auto all = wide_numbers<double>(700, random);
  Accumulator<double> a;
  a.add(mine(all, random_starts(all.size())));
  const MpiAccumulators handles(a.get());
  const Bytes packed = a.packed();
  for (int root = 0; root < world.size; ++root) {
    Bytes result(packed.size());
    MPI_Reduce(packed.data(), result.data(), 1, handles.type(), handles.op(), root, world.comm);
    if (world.rank != root) continue;
    Accumulator<double> sum;
    sum.unpack(result);
    EXPECT_EQ(sum.bytes(), bytes_of(std::span<const double>(all))) << root;
  }
}

/// Rank r gets what the ranks before it have, several elements of the type at once.
TEST_F(AccumulatorTest, ExscanGivesPrefixes) {
  const auto all = wide_numbers<double>(700, random);
  const auto starts = random_starts(all.size());
  Accumulator<double> a;
  a.add(mine(all, starts));
  const MpiAccumulators handles(a.get());
  Bytes packed = a.packed();
  const std::size_t size = packed.size();
  const Bytes negative = (-a).packed();
  packed.insert(packed.end(), negative.begin(), negative.end());
  Bytes result(packed.size());
  MPI_Exscan(packed.data(), result.data(), 2, handles.type(), handles.op(), world.comm);
  if (world.rank == 0) return;
  const auto before = std::span<const double>(all).first(starts[world.index()]);
  Accumulator<double> prefix;
  prefix.unpack(std::span(result).first(size));
  EXPECT_EQ(prefix.bytes(), bytes_of(before));
  prefix.unpack(std::span(result).subspan(size));
  EXPECT_EQ((-prefix).bytes(), bytes_of(before));
}

/// Every rank writes what it has; a job of another size reads it, divided anew, and goes on.
TEST_F(AccumulatorTest, RestartsWithAnotherNumberOfRanks) {
  const auto first = wide_numbers<double>(500, random);
  const auto second = wide_numbers<double>(300, random);
  Accumulator<double> a;
  a.add(mine(first, random_starts(first.size())));
  const Bytes bytes = a.bytes();
  // The files: one per rank.
  const int size = static_cast<int>(bytes.size());
  std::vector<int> sizes(world.count());
  MPI_Allgather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, world.comm);
  std::vector<int> at(world.count() + 1);
  for (std::size_t r = 0; r < world.count(); ++r) at[r + 1] = at[r] + sizes[r];
  Bytes files(static_cast<std::size_t>(at.back()));
  MPI_Allgatherv(bytes.data(), size, MPI_BYTE, files.data(), sizes.data(), at.data(), MPI_BYTE, world.comm);
  Accumulator<double> due;
  due += first;
  due += second;
  for (int ranks = 1; ranks <= world.size; ++ranks) {
    const Ranks job = Ranks::split(world.rank < ranks ? 0 : 1, world.rank);
    if (world.rank >= ranks) continue;
    Accumulator<double> later;
    for (std::size_t file = job.index(); file < world.count(); file += job.count()) {
      const auto where = static_cast<std::size_t>(at[file]);
      later += Accumulator<double>::load(std::span(files).subspan(where, static_cast<std::size_t>(sizes[file])));
    }
    for (std::size_t i = job.index(); i < second.size(); i += job.count()) later += second[i];
    merge_ranks(later, job.comm);
    EXPECT_EQ(later.bytes(), due.bytes()) << ranks << " of " << world.size;
  }
}

/// Every rank finds out, nobody waits or aborts: of columns of floats and of doubles whose packed forms have one size,
/// of another number of columns, and of one that was moved from.
TEST_F(AccumulatorTest, DifferentShapesAreAnError) {
  if (world.size == 1) return;
  Accumulator<float> floats(37);
  Accumulator<double> doubles(8);
  Accumulator<double> more(9);
  ASSERT_EQ(floats.packed().size(), doubles.packed().size());
  const bool is_last = world.rank == world.size - 1;
  const auto expect_error = [this](auto& accumulator, sf_status status) {
    const auto before = accumulator.bytes();
    EXPECT_EQ(outcome_of([&] { merge_ranks(accumulator, world.comm); }).status, status);
    EXPECT_EQ(accumulator.bytes(), before);
  };
  is_last ? expect_error(floats, SF_INVALID_ARGUMENT) : expect_error(doubles, SF_INVALID_ARGUMENT);
  is_last ? expect_error(more, SF_MISMATCH) : expect_error(doubles, SF_MISMATCH);
  if (is_last) {
    const Accumulator<double> elsewhere = std::move(more);
    EXPECT_EQ(outcome_of([&] { merge_ranks(more, world.comm); }).status, SF_INVALID_ARGUMENT);
  } else {
    expect_error(doubles, SF_INVALID_ARGUMENT);
  }
  merge_ranks(doubles, world.comm);
  EXPECT_EQ(doubles.rows(), 0) << "the next one works";
}

TEST_F(AccumulatorTest, MisusedHandles) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  EXPECT_EQ(sf_accumulator_mpi_type(nullptr, &type), SF_INVALID_ARGUMENT);
  const Accumulator<double> a;
  EXPECT_EQ(sf_accumulator_mpi_type(a.get(), nullptr), SF_INVALID_ARGUMENT);
  EXPECT_EQ(sf_accumulator_mpi_op(nullptr), SF_INVALID_ARGUMENT);
  EXPECT_EQ(type, MPI_DATATYPE_NULL);
}

/// What MPI adds of rounded sums depends on the number of ranks.
TEST_F(AccumulatorTest, PlainSumsDiffer) {
  if (world.size < 3) return;
  bool differs = false;
  for (int round = 0; round < 20; ++round) {
    const auto all = wide_numbers<double>(1000, random);
    double whole = 0;
    for (const double x : all) whole += x;
    double part = 0;
    for (const double x : mine(all, random_starts(all.size()))) part += x;
    double sum = 0;
    MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, world.comm);
    differs = differs || !same_bits(sum, whole);
  }
  EXPECT_TRUE(differs) << "these data do not show it";
}

}  // namespace
}  // namespace steadfold::tests::accumulator_test
