// Coordinates of the tree against brute force: levels, parents, subtrees, siblings, logarithms.
#include "order/index.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace steadfold::order::index_test {
namespace {

/// The largest y with 2^y | x, by division.
int level_by_division(Index x) {
  int level = 0;
  for (; x % 2 == 0; x /= 2) ++level;
  return level;
}

Index power(int exponent) {
  Index result = 1;
  for (int i = 0; i < exponent; ++i) result *= 2;
  return result;
}

TEST(Index, MaxLevelIsTheLargestPowerThatDivides) {
  EXPECT_EQ(max_level(0), 63);
  for (Index x = 1; x <= 1 << 12; ++x) EXPECT_EQ(max_level(x), level_by_division(x)) << x;
  std::mt19937_64 random(1);
  for (int i = 0; i < 10000; ++i) {
    const int level = static_cast<int>(random() % 64);
    const Index x = (random() | 1) * power(level);
    EXPECT_EQ(max_level(x), level_by_division(x)) << x;
  }
}

/// [S0] eq. 3.1 by looking for the one node (start, y) whose right child (start + 2^(y-1), y-1) is the largest at x.
TEST(Index, ParentTakesTheLargestNodeInAsItsRightChild) {
  for (Index x = 1; x <= 512; ++x) {
    int found = 0;
    for (int y = 1; y <= 11; ++y) {
      for (Index start = 0; start < x; start += power(y)) {
        if (start + power(y - 1) != x) continue;
        ++found;
        EXPECT_EQ(parent(x), start) << x;
        EXPECT_EQ(max_level(x), y - 1) << x;
      }
    }
    EXPECT_EQ(found, 1) << x;
  }
}

TEST(Index, LargestSubtreeChildIsTheLastIndexOfTheLargestNode) {
  for (Index x = 1; x <= 2048; ++x) {
    Index last = x;
    while ((last + 1) / power(level_by_division(x)) == x / power(level_by_division(x))) ++last;
    EXPECT_EQ(largest_subtree_child(x), last) << x;
  }
}

TEST(Index, LargeIndices) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 10000; ++i) {
    const Index x = random() >> (random() % 64);
    if (x == 0) continue;
    const Index size = power(level_by_division(x));
    EXPECT_EQ(parent(x), x - size) << x;
    EXPECT_EQ(largest_subtree_child(x), x + (size - 1)) << x;
  }
  EXPECT_EQ(parent(power(63)), 0u);
  EXPECT_EQ(largest_subtree_child(power(63)), std::numeric_limits<Index>::max());
}

TEST(Index, LogarithmsByMultiplication) {
  const auto expect = [](Count n) {
    int up = 0;
    for (; up < 64 && power(up) < n; ++up) {
    }
    EXPECT_EQ(ceil_log2(n), up) << n;
    int down = 63;
    for (; down > 0 && power(down) > n; --down) {
    }
    if (n > 0) {
      EXPECT_EQ(floor_log2(n), down) << n;
    }
  };
  EXPECT_EQ(ceil_log2(0), 0);
  EXPECT_EQ(ceil_log2(1), 0);
  EXPECT_EQ(ceil_log2(std::numeric_limits<Count>::max()), 64);
  for (Count n = 1; n <= 5000; ++n) expect(n);
  for (int exponent = 1; exponent < 64; ++exponent) {
    for (const Count n : {power(exponent) - 1, power(exponent), power(exponent) + 1}) expect(n);
  }
}

}  // namespace
}  // namespace steadfold::order::index_test
