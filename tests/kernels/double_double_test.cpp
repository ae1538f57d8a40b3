// Sums as two doubles against integers of 128 bits: every count, terms whose exponents lie at most so far apart, and
// what is refused, on every target.
#include "kernels/double_double.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "support/targets.hpp"

namespace steadfold::test::double_double_test {
namespace {

using order::Count;

__extension__ typedef __int128 Int128;

class DoubleDoubles : public EveryTarget {
 protected:
  template <class T>
  kernels::SumAsDoubleDouble kernel() const {
    return kernels::sum_as_double_double<T>(GetParam());
  }
};

using kernels::DoubleDoubleSum;

/// Whole numbers of 53 bits, the first of which is set, times powers of two up to 2^spread; some are 0.
std::vector<Int128> whole_numbers(std::mt19937_64& random, Count count, int spread) {
  std::vector<Int128> numbers(count);
  for (Int128& number : numbers) {
    const auto mantissa = static_cast<Int128>(random() >> 12 | std::uint64_t{1} << 52);
    number = (mantissa << (random() % static_cast<unsigned>(spread + 1))) * (random() % 2 == 0 ? 1 : -1);
    if (random() % 8 == 0) number = 0;
  }
  return numbers;
}

/// `may_be_refused`: the exponents may lie too far apart.
template <class T>
void expect_sums(kernels::SumAsDoubleDouble kernel, int spread, bool may_be_refused) {
  if (kernel == nullptr) return;
  std::mt19937_64 random(31);
  for (Count count = 1; count <= kernels::most_in_double_double; ++count) {
    for (int round = 0; round < 100; ++round) {
      std::vector<T> x;
      Int128 sum = 0;
      double largest = 0;
      double least = HUGE_VAL;
      for (const Int128 number : whole_numbers(random, count, spread)) {
        x.push_back(static_cast<T>(number));
        sum += static_cast<Int128>(x.back());
        const double magnitude = std::fabs(static_cast<double>(x.back()));
        largest = std::max(largest, magnitude);
        if (magnitude != 0) least = std::min(least, magnitude);
      }
      DoubleDoubleSum found{};
      const bool is_held = kernel(x.data(), count, found);
      ASSERT_TRUE(is_held == (sum != 0) || (may_be_refused && !is_held)) << count;
      if (!is_held) continue;
      ASSERT_TRUE(static_cast<Int128>(found.high) + static_cast<Int128>(found.low) == sum) << count;
      ASSERT_EQ(found.high + found.low, static_cast<double>(sum)) << count;
      ASSERT_EQ(found.largest, largest) << count;
      ASSERT_EQ(found.least, least) << count;
    }
  }
}

TEST_P(DoubleDoubles, HoldSumsOfNearExponents) {
  for (const int spread : {0, 8, 30, kernels::widest_in_double_double}) {
    expect_sums<double>(kernel<double>(), spread, false);
    if (spread < kernels::widest_in_double_double)
      expect_sums<float>(kernel<float>(), spread, false);  // rounding adds a binade
  }
  expect_sums<double>(kernel<double>(), 60, true);
  expect_sums<float>(kernel<float>(), 60, true);
}

/// As many terms as there may be, all as large as the widest spread lets them be, and one that is the least.
TEST_P(DoubleDoubles, HoldWhatTheBoundAllows) {
  if (kernel<double>() == nullptr) return;
  std::mt19937_64 random(37);
  for (int round = 0; round < 2000; ++round) {
    std::vector<double> x(kernels::most_in_double_double);
    Int128 sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto mantissa = static_cast<Int128>((std::uint64_t{1} << 53) - 1 - random() % 8);
      const Int128 number = mantissa << (i == random() % x.size() ? 0 : kernels::widest_in_double_double);
      x[i] = static_cast<double>(number) * (round % 2 == 0 || random() % 2 == 0 ? 1 : -1);
      sum += static_cast<Int128>(x[i]);
    }
    DoubleDoubleSum found{};
    ASSERT_TRUE(kernel<double>()(x.data(), x.size(), found));
    ASSERT_TRUE(static_cast<Int128>(found.high) + static_cast<Int128>(found.low) == sum);
  }
}

TEST_P(DoubleDoubles, AreRefusedWhereTheyDoNotHoldTheSum) {
  if (kernel<double>() == nullptr) return;
  for (Count count = 3; count <= kernels::most_in_double_double; ++count) {
    DoubleDoubleSum found{};
    std::vector<double> x(count, 1.0);
    x[count / 2] = 0x1p300;
    x[count - 1] = 0x1p-300;
    EXPECT_FALSE(kernel<double>()(x.data(), count, found)) << count;
    std::vector<double> zero(count, count % 2 == 0 ? -0.0 : 0.0);
    EXPECT_FALSE(kernel<double>()(zero.data(), count, found)) << count;
  }
}

TEST_P(DoubleDoubles, AreRefusedWhereATermIsNotFinite) {
  if (kernel<double>() == nullptr) return;
  for (Count count = 1; count <= kernels::most_in_double_double; ++count) {
    for (Count at = 0; at < count; ++at) {
      for (const double special : {HUGE_VAL, -HUGE_VAL, std::nan("7")}) {
        std::vector<double> x(count, 1.0);
        std::vector<float> y(count, 1.0F);
        x[at] = special;
        y[at] = static_cast<float>(special);
        DoubleDoubleSum found{};
        EXPECT_FALSE(kernel<double>()(x.data(), count, found)) << count << " at " << at;
        EXPECT_FALSE(kernel<float>()(y.data(), count, found)) << count << " at " << at;
        x.assign(count, special);
        EXPECT_FALSE(kernel<double>()(x.data(), count, found)) << count << " of them";
      }
    }
  }
}

/// The largest numbers cancel or do not, the smallest are subnormal: never a wrong sum.
TEST_P(DoubleDoubles, AtTheEndsOfTheRange) {
  if (kernel<double>() == nullptr) return;
  constexpr double most = std::numeric_limits<double>::max();
  constexpr double smallest = 0x1p-1074;
  for (Count count = 2; count <= 20; ++count) {
    std::vector<double> x(count, most);
    DoubleDoubleSum found{};
    EXPECT_FALSE(kernel<double>()(x.data(), count, found)) << count;
    x.assign(count, smallest);
    x.front() = 0x1p-1000;
    ASSERT_TRUE(kernel<double>()(x.data(), count, found)) << count;
    EXPECT_EQ(found.high, 0x1p-1000) << count;
    EXPECT_EQ(found.low, static_cast<double>(count - 1) * smallest) << count;
  }
}

STEADFOLD_EVERY_TARGET(DoubleDoubles);

}  // namespace
}  // namespace steadfold::test::double_double_test
