// Counts that no 32-bit integer holds: rows, bytes of rows, bytes of a message. Almost all elements are zeros in pages
// that nobody writes, so that gigabytes of input take no memory. STEADFOLD_FULL=1 adds what takes minutes or 24 GiB.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/operators.hpp"
#include "mpi/outcome.hpp"
#include "mpi/ranks.hpp"
#include "mpi/reference.hpp"

namespace steadfold::tests::large_counts_test {
namespace {

/// Zeros, in memory that is only there where it is written.
template <class T>
class Zeros {
 public:
  explicit Zeros(std::uint64_t count) : memory_(static_cast<T*>(std::calloc(count, sizeof(T))), std::free) {
    if (memory_ == nullptr) std::abort();
    span_ = {memory_.get(), count};
  }
  std::span<T> span() const { return span_; }

 private:
  std::unique_ptr<T, decltype(&std::free)> memory_;
  std::span<T> span_;
};

/// Elements that are not zero, by ascending index.
template <class T>
using Sparse = std::vector<std::pair<std::uint64_t, T>>;

/// Those of [begin, end) go to where that part lies.
template <class T>
void place(const Sparse<T>& some, std::uint64_t begin, std::uint64_t end, std::span<T> part) {
  for (const auto& [index, value] : some)
    if (index >= begin && index < end) part[index - begin] = value;
}

using Byte = unsigned char;

/// Neither commutative nor associative; zeros do not stay zeros.
constexpr auto combine = [](Byte l, Byte r) __attribute__((always_inline)) {
  return static_cast<Byte>((3 * l + 5 * r + 7) ^ (l >> 3));
};
/// Called for billions of bytes.
struct CombineArrays {
  __attribute__((optimize("O3"))) void operator()(const Byte* left, const Byte* right, Byte* result,
                                                  std::size_t count) const noexcept {
    for (std::size_t i = 0; i < count; ++i) result[i] = combine(left[i], right[i]);
  }
};

/// The tree over n bytes of which few are not zero: full nodes of zeros are the same everywhere.
class SparseTree {
 public:
  SparseTree(std::uint64_t n, const Sparse<Byte>& some) : n_(n), some_(some), zeros_{0} {
    while (zeros_.size() < 40) zeros_.push_back(combine(zeros_.back(), zeros_.back()));
  }
  Byte root() const {
    unsigned levels = 0;
    while ((std::uint64_t{1} << levels) < n_) ++levels;
    return node(0, levels);
  }

 private:
  Byte node(std::uint64_t x, unsigned y) const {
    const std::uint64_t end = x + (std::uint64_t{1} << y);
    const auto next = std::lower_bound(some_.begin(), some_.end(), std::pair(x, Byte{0}));
    const bool has_some = next != some_.end() && next->first < end;
    if (!has_some && end <= n_) return zeros_[y];
    if (y == 0) return next->second;
    const Byte left = node(x, y - 1);
    const std::uint64_t right = x + (std::uint64_t{1} << (y - 1));
    return right < n_ ? combine(left, node(right, y - 1)) : left;
  }

  std::uint64_t n_;
  const Sparse<Byte>& some_;
  std::vector<Byte> zeros_;  // by level
};

constexpr std::uint64_t two_31 = std::uint64_t{1} << 31;
constexpr std::uint64_t two_32 = std::uint64_t{1} << 32;

class LargeCountsTest : public testing::Test {
 protected:
  Ranks world;
};

TEST_F(LargeCountsTest, TheSparseTreeIsTheTree) {
  for (const std::uint64_t n : {1, 2, 5, 64, 77, 1000}) {
    const Sparse<Byte> some = {{n / 3, 9}, {n - 1, 200}};
    std::vector<Byte> all(n, 0);
    place(some, 0, n, std::span(all));
    const Sparse<Byte> by_index(some.begin() + (n / 3 == n - 1 ? 1 : 0), some.end());
    EXPECT_TRUE(is(SparseTree(n, by_index).root(), reference::tree(std::span<const Byte>(all), combine))) << n;
  }
}

#ifdef OPEN_MPI
constexpr bool is_open_mpi = true;
#else
constexpr bool is_open_mpi = false;
#endif

/// More than 2^31 rows on rank 0, and more than 2^31 before those of the last rank, in rank order and by intervals.
/// What could fail here is free of MPI and takes long: one rank alone and other libraries try it in the full sweep
/// only.
TEST_F(LargeCountsTest, RowsByTheTree) {
  if (!full() && (world.size == 1 || !is_open_mpi)) return;
  const std::uint64_t n = two_31 + (1 << 20) + 5;
  const std::uint64_t cut = world.size == 1 ? n : two_31 + 3;  // the last rank has what is above, any others nothing
  const std::uint64_t begin = world.rank == 0 ? 0 : world.rank == world.size - 1 ? cut : n;
  const std::uint64_t end = world.rank == 0 ? cut : n;
  const Sparse<Byte> some = {{3, 17}, {two_31 - 1, 5}, {two_31 + 2, 6}, {two_31 + 3, 77}, {n - 1, 123}};
  const Zeros<Byte> mine(end - begin);
  place(some, begin, end, mine.span());
  const std::span<const Byte> rows = mine.span();
  const Byte wanted = SparseTree(n, some).root();
  const Byte without_last = SparseTree(n, {some.begin(), some.end() - 1}).root();
  EXPECT_FALSE(same_bits(wanted, without_last)) << "the last row counts";
  if (full()) {
    EXPECT_TRUE(is(reduce(rows, CombineArrays(), world.comm), wanted)) << "in rank order";
  }
  EXPECT_TRUE(is(reduce(rows, CombineArrays(), world.comm, {.layout = Layout::intervals({{begin, end}}, n)}), wanted));
}

/// Rows that end more than 2^32 bytes from the first.
TEST_F(LargeCountsTest, BytesOfRows) {
  const std::uint64_t columns = 2048;
  const std::uint64_t rows = two_32 / (columns * sizeof(double)) + 3;
  const Zeros<double> mine(rows * columns);
  const double last = 0x1p-30 * (world.rank + 1);
  mine.span()[0] = 1;
  mine.span()[1] = 3;
  mine.span()[(rows - 1) * columns] = last;
  mine.span()[rows * columns - 1] = -last;
  sf_call call = sf_call_default();
  call.columns = columns;
  call.rows = rows;
  std::vector<double> sums(columns, 7.0);
  ASSERT_EQ(sf_reduce(&call, mine.span().data(), nullptr, sums.data(), world.comm), SF_OK) << sf_error_text();
  const double p = world.size;
  const double of_last = 0x1p-30 * p * (p + 1) / 2;
  EXPECT_TRUE(is(sums[0], p + of_last));
  EXPECT_TRUE(is(sums[1], 3 * p));
  EXPECT_TRUE(is(sums[2], 0.0));
  EXPECT_TRUE(is(sums[columns - 1], -of_last));
}

// --- what takes more -------------------------------------------------------------------------------------------------

std::uint64_t available_bytes() {
  std::FILE* const file = std::fopen("/proc/meminfo", "r");
  if (file == nullptr) return 0;
  unsigned long long kilobytes = 0;
  char line[200];
  while (std::fgets(line, sizeof line, file) != nullptr)
    if (std::sscanf(line, "MemAvailable: %llu", &kilobytes) == 1) break;
  std::fclose(file);
  return kilobytes * 1024;
}

/// Whether the long ones run here, with `gibibytes` of memory; the same on every rank.
bool runs_full(const Ranks& world, std::uint64_t gibibytes) {
  int runs = full() && available_bytes() > gibibytes << 30 ? 1 : 0;
  MPI_Bcast(&runs, 1, MPI_INT, 0, world.comm);
  if (full() && runs == 0 && world.rank == 0)
    std::printf("not run: needs %llu GiB of memory\n", static_cast<unsigned long long>(gibibytes));
  return runs != 0;
}

TEST_F(LargeCountsTest, RowsByExactSums) {
  if (!runs_full(world, 2)) return;
  const std::uint64_t n = two_31 + 10;  // of every rank
  const Zeros<float> mine(n);
  mine.span()[0] = 1;
  mine.span()[two_31 - 1] = 0x1p-60f;
  mine.span()[n - 1] = -1;
  const std::span<const float> rows = mine.span();
  EXPECT_TRUE(is(sum(rows, world.comm), 0x1p-60f * static_cast<float>(world.size)));
  EXPECT_TRUE(is(norm2(rows, world.comm), static_cast<float>(std::sqrt(2.0 * world.size))));
}

/// A message of more than 2^31 bytes, to rank 0.
TEST_F(LargeCountsTest, Columns) {
  if (!runs_full(world, 24)) return;
  const std::uint64_t columns = two_31 / sizeof(float) + 1000;
  const Zeros<float> mine(columns);
  Zeros<float> result(world.rank == 0 ? columns : 1);
  for (const std::uint64_t place : {std::uint64_t{0}, columns / 2, columns - 1})
    mine.span()[place] = static_cast<float>(world.rank + 1 + place % 10);
  sf_call call = sf_call_default();
  call.type = call.result_type = SF_F32;
  call.method = SF_PLAIN;
  call.layout = SF_ROW_PER_RANK;
  call.rows = 1;
  call.columns = columns;
  call.root = 0;
  ASSERT_EQ(sf_reduce(&call, mine.span().data(), nullptr, result.span().data(), world.comm), SF_OK) << sf_error_text();
  if (world.rank != 0) return;
  const auto p = static_cast<float>(world.size);
  for (const std::uint64_t place : {std::uint64_t{0}, columns / 2, columns - 1})
    EXPECT_TRUE(is(result.span()[place], p * (p + 1) / 2 + p * static_cast<float>(place % 10))) << place;
  EXPECT_TRUE(is(result.span()[columns - 2], 0.0f));
}

}  // namespace
}  // namespace steadfold::tests::large_counts_test
