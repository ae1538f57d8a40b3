// Distributions against the formulas of [S0] and, for N = 504850 on 256 ranks, its tables 3.1-3.3.
#include "order/distribution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "recursion.hpp"

namespace steadfold::order::distribution_test {
namespace {

constexpr Distribution every[] = {Distribution::lower, Distribution::upper, Distribution::power2,
                                  Distribution::optimized, Distribution::balanced};
constexpr Count sizes[] = {0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 63, 64, 65, 100, 460, 767, 898, 1023, 1024, 1025, 504850};
constexpr Rank rank_counts[] = {1, 2, 3, 4, 5, 7, 8, 16, 31, 64, 100, 256, 1000};

/// Start of every rank, and N.
std::vector<Index> starts(const std::vector<Count>& counts) {
  std::vector<Index> result = {0};
  for (const Count count : counts) result.push_back(result.back() + count);
  return result;
}

template <class Test>
void for_every_case(const Test& test) {
  for (const Count n : sizes) {
    for (const Rank p : rank_counts) {
      SCOPED_TRACE(testing::Message() << "N " << n << ", p " << p);
      test(n, p);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(Distribution, HasNames) {
  Distribution found = Distribution::upper;
  EXPECT_TRUE(distribution_named("lower", found));
  EXPECT_EQ(found, Distribution::lower);
  EXPECT_TRUE(distribution_named("upper", found));
  EXPECT_EQ(found, Distribution::upper);
  EXPECT_TRUE(distribution_named("power2", found));
  EXPECT_EQ(found, Distribution::power2);
  EXPECT_TRUE(distribution_named("optimized", found));
  EXPECT_EQ(found, Distribution::optimized);
  EXPECT_TRUE(distribution_named("balanced", found));
  EXPECT_EQ(found, Distribution::balanced);
  for (const auto* name : {"", "Lower", "lower ", "optimised", "power"}) EXPECT_FALSE(distribution_named(name, found));
}

TEST(Distribution, SpreadsAllElements) {
  for_every_case([](Count n, Rank p) {
    for (const Distribution distribution : every) {
      for (const double deviation : {0.0, 0.2, 1.0, 100.0}) {
        const std::vector<Count> spread = counts(distribution, n, p, deviation);
        ASSERT_EQ(spread.size(), static_cast<std::size_t>(p));
        EXPECT_EQ(std::accumulate(spread.begin(), spread.end(), Count{0}), n) << static_cast<int>(distribution);
        EXPECT_LE(*std::max_element(spread.begin(), spread.end()), n) << static_cast<int>(distribution);
      }
    }
  });
}

TEST(Distribution, LowerAndUpperDifferByOneElement) {
  for_every_case([](Count n, Rank p) {
    const auto ranks = static_cast<Count>(p);
    const std::vector<Count> lower = counts(Distribution::lower, n, p);
    const std::vector<Count> upper = counts(Distribution::upper, n, p);
    for (Count i = 0; i < ranks; ++i) {
      EXPECT_EQ(lower[i], n / ranks + (i < n % ranks ? 1 : 0));          // [S0] eq. 1.3
      EXPECT_EQ(upper[i], n / ranks + (i < ranks - n % ranks ? 0 : 1));  // eq. 1.4 as it is meant
    }
  });
}

TEST(Distribution, Power2RoundsDownAndLeavesTheRestToTheLast) {
  for_every_case([](Count n, Rank p) {
    const auto ranks = static_cast<Count>(p);
    const std::vector<Count> spread = counts(Distribution::power2, n, p);
    if (n < ranks) {
      EXPECT_EQ(spread, counts(Distribution::upper, n, p));
      return;
    }
    Count share = 1;
    while (2 * share * ranks <= n) share *= 2;  // [S0] eq. 3.8
    for (Count i = 0; i + 1 < ranks; ++i) EXPECT_EQ(spread[i], share);
    EXPECT_EQ(spread.back(), n - (ranks - 1) * share);
  });
}

/// The index that the highest power of two divides, among `start` and the `most` indices before it.
Index roundest(Index start, Count most) {
  Index best = start;
  for (Index power = 1; power <= start; power *= 2) {
    const Index candidate = start - start % power;
    if (start - candidate <= most) best = candidate;
  }
  return start <= most ? 0 : best;
}

/// Deviations that are powers of two, so that the bound is an integer.
TEST(Distribution, OptimizedMovesStartsToRoundIndices) {
  for_every_case([](Count n, Rank p) {
    const std::vector<Index> even = starts(counts(Distribution::upper, n, p));
    for (const Count divisor : {1u, 2u, 4u, 8u}) {
      const double deviation = 1.0 / static_cast<double>(divisor);
      const std::vector<Index> moved = starts(counts(Distribution::optimized, n, p, deviation));
      const Count most = n / (static_cast<Count>(p) * divisor);
      for (std::size_t i = 0; i < moved.size(); ++i) {
        EXPECT_LE(moved[i], even[i]) << i;
        if (i + 1 == moved.size()) continue;
        EXPECT_LE(even[i] - moved[i], most) << i;  // [S0] eq. 3.9
        EXPECT_LE(moved[i], moved[i + 1]) << i;
        EXPECT_EQ(moved[i], roundest(even[i], most)) << i;
      }
    }
    EXPECT_EQ(starts(counts(Distribution::optimized, n, p, 0.0)), even);
  });
}

/// The cost by its definition, round by round from the senders' side, nodes by doubling.
double seconds_of(const std::vector<Count>& spread) {
  const std::vector<Index> start = starts(spread);
  std::size_t nodes = 0;
  for (std::size_t bit = 1; bit < spread.size(); bit *= 2) {
    std::size_t largest = 0;
    for (std::size_t rank = 0; rank < spread.size(); ++rank) {
      if (rank % bit != 0 || rank / bit % 2 == 0) continue;  // not a sender of this round
      const std::size_t end = std::min(rank + bit, spread.size());
      largest = std::max(largest, reference::nodes_from_left(start[rank], start[end]).size());
    }
    nodes += largest;
  }
  return 4.15e-9 * static_cast<double>(*std::max_element(spread.begin(), spread.end())) +
         4.95e-9 * static_cast<double>(nodes);
}

TEST(Distribution, BalancedCostsNoMoreThanItsNeighbours) {
  for_every_case([](Count n, Rank p) {
    const std::vector<Count> found = counts(Distribution::balanced, n, p);
    EXPECT_NEAR(balance_seconds(found), seconds_of(found), 1e-12);
    for (const double deviation : {0.0, 0.2, 1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125})
      EXPECT_LE(balance_seconds(found), balance_seconds(counts(Distribution::optimized, n, p, deviation)));
    const double deviation = balanced_deviation(n, p);
    EXPECT_EQ(found, counts(Distribution::optimized, n, p, deviation));
    for (const double smaller : {0.0, 0.03125, 0.0625, 0.125, 0.2, 0.25, 0.5}) {  // of equals the smallest is taken
      if (smaller >= deviation) break;
      EXPECT_LT(balance_seconds(found), balance_seconds(counts(Distribution::optimized, n, p, smaller))) << smaller;
    }
  });
}

/// The search must be worth its name: neither of its ends is the answer here.
TEST(Distribution, BalancedIsCheaperThanEvenAndThanTheUsualDeviation) {
  const auto seconds = [](Distribution rule) { return balance_seconds(counts(rule, 21410970, 1280)); };
  EXPECT_LT(seconds(Distribution::balanced), seconds(Distribution::upper));
  EXPECT_LT(seconds(Distribution::balanced), seconds(Distribution::optimized));
}

/// Nodes of which the left and the right child lie on different ranks: index x > 0 is the right child of the node at x
/// less its lowest power of two. Brute force over all N indices.
Count intersecting_nodes(const std::vector<Count>& spread) {
  std::vector<Rank> holder;
  for (std::size_t rank = 0; rank < spread.size(); ++rank)
    holder.insert(holder.end(), spread[rank], static_cast<Rank>(rank));
  Count found = 0;
  for (Index x = 1; x < holder.size(); ++x) {
    Index power = 1;
    while (x % (2 * power) == 0) power *= 2;
    if (holder[x] != holder[x - power]) ++found;
  }
  return found;
}

TEST(Distribution, NodesAcrossRanksAsPublished) {
  const auto found = [](Distribution distribution) { return intersecting_nodes(counts(distribution, 504850, 256)); };
  EXPECT_EQ(found(Distribution::lower), 1640u);     // [S0] table 3.1
  EXPECT_EQ(found(Distribution::upper), 1401u);     // table 3.1
  EXPECT_EQ(found(Distribution::power2), 256u);     // table 3.2
  EXPECT_LE(found(Distribution::optimized), 621u);  // table 3.3, which Algorithm 3 as printed does not reach
}

/// [S0] eq. 2.4: what `lower` takes for N = 2^i p + 1, the most of all N; at least p - 1 whatever N >= p is.
TEST(Distribution, LowerIsWorstOneElementAboveRoundShares) {
  for (const Rank p : {2, 4, 7, 16}) {
    const auto others = static_cast<Count>(p - 1);
    for (int i = 0; i < 8; ++i) {
      const Count round = (Count{1} << i) * static_cast<Count>(p);
      EXPECT_EQ(intersecting_nodes(counts(Distribution::lower, round + 1, p)), others * static_cast<Count>(i + 1))
          << round << " + 1 on " << p;
      EXPECT_GE(intersecting_nodes(counts(Distribution::lower, round, p)), others) << round << " on " << p;
    }
  }
}

}  // namespace
}  // namespace steadfold::order::distribution_test
