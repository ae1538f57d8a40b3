// Sums as two doubles against integers of 128 bits: every count, terms whose bits lie at most so far apart, and what
// two doubles do not hold, on every target.
#include "kernels/pair.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "support/targets.hpp"

namespace steadfold::test {
namespace {

using order::Count;

__extension__ typedef __int128 Int128;

class Pairs : public EveryTarget {
 protected:
  template <class T>
  kernels::SumAsPair kernel() const {
    return kernels::sum_as_pair<T>(GetParam());
  }
};

/// Whole numbers of 53 bits times powers of two, below 2^(bits + 1).
std::vector<Int128> whole_numbers(std::mt19937_64& random, Count count, int bits) {
  std::vector<Int128> numbers(count);
  for (Int128& number : numbers) {
    const auto mantissa = static_cast<Int128>(random() >> 11);
    number = (mantissa << (random() % static_cast<unsigned>(bits - 52))) * (random() % 2 == 0 ? 1 : -1);
  }
  return numbers;
}

template <class T>
void expect_sums(kernels::SumAsPair kernel, int bits) {
  if (kernel == nullptr) return;
  std::mt19937_64 random(31);
  for (Count count = 1; count <= 2 * kernels::most_in_pair; ++count) {
    for (int round = 0; round < 20; ++round) {
      std::vector<T> x;
      Int128 sum = 0;
      for (const Int128 number : whole_numbers(random, count, bits)) {
        x.push_back(static_cast<T>(number));
        sum += static_cast<Int128>(x.back());
      }
      std::array<double, 2> pair{};
      ASSERT_EQ(kernel(x.data(), count, pair.data()), sum != 0) << count;
      ASSERT_TRUE(static_cast<Int128>(pair[0]) + static_cast<Int128>(pair[1]) == sum) << count;
      ASSERT_EQ(std::bit_cast<std::uint64_t>(pair[0]), std::bit_cast<std::uint64_t>(static_cast<double>(sum))) << count;
    }
  }
}

TEST_P(Pairs, HoldSumsOfNearExponents) {
  expect_sums<double>(kernel<double>(), 60);
  expect_sums<double>(kernel<double>(), 90);
  expect_sums<float>(kernel<float>(), 90);
}

TEST_P(Pairs, AreRefusedWhereTheyDoNotHoldTheSum) {
  if (kernel<double>() == nullptr) return;
  for (Count count = 3; count <= kernels::most_in_pair; ++count) {
    std::array<double, 2> pair{};
    std::vector<double> x(count, 1.0);
    x[count / 2] = 0x1p300;
    x[count - 1] = 0x1p-300;
    EXPECT_FALSE(kernel<double>()(x.data(), count, pair.data())) << count;
    std::vector<double> zero(count, count % 2 == 0 ? -0.0 : 0.0);
    EXPECT_FALSE(kernel<double>()(zero.data(), count, pair.data())) << count;
  }
}

TEST_P(Pairs, AreRefusedWhereATermIsNotFinite) {
  if (kernel<double>() == nullptr) return;
  for (Count count = 1; count <= kernels::most_in_pair; ++count) {
    for (Count at = 0; at < count; ++at) {
      for (const double special : {HUGE_VAL, -HUGE_VAL, std::nan("7")}) {
        std::vector<double> x(count, 1.0);
        std::vector<float> y(count, 1.0F);
        x[at] = special;
        y[at] = static_cast<float>(special);
        std::array<double, 2> pair{};
        EXPECT_FALSE(kernel<double>()(x.data(), count, pair.data())) << count << " at " << at;
        EXPECT_FALSE(kernel<float>()(y.data(), count, pair.data())) << count << " at " << at;
      }
    }
  }
}

/// The largest numbers cancel or do not: never a wrong sum.
TEST_P(Pairs, OfTheLargestNumbers) {
  if (kernel<double>() == nullptr) return;
  constexpr double most = std::numeric_limits<double>::max();
  for (Count count = 2; count <= 20; ++count) {
    std::vector<double> x(count, most);
    std::array<double, 2> pair{};
    EXPECT_FALSE(kernel<double>()(x.data(), count, pair.data())) << count;
    x.assign(count, 0.0);
    x.front() = most;
    x.back() = 0x1p-1074;
    ASSERT_TRUE(kernel<double>()(x.data(), count, pair.data())) << count;
    EXPECT_EQ(pair, (std::array<double, 2>{most, 0x1p-1074})) << count;
  }
}

STEADFOLD_EVERY_TARGET(Pairs);

}  // namespace
}  // namespace steadfold::test
