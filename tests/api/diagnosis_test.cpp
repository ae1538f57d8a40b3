// What is said of a sum: against the definitions, on terms whose sums are known. The bound holds, and is not so wide
// that anything would.
#include "steadfold/diagnosis.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace steadfold::test::diagnosis_test {
namespace {

TEST(Diagnoses, AreThoseOfTheDefinitions) {
  const std::vector<double> x = {1e16, 1, 1, -1e16};
  const auto d = diagnosis(x);
  EXPECT_EQ(d.sum, 2);
  EXPECT_EQ(d.plain, 0);
  EXPECT_EQ(d.absolute_sum, 2e16 + 2);
  EXPECT_EQ(d.count, 4u);
  EXPECT_EQ(d.difference(), 1);
  EXPECT_EQ(d.condition(), 1e16 + 1);
  const double lost = 2 * 0x1p-53;
  EXPECT_EQ(d.tree_bound(), lost / (1 - lost) * (1e16 + 1));
}

TEST(Diagnoses, OfSumsThatAreNothing) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto cancelled = diagnosis(std::vector<double>{1, 1e-30, -1, -1e-30});
  EXPECT_EQ(cancelled.sum, 0);
  EXPECT_EQ(cancelled.difference(), infinity);  // 1 + 1e-30 is 1, so the loop comes to -1e-30
  EXPECT_EQ(cancelled.condition(), infinity);
  EXPECT_EQ(cancelled.tree_bound(), infinity);
  for (const auto& x : {std::vector<double>{}, std::vector<double>{0, -0.0}}) {
    const auto none = diagnosis(x);
    EXPECT_EQ(none.difference(), 0);
    EXPECT_EQ(none.condition(), 0);
    EXPECT_EQ(none.tree_bound(), 0);
  }
  EXPECT_EQ(diagnosis(std::vector<double>{-3}).tree_bound(), 0);
  EXPECT_EQ(diagnosis(std::vector<double>{-3}).condition(), 1);
}

template <class T>
void expect_bound() {
  T widest = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    std::vector<T> x(2 + random() % 2000);
    for (T& each : x)
      each = static_cast<T>(
          std::ldexp((static_cast<double>(random() % 2001) - 1000) / 7, static_cast<int>(random() % 20)));
    const auto d = diagnosis(x, {.threads = 2});
    if (d.sum == 0) continue;
    const T error = std::abs(sum(x, tree()) - d.sum) / std::abs(d.sum);
    // The exact sum is rounded, too: half a unit in its last place.
    EXPECT_LE(error, d.tree_bound() + std::numeric_limits<T>::epsilon());
    widest = std::max(widest, error / d.tree_bound());
  }
  EXPECT_GT(widest, T(0.01));
}

TEST(Diagnoses, BoundTheErrorOfTheTree) {
  expect_bound<double>();
  expect_bound<float>();
}

}  // namespace
}  // namespace steadfold::test::diagnosis_test
