// Starts and ranks of elements, in closed form and from tables, against a walk from rank to rank.
#include "order/starts.hpp"

#include <gtest/gtest.h>

#include <random>

#include "order/distribution.hpp"

namespace steadfold::order::starts_test {
namespace {

constexpr Distribution closed[] = {Distribution::lower, Distribution::upper, Distribution::power2};
constexpr Distribution listed[] = {Distribution::optimized, Distribution::balanced};

/// [S0] eq. 3.4 by the loop it was first written as: the rank of every element.
std::vector<Rank> holders(const std::vector<Count>& counts) {
  std::vector<Rank> holder;
  for (std::size_t rank = 0; rank < counts.size(); ++rank)
    holder.insert(holder.end(), counts[rank], static_cast<Rank>(rank));
  return holder;
}

TEST(Starts, AreThoseOfTheList) {
  for (const auto rule : closed) {
    for (Rank p = 1; p <= 20; ++p) {
      for (Count n = 0; n <= 300; ++n) {
        const auto shares = closed_form(rule, n, p).value();
        const auto list = counts(rule, n, p);
        Index start = 0;
        for (Rank rank = 0; rank < p; ++rank) {
          ASSERT_EQ(shares.start(rank), start) << n << " on " << p;
          ASSERT_EQ(shares.count(rank), list[static_cast<std::size_t>(rank)]) << n << " on " << p;
          start += list[static_cast<std::size_t>(rank)];
        }
        ASSERT_EQ(shares.element_count(), n) << p;
      }
    }
  }
}

TEST(RankOf, IsThatOfTheWalk) {
  for (Rank p = 1; p <= 20; ++p) {
    for (Count n = 0; n <= 300; ++n) {
      for (const auto rule : closed) {
        const auto holder = holders(counts(rule, n, p));
        const auto shares = closed_form(rule, n, p).value();
        for (Index x = 0; x < n; ++x) ASSERT_EQ(shares.rank_of(x), holder[x]) << x << " of " << n << " on " << p;
      }
      for (const auto rule : listed) {
        const auto list = counts(rule, n, p);
        const auto holder = holders(list);
        const auto starts = starts_of(list);
        for (Index x = 0; x < n; ++x) ASSERT_EQ(rank_of(starts, x), holder[x]) << x << " of " << n << " on " << p;
      }
    }
  }
}

TEST(RankOf, PassesOverEmptyRanks) {
  const std::vector<Index> starts = starts_of(std::vector<Count>{0, 0, 3, 0, 2, 0});
  EXPECT_EQ(rank_of(starts, 0), 2);
  EXPECT_EQ(rank_of(starts, 2), 2);
  EXPECT_EQ(rank_of(starts, 3), 4);
}

/// Beyond what can be listed: an element lies between its rank's start and the next one's.
TEST(RankOf, HoldsForLargeJobs) {
  std::mt19937_64 random(20220404);
  for (int round = 0; round < 100000; ++round) {
    const Rank p = 1 + static_cast<Rank>(random() >> (34 + random() % 29));
    const Count n = 1 + (random() >> (2 + random() % 40));
    const auto shares = closed_form(closed[random() % std::size(closed)], n, p).value();
    ASSERT_EQ(shares.element_count(), n);
    for (const Index x : {Index{0}, n - 1, random() % n}) {
      const Rank rank = shares.rank_of(x);
      ASSERT_LE(shares.start(rank), x) << n << " on " << p;
      ASSERT_LT(x, shares.start(rank) + shares.count(rank)) << n << " on " << p;
    }
    const Rank rank = static_cast<Rank>(random() % static_cast<std::uint64_t>(p));
    ASSERT_EQ(shares.start(rank) + shares.count(rank), shares.start(rank + 1));
  }
}

}  // namespace
}  // namespace steadfold::order::starts_test
