// Threads within one process: the same bits for any number of them, operators that run in all of them, and what goes
// wrong there.
#include <gtest/gtest.h>

#include <cfenv>
#include <mutex>
#include <set>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/inputs.hpp"
#include "mpi/operators.hpp"
#include "mpi/reference.hpp"
#include "steadfold/steadfold.hpp"
#include "support/sanitized.hpp"

namespace steadfold::tests::threads_test {
namespace {

constexpr unsigned all_thread_counts[] = {0, 2, 3, 8, 1, 4, 5, 7, 16, 33};
constexpr std::span thread_counts = std::span(all_thread_counts).first(test::sanitized ? 3 : 10);
constexpr std::size_t sizes[] = {0, 1, 2, 3, 7, 16, 33, 64, 1000, 4097, 30011};
constexpr std::size_t large = test::sanitized ? 600007 : 1200007;  // elements that are worth several threads

class ThreadsTest : public testing::Test {
 protected:
  Random random{20240507};
};

/// `call(threads)` for every number of them, against that of one.
template <class Call>
void expect_same(const std::string& what, const Call& call) {
  const auto alone = call(1U);
  for (const unsigned threads : thread_counts) EXPECT_TRUE(is(call(threads), alone)) << what << ", " << threads;
}

template <class T>
void expect_sums(Random& random) {
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{4097}, large}) {
    const std::vector<T> x = elements<T>(n, random);
    const std::string what = std::to_string(n) + " elements";
    const auto sum_by = [&x](Method method) {
      return [&x, method](unsigned threads) { return sum(x, {.method = method, .threads = threads}); };
    };
    expect_same(what, sum_by({}));
    expect_same(what, sum_by(tree()));
    expect_same(what, [&](unsigned threads) { return reduce(x, times, {.method = tree(), .threads = threads}); });
    if constexpr (std::floating_point<T>) {
      expect_same(what, sum_by(exact()));
      expect_same(what, [&](unsigned threads) { return dot(x, x, {.threads = threads}); });
      expect_same(what, [&](unsigned threads) { return norm2(x, {.threads = threads}); });
    }
    if (n == 0) continue;
    EXPECT_TRUE(is(sum(x, {.method = tree(), .threads = 3}), tree_of(x, add))) << n;
    expect_same(what, [&](unsigned threads) { return steadfold::min(x, {.threads = threads}); });
    expect_same(what, [&](unsigned threads) { return steadfold::max(x, {.threads = threads}); });
    expect_same(what, [&](unsigned threads) { return min_location(x, {.threads = threads}).index; });
    expect_same(what, [&](unsigned threads) { return max_location(x, {.threads = threads}).value; });
    if constexpr (std::floating_point<T>)
      expect_same(what, [&](unsigned threads) { return mean(x, {.threads = threads}); });
  }
}

TEST_F(ThreadsTest, SumDoubles) { expect_sums<double>(random); }
TEST_F(ThreadsTest, SumFloats) { expect_sums<float>(random); }
TEST_F(ThreadsTest, SumIntegers) {
  expect_sums<std::int32_t>(random);
  expect_sums<std::uint64_t>(random);
}

TEST_F(ThreadsTest, KeepTheirWordOnHostileValues) {
  for (const Hostile& input : hostile_inputs()) {
    const std::span<const double> x(input.x);
    for (const unsigned threads : {2U, 3U, 8U}) {
      EXPECT_TRUE(is(sum(input.x, {.threads = threads}), reference::exact_sum(x))) << input.name;
      EXPECT_TRUE(is(norm2(input.x, {.threads = threads}), reference::exact_norm2(x))) << input.name;
      if (!input.x.empty()) {
        EXPECT_TRUE(is(sum(input.x, {.method = tree(), .threads = threads}), tree_of(input.x, add))) << input.name;
      }
    }
  }
}

TEST_F(ThreadsTest, ReduceByAnyOperator) {
  for (const std::size_t n : sizes) {
    if (n == 0) continue;
    const std::vector<double> x = elements<double>(n, random);
    const std::vector<Hash> hashes = elements<Hash>(n, random);
    const std::vector<Matrix> matrices = elements<Matrix>(n, random);
    for (const unsigned threads : thread_counts) {
      EXPECT_TRUE(is(reduce(x, subtract, {.threads = threads}), tree_of(x, subtract))) << n << ", " << threads;
      EXPECT_TRUE(is(reduce(hashes, MixArrays(), {.threads = threads}), tree_of(hashes, mix_hashes)))
          << n << ", " << threads;
      EXPECT_TRUE(is(reduce(matrices, matrix_product, {.threads = threads}), tree_of(matrices, matrix_product)))
          << n << ", " << threads;
    }
  }
}

/// The control: what threads do to a sum in no fixed order.
TEST_F(ThreadsTest, ChangeThePlainSum) {
  const std::vector<double> x = elements<double>(large, random);
  EXPECT_FALSE(same_bits(sum(x, {.method = plain(), .threads = 1}), sum(x, {.method = plain(), .threads = 4})));
  EXPECT_THROW(sum(x, {.method = plain(), .threads = 4, .require = guarantees::threads}), Error);
}

/// Rows of several columns, in intervals that stand in memory in another order than in the job.
TEST_F(ThreadsTest, TakeRowsAndIntervals) {
  constexpr std::uint64_t columns = 3;
  const std::vector<sf_interval> intervals = {{140000, 300200}, {0, 2600}, {100000, 140000}, {2600, 100000}};
  const std::vector<double> x = elements<double>(300200 * columns, random);
  for (const sf_method method : {SF_TREE, SF_EXACT}) {
    sf_call call = sf_call_default();
    call.method = method;
    call.columns = columns;
    call.rows = 300200;
    call.layout = SF_INTERVALS;
    call.intervals = intervals.data();
    call.interval_count = intervals.size();
    std::vector<double> alone(columns);
    ASSERT_EQ(sf_reduce_local(&call, x.data(), nullptr, alone.data()), SF_OK) << sf_error_text();
    for (const unsigned threads : thread_counts) {
      call.threads = threads;
      std::vector<double> result(columns);
      ASSERT_EQ(sf_reduce_local(&call, x.data(), nullptr, result.data()), SF_OK) << sf_error_text();
      EXPECT_TRUE(are(result, alone)) << threads;
    }
  }
}

TEST_F(ThreadsTest, ThatWereAskedForRun) {
  const std::vector<double> x = elements<double>(5000, random);
  for (const unsigned threads : thread_counts) {
    std::mutex mutex;
    std::set<std::thread::id> seen;
    const auto op = [&](double a, double b) {
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
      return a - b;
    };
    EXPECT_TRUE(is(reduce(x, op, {.threads = threads}), tree_of(x, subtract)));
    EXPECT_EQ(seen.size(), std::max(threads, 1U));
    EXPECT_TRUE(seen.contains(std::this_thread::get_id()));
  }
}

TEST_F(ThreadsTest, RethrowWhatAnOperatorThrew) {
  struct Mine {
    int number;
  };
  const std::vector<double> x = elements<double>(5000, random);
  const auto caller = std::this_thread::get_id();
  for (const bool everywhere : {true, false}) {
    const auto op = [&](double a, double b) {
      if (everywhere || std::this_thread::get_id() != caller) throw Mine{42};
      return a + b;
    };
    try {
      reduce(x, op, {.threads = 4});
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Mine& mine) {
      EXPECT_EQ(mine.number, 42);
    }
    EXPECT_TRUE(is(reduce(x, subtract, {.threads = 4}), tree_of(x, subtract)));
  }
}

TEST_F(ThreadsTest, ReportAnOperatorThatFails) {
  const std::vector<double> x = elements<double>(5000, random);
  sf_call call = sf_call_default();
  call.operation = SF_USER;
  call.type = call.result_type = SF_BYTES;
  call.element_bytes = sizeof(double);
  call.user = [](const void*, const void*, void*, std::size_t, void*) { return 1; };
  call.rows = x.size();
  call.threads = 5;
  double result = 0;
  EXPECT_EQ(sf_reduce_local(&call, x.data(), nullptr, &result), SF_OPERATOR_FAILED);
}

TEST_F(ThreadsTest, MayReduceInsideAnOperator) {
  const std::vector<double> x = elements<double>(300, random);
  const auto op = [](double a, double b) {
    const double both[] = {a, b};
    return sum(both, {.method = tree(), .threads = 2});
  };
  EXPECT_TRUE(is(reduce(x, op, {.threads = 3}), tree_of(x, add)));
}

TEST_F(ThreadsTest, MoreThanAnyMachineHas) {
  const std::vector<double> x(10, 1.0);
  try {
    sum(x, {.threads = 5000});
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), SF_INVALID_ARGUMENT);
    EXPECT_NE(std::string(error.what()).find("5000 threads ("), std::string::npos) << error.what();
  }
}

// --- the floating-point environment ----------------------------------------------------------------------------------

/// Rounds as it says while it lives.
class RoundingMode {
 public:
  explicit RoundingMode(int mode) { std::fesetround(mode); }
  ~RoundingMode() { std::fesetround(FE_TONEAREST); }
};

TEST_F(ThreadsTest, RoundToNearestWhateverTheCallerDoes) {
  const std::vector<double> x = elements<double>(large, random);
  const double wanted = sum(x, tree());
  const RoundingMode upward(FE_UPWARD);
  EXPECT_TRUE(is(sum(x, {.method = tree(), .threads = 4}), wanted));
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
}

TEST_F(ThreadsTest, RunOperatorsInTheCallersEnvironment) {
  const std::vector<double> x = elements<double>(5000, random);
  std::mutex mutex;
  std::set<int> modes;
  const auto op = [&](double a, double b) {
    const std::lock_guard lock(mutex);
    modes.insert(std::fegetround());
    return a - b;
  };
  const RoundingMode upward(FE_UPWARD);
  reduce(x, op, {.threads = 4});
  EXPECT_EQ(modes, std::set<int>{FE_UPWARD});
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
}

TEST_F(ThreadsTest, RaiseFlagsInTheCaller) {
  std::vector<double> x(4000, 1.0);
  x[3998] = x[3999] = 0x1.8p+1023;  // the last thread's alone, siblings in the tree
  std::feclearexcept(FE_ALL_EXCEPT);
  EXPECT_EQ(std::fetestexcept(FE_OVERFLOW), 0);
  sum(x, {.method = tree(), .threads = 4});
  EXPECT_NE(std::fetestexcept(FE_OVERFLOW), 0);
}

}  // namespace
}  // namespace steadfold::tests::threads_test
