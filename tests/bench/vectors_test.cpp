#include "bench/vectors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

namespace steadfold::bench::vectors_test {
namespace {

TEST(Vectors, DifferAndStayBelowOne) {
  std::set<double> seen;
  for (int rank = 0; rank < 5; ++rank) {
    for (const double element : columns_of_row<double>(rank, 0, 1000)) {
      EXPECT_LT(std::abs(element), 1);
      seen.insert(element);
    }
  }
  EXPECT_EQ(seen.size(), 5000);
}

TEST(Vectors, AreTheSameInParts) {
  const auto whole = columns_of_row<float>(3, 0, 100);
  const auto part = columns_of_row<float>(3, 40, 60);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 40));
}

/// Otherwise a schedule that merges in a wrong order would go unnoticed.
TEST(Vectors, HaveSumsThatDependOnTheOrder) {
  int different = 0;
  for (std::uint64_t column = 0; column < 100; ++column) {
    const double a = element_at(0, column);
    const double b = element_at(1, column);
    const double c = element_at(2, column);
    different += (a + b) + c != a + (b + c) ? 1 : 0;
  }
  EXPECT_GT(different, 10);
}

template <class T>
std::vector<T> with(std::vector<T> values, std::size_t column, T value) {
  values[column] = value;
  return values;
}

TEST(ExpectedResults, AreTheseBits) {
  const std::vector<double> values = {0.5, -0.0, 3};
  const Expected<double> expected{values};
  const auto wrong_in = [&](std::size_t column, double value) {
    return expected.first_wrong(with(values, column, value));
  };
  EXPECT_FALSE(expected.first_wrong(values));
  EXPECT_EQ(wrong_in(0, std::nextafter(0.5, 1)), 0);
  EXPECT_EQ(wrong_in(1, 0.0), 1);
  EXPECT_EQ(wrong_in(2, std::numeric_limits<double>::quiet_NaN()), 2);
  EXPECT_TRUE(expected.first_wrong(std::vector<double>{0.5, -0.0}));
}

TEST(ExpectedResults, AreNearWhereNothingElseIsPromised) {
  const std::vector<float> values = {1, 2, 3};
  const Expected<float> expected{values, 1e-3};
  const auto wrong_in = [&](std::size_t column, float value) {
    return expected.first_wrong(with(values, column, value));
  };
  EXPECT_FALSE(wrong_in(1, 2.0009f));
  EXPECT_EQ(wrong_in(1, 2.0011f), 1);
  EXPECT_EQ(wrong_in(2, std::numeric_limits<float>::quiet_NaN()), 2);
  EXPECT_EQ(wrong_in(0, -std::numeric_limits<float>::infinity()), 0);
}

}  // namespace
}  // namespace steadfold::bench::vectors_test
