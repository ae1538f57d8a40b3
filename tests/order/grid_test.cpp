// Rules against lists that are made element by element.
#include "order/grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "order/layout.hpp"
#include "support/dealt.hpp"

namespace steadfold::order::grid_test {
namespace {

using test::Dealt;

Grid grid_of(const Dealt& deal) {
  Grid grid;
  const std::size_t before = grid.axes.size() - deal.axes.size();
  for (std::size_t i = 0; i < deal.axes.size(); ++i)
    grid.axes[before + i] = {deal.axes[i].extent, deal.axes[i].ranks, deal.axes[i].block, deal.axes[i].first};
  return grid;
}

/// The rows of ranks first, first + 1, ... as a sorted list without gaps where they touch.
std::vector<Interval> rows_by_hand(const Dealt& deal, RankRange range) {
  std::vector<Interval> rows;
  const std::uint64_t ranks = deal.ranks();
  for (std::uint64_t i = 0; i < deal.elements(); ++i) {
    const std::uint64_t behind = (deal.owner(i) + ranks - static_cast<std::uint64_t>(range.first)) % ranks;
    if (behind >= static_cast<std::uint64_t>(range.count)) continue;
    if (rows.empty() || rows.back().end != i) rows.push_back({i, i});
    rows.back().end = i + 1;
  }
  return rows;
}

TEST(Grid, SaysWhatEveryRankHolds) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 2000 && !testing::Test::HasFailure(); ++i) {
    const std::uint64_t ranks = 1 + random() % 12;
    const Dealt deal = test::some_deal(random, ranks, 60);
    SCOPED_TRACE(deal.text());
    const Grid grid = grid_of(deal);
    ASSERT_EQ(grid.fault(static_cast<Rank>(ranks)), std::nullopt);
    const auto lists = deal.lists<Interval>();
    const Layout listed = Layout::lists(lists);
    const Layout ruled = Layout::of(grid);
    EXPECT_EQ(ruled.rank_count(), static_cast<Rank>(ranks));
    EXPECT_EQ(ruled.element_count(), deal.elements());
    EXPECT_EQ(ruled.in_rank_order(), listed.in_rank_order());
    EXPECT_FALSE(ruled.fault());
    for (Rank rank = 0; rank < ruled.rank_count(); ++rank) {
      const auto& mine = lists[static_cast<std::size_t>(rank)];
      std::vector<Interval> made(3, {7, 9});  // what was there goes
      grid.list(rank, made);
      EXPECT_EQ(made, mine) << "rank " << rank;
      EXPECT_EQ(ruled.intervals(rank), mine) << "rank " << rank;
      EXPECT_EQ(grid.count(rank), listed.local_count(rank)) << "rank " << rank;
      EXPECT_EQ(ruled.local_count(rank), listed.local_count(rank)) << "rank " << rank;
    }
    std::vector<Rank> places(ranks);
    std::iota(places.begin(), places.end(), 0);
    std::shuffle(places.begin(), places.end(), random);
    EXPECT_EQ(ruled.reordered(places), listed.reordered(places));
    const RankRange range{static_cast<Rank>(random() % ranks), static_cast<Rank>(random() % (ranks + 1))};
    const std::vector<Interval> rows = rows_by_hand(deal, range);
    SCOPED_TRACE("ranks from " + std::to_string(range.first) + ", " + std::to_string(range.count) + " of them");
    EXPECT_TRUE(std::ranges::equal(ruled.rows(range).intervals(), rows));
    EXPECT_TRUE(std::ranges::equal(listed.rows(range).intervals(), rows));
  }
}

TEST(Grid, LeavesOneAxisToTheNumberOfRanks) {
  const Grid grid{{{{}, {10, 2}, {7, 0, 3}}}};
  EXPECT_EQ(grid.resolved(8).axes[2].ranks, 4u);
  EXPECT_EQ(grid.fault(8), std::nullopt);
  EXPECT_EQ(grid.fault(7).value(),
            "a grid of 2 x 3 ranks for 7 ranks (every rank has exactly one place in the grid), make the product of the "
            "ranks along the axes equal to the number of ranks");
  EXPECT_EQ(grid.fault(1).value(),
            "a grid of 2 x 1 ranks for 1 rank (every rank has exactly one place in the grid), make the product of the "
            "ranks along the axes equal to the number of ranks");
}

TEST(Grid, FaultsAreNamed) {
  constexpr Count large = Count{1} << 32;
  EXPECT_EQ(
      Grid({{{{}, {large}, {large, 4}}}}).fault(4).value(),
      "a grid of 4294967296 x 4294967296 elements is too large (its elements cannot be counted), check the extents");
  EXPECT_EQ(
      Grid({{{{}, {0, 1}, {Count{1} << 63, 4}}}}).fault(4).value(),
      "a grid of 0 x -9223372036854775808 elements is too large (its elements cannot be counted), check the extents")
      << "beside an extent of 0";
  EXPECT_EQ(Grid({{{{}, {}, {~Count{0}, 4}}}}).fault(4).value(),
            "a grid of -1 elements is too large (its elements cannot be counted), check the extents");
  EXPECT_EQ(Grid({{{{}, {3, 0}, {4, 0}}}}).fault(4).value(),
            "a grid of 0 x 0 ranks (only one axis may have 0 ranks, which the library fills in), give the number of "
            "ranks along the other axes");
  EXPECT_EQ(Grid({{{{}, {}, {9, 5}}}}).fault(4).value(),
            "a grid of 5 ranks for 4 ranks (every rank has exactly one place in the grid), make the product of the "
            "ranks along the axes equal to the number of ranks");
  EXPECT_EQ(Grid({{{{}, {3, 2, 1, 2}, {4, 2}}}}).fault(4).value(),
            "first rank 2 along an axis of 2 ranks (ranks are counted from 0), give a lower rank");
  EXPECT_EQ(Grid({{{{5, large}, {3, large}, {4, large}}}}).fault(4).value(),
            "a grid of 4294967296 x 4294967296 x 4294967296 ranks for 4 ranks (every rank has exactly one place in the "
            "grid), make the product of the ranks along the axes equal to the number of ranks");
}

TEST(Grid, TakesNumbersNearTheEnd) {
  constexpr Count most = most_elements;
  EXPECT_NE(Grid({{{{}, {}, {most + 1, 3}}}}).fault(3), std::nullopt);
  const Grid grid{{{{}, {}, {most, 3, most - 1, 1}}}};
  ASSERT_EQ(grid.fault(3), std::nullopt);
  EXPECT_EQ(grid.count(0), 0u);
  EXPECT_EQ(grid.count(1), most - 1);
  EXPECT_EQ(grid.count(2), 1u);
  std::vector<Interval> mine;
  grid.list(2, mine);
  EXPECT_EQ(mine, (std::vector<Interval>{{most - 1, most}}));
  const Grid even{{{{}, {}, {most, 3}}}};
  EXPECT_EQ(even.count(0) + even.count(1) + even.count(2), most);
  EXPECT_EQ(even.axes[2].indices(2).end, most);
}

/// Along the first axis rank 1 has 2^62 blocks, and along the second nothing.
TEST(Grid, ListsNothingAtOnce) {
  const Grid grid{{{{}, {Count{1} << 62, 1, 1}, {1, 2}}}};
  ASSERT_EQ(grid.fault(2), std::nullopt);
  EXPECT_EQ(grid.count(1), 0u);
  std::vector<Interval> mine = {{1, 2}};
  grid.list(1, mine);
  EXPECT_TRUE(mine.empty());
}

}  // namespace
}  // namespace steadfold::order::grid_test
