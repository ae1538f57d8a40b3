// The fingerprint of a layout against its definition: for every small collection of intervals it says whether together
// they are 0..N-1 exactly once. What sums of powers of the indices, or of their number, cannot tell is among them.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "order/interval.hpp"

namespace steadfold::order::coverage_test {
namespace {

Coverage coverage_of(const std::vector<Interval>& intervals) {
  Coverage coverage;
  for (const Interval interval : intervals) coverage.add(interval);
  return coverage;
}

/// Whether each of 0..N-1 is in one of them, and nothing else is in any.
bool is_whole(const std::vector<Interval>& intervals) {
  std::vector<Index> rows;
  for (const Interval interval : intervals)
    for (Index i = interval.begin; i < interval.end; ++i) rows.push_back(i);
  std::ranges::sort(rows);
  for (Index i = 0; i < rows.size(); ++i)
    if (rows[i] != i) return false;
  return true;
}

/// Every multiset of rows below `end`, each an interval by itself: {1, 1, 1} and {0, 1, 2} have one sum.
TEST(Coverage, TellsEveryMultisetOfFewRows) {
  constexpr Index end = 9;
  Count checked = 0;
  Count whole = 0;
  for (Count rows = 1; rows <= 7; ++rows) {
    std::vector<Interval> chosen(rows, {0, 1});
    for (;;) {
      ASSERT_EQ(coverage_of(chosen).whole(), is_whole(chosen)) << rows << " rows, case " << checked;
      ++checked;
      whole += is_whole(chosen) ? 1 : 0;
      std::size_t last = rows;  // to be moved up: the next multiset in order
      while (last > 0 && chosen[last - 1].begin == end - 1) --last;
      if (last == 0) break;
      const Index row = chosen[last - 1].begin + 1;
      std::fill(chosen.begin() + static_cast<std::ptrdiff_t>(last) - 1, chosen.end(), Interval{row, row + 1});
    }
  }
  EXPECT_EQ(whole, 7u);
  EXPECT_GT(checked, 10000u);
}

/// Every pair and triple of intervals, empty ones too.
TEST(Coverage, TellsEveryTripleOfSmallIntervals) {
  std::vector<Interval> all;
  for (Index begin = 0; begin <= 6; ++begin)
    for (Index end = begin; end <= 6; ++end) all.push_back({begin, end});
  for (const Interval a : all) {
    for (const Interval b : all) {
      for (const Interval c : all) {
        const std::vector<Interval> three = {a, b, c};
        ASSERT_EQ(coverage_of(three).whole(), is_whole(three))
            << a.begin << "-" << a.end << ", " << b.begin << "-" << b.end << ", " << c.begin << "-" << c.end;
      }
    }
  }
}

/// What has the same sum, and the same sum of squares, as the numbers it stands for: no fingerprint may add powers.
TEST(Coverage, TellsRowsOfEqualPowerSums) {
  // {0, 4, 5} and {1, 2, 6}: equal sums and squares; {0, 4, 7, 11} and {1, 2, 9, 10}: equal cubes too.
  for (const auto& [one, other] :
       {std::pair<std::vector<Index>, std::vector<Index>>{{0, 4, 5}, {1, 2, 6}}, {{0, 4, 7, 11}, {1, 2, 9, 10}}}) {
    std::vector<Interval> rows;
    for (Index i = 0; i < 12; ++i)
      if (std::ranges::find(one, i) == one.end()) rows.push_back({i, i + 1});
    for (const Index i : other) rows.push_back({i, i + 1});
    EXPECT_FALSE(coverage_of(rows).whole());
    rows.resize(rows.size() - other.size());
    for (const Index i : one) rows.push_back({i, i + 1});
    EXPECT_TRUE(coverage_of(rows).whole());
  }
}

/// Cut and dealt at random, up to 2^63 rows, in any order and added up by parts; then one begins a row too early.
TEST(Coverage, DependsOnTheRowsAlone) {
  std::mt19937_64 random(17);
  for (int round = 0; round < 2000; ++round) {
    SCOPED_TRACE(testing::Message() << "seed 17, round " << round);
    const Count rows = (random() >> 1 >> random() % 62) + 2;
    std::vector<Index> cuts = {0, rows};
    for (auto more = random() % 8; more > 0; --more) cuts.push_back(random() % (rows + 1));
    std::ranges::sort(cuts);
    std::vector<Interval> intervals;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) intervals.push_back({cuts[i], cuts[i + 1]});
    std::shuffle(intervals.begin(), intervals.end(), random);
    Coverage parts[2];
    for (const Interval interval : intervals) parts[random() % 2].add(interval);
    parts[0].add(parts[1]);
    EXPECT_TRUE(parts[0].whole());
    EXPECT_EQ(parts[0].rows, rows);
    Interval& moved = intervals[random() % intervals.size()];
    if (moved.empty() || moved.begin == 0) continue;
    moved.begin -= 1;  // a row twice
    EXPECT_FALSE(coverage_of(intervals).whole());
  }
}

}  // namespace
}  // namespace steadfold::order::coverage_test
