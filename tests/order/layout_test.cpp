// Layouts against counts by index: who holds what, what ranges of ranks hold together, what a fault says.
#include "order/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>

#include "order/distribution.hpp"

namespace steadfold::order::layout_test {
namespace {

using Lists = std::vector<std::vector<Interval>>;

std::vector<Interval> held(const Layout& layout, Rank rank) {
  const auto intervals = layout.intervals(rank);
  return {intervals.begin(), intervals.end()};
}

TEST(Layout, ContiguousFollowsRankOrder) {
  const std::vector<Count> counts = {0, 3, 0, 0, 5, 1, 0};
  const Layout layout = Layout::contiguous(counts);
  EXPECT_EQ(layout.rank_count(), 7);
  EXPECT_EQ(layout.element_count(), 9u);
  const Lists expected = {{}, {{0, 3}}, {}, {}, {{3, 8}}, {{8, 9}}, {}};
  for (Rank rank = 0; rank < 7; ++rank) {
    const auto i = static_cast<std::size_t>(rank);
    EXPECT_EQ(held(layout, rank), expected[i]) << rank;
    EXPECT_EQ(layout.local_count(rank), counts[i]) << rank;
  }
  EXPECT_FALSE(layout.fault());
}

TEST(Layout, ClosedFormIsTheTableWithoutOne) {
  for (const auto rule : {Distribution::lower, Distribution::upper, Distribution::power2}) {
    for (Rank p = 1; p <= 9; ++p) {
      for (Count n = 0; n <= 40; ++n) {
        const auto table = Layout::contiguous(counts(rule, n, p));
        for (Rank rank = 0; rank < p; ++rank) {
          const auto closed = Layout::contiguous(*closed_form(rule, n, p));
          ASSERT_EQ(closed.rank_count(), p);
          ASSERT_EQ(closed.element_count(), n);
          for (Rank at = 0; at <= p; ++at) ASSERT_EQ(closed.start(at), table.start(at)) << at;
          for (Index x = 0; x < n; ++x) ASSERT_EQ(closed.owner(x), table.owner(x)) << x;
          ASSERT_FALSE(closed.fault());
          ASSERT_EQ(held(closed, rank), held(table, rank));
          for (Rank other = 0; other < p; ++other) {
            ASSERT_EQ(closed.local_count(other), table.local_count(other));
            ASSERT_EQ(closed.rows({rank, other}), table.rows({rank, other})) << rank << " " << other;
          }
        }
      }
    }
  }
}

TEST(Layout, OfNothing) {
  for (const std::size_t ranks : {0u, 1u, 5u}) {
    const Layout contiguous = Layout::contiguous(std::vector<Count>(ranks));
    const Layout listed = Layout::lists(Lists(ranks));
    for (const Layout& layout : {contiguous, listed}) {
      EXPECT_EQ(layout.rank_count(), static_cast<Rank>(ranks));
      EXPECT_EQ(layout.element_count(), 0u);
      EXPECT_FALSE(layout.fault());
      for (Rank rank = 0; rank < layout.rank_count(); ++rank) EXPECT_EQ(layout.local_count(rank), 0u);
      EXPECT_TRUE(layout.rows({0, static_cast<Rank>(ranks)}).empty());
    }
  }
  EXPECT_EQ(Layout().rank_count(), 0);
}

TEST(Layout, ListsKeepTheOrderOfMemory) {
  const Layout layout = Layout::lists(Lists{{{8, 9}, {0, 2}, {4, 4}, {2, 3}}, {}, {{3, 8}}});
  EXPECT_EQ(held(layout, 0), (std::vector<Interval>{{8, 9}, {0, 3}}));  // joined where they touch
  EXPECT_EQ(layout.local_count(0), 4u);
  EXPECT_TRUE(layout.intervals(1).empty());
  EXPECT_EQ(layout.element_count(), 9u);
  EXPECT_FALSE(layout.fault());
  EXPECT_EQ(layout.rows({0, 2}).intervals().size(), 2u);
  EXPECT_EQ(layout.rows({2, 2}), IntervalSet({0, 9}));  // ranks 2 and 0
}

TEST(Layout, TakesLargeIndices) {
  constexpr Count large = Count{1} << 62;
  const Layout contiguous = Layout::contiguous(std::vector<Count>{large, 0, large - 7, 7});
  EXPECT_EQ(contiguous.element_count(), 2 * large);
  EXPECT_EQ(held(contiguous, 3), (std::vector<Interval>{{2 * large - 7, 2 * large}}));
  EXPECT_FALSE(contiguous.fault());
  EXPECT_EQ(contiguous.rows({0, 4}), IntervalSet({0, 2 * large}));
  EXPECT_EQ(contiguous.rows({2, 3}).size(), 2 * large);

  EXPECT_FALSE(Layout::lists(Lists{{{large, 2 * large}}, {{0, large}}}).fault());
  EXPECT_EQ(Layout::lists(Lists{{{large, 2 * large}}, {{0, large - 1}}}).fault().value().text,
            "element 4611686018427387903 is listed nowhere");
}

TEST(Layout, FaultsNameTheFirstIndicesAndTheirRanks) {
  const auto fault = [](Lists lists) {
    const auto found = Layout::lists(lists).fault();
    return found ? found->text : "";
  };
  EXPECT_EQ(fault({{{1, 4}}}), "element 0 is listed nowhere");
  EXPECT_EQ(fault({{{0, 4}}, {{7, 9}}}), "elements 4 to 6 are listed nowhere");
  EXPECT_EQ(fault({{{7, 9}, {0, 4}}}), "elements 4 to 6 are listed nowhere");
  EXPECT_EQ(fault({{{0, 4}}, {}, {{3, 9}}}), "element 3 is listed twice by ranks 0 and 2");
  EXPECT_EQ(fault({{{3, 5}}, {{0, 9}}}), "elements 3 to 4 are listed twice by ranks 0 and 1");
  EXPECT_EQ(fault({{{0, 4}}, {{0, 2}}}), "elements 0 to 1 are listed twice by ranks 0 and 1");
  EXPECT_EQ(fault({{}, {}, {{0, 4}, {3, 5}}}), "element 3 is listed twice by rank 2");
  EXPECT_EQ(fault({{{0, 4}, {0, 4}}}), "elements 0 to 3 are listed twice");
  EXPECT_EQ(fault({{{0, 2}, {5, 9}, {6, 7}}}), "elements 2 to 4 are listed nowhere");  // of two faults the first
  EXPECT_EQ(fault({{{0, 3}, {2, 4}, {6, 7}}}), "element 2 is listed twice");
  EXPECT_EQ(fault({{{0, 3}, {5, 5}}}), "");
}

/// Cuts 0..n-1 into intervals and deals them to the ranks in any order.
Lists random_lists(std::mt19937_64& random, Rank ranks, Index n) {
  std::vector<Interval> parts;
  for (Index begin = 0; begin < n;) {
    const Index end = std::min(n, begin + 1 + random() % 5);
    parts.push_back({begin, end});
    begin = end;
  }
  std::shuffle(parts.begin(), parts.end(), random);
  Lists lists(static_cast<std::size_t>(ranks));
  for (const Interval part : parts) lists[random() % lists.size()].push_back(part);
  return lists;
}

TEST(Layout, RowsOfEveryRangeOfRanks) {
  std::mt19937_64 random(6);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(testing::Message() << "seed 6, round " << round);
    const Rank ranks = 1 + static_cast<Rank>(random() % 9);
    const Lists lists = random_lists(random, ranks, random() % 60);
    const Layout layout = Layout::lists(lists);
    ASSERT_EQ(layout.fault(), std::nullopt);
    for (Rank first = 0; first < ranks; ++first) {
      for (Rank count = 0; count <= ranks; ++count) {
        IntervalSet expected;
        for (Rank i = first; i < first + count; ++i) {
          for (const Interval interval : lists[static_cast<std::size_t>(i % ranks)])
            ASSERT_TRUE(expected.add(interval));
        }
        ASSERT_EQ(layout.rows({first, count}), expected) << first << " and " << count << " ranks";
      }
    }
  }
}

/// Contiguous layouts look their rows up; lists of the same intervals go through all ranks.
TEST(Layout, RowsOfContiguousRangesAreThoseOfLists) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(testing::Message() << "seed 8, round " << round);
    std::vector<Count> counts(1 + random() % 9);
    for (Count& count : counts) count = random() % 2 == 0 ? 0 : random() % 7;
    Lists lists;
    Index begin = 0;
    for (const Count count : counts) {
      lists.push_back({{begin, begin + count}});
      begin += count;
    }
    const Layout layout = Layout::contiguous(counts);
    const Layout listed = Layout::lists(lists);
    for (Rank first = 0; first < layout.rank_count(); ++first) {
      for (Rank count = 0; count <= layout.rank_count(); ++count) {
        ASSERT_EQ(layout.rows({first, count}), listed.rows({first, count})) << first << " and " << count << " ranks";
      }
    }
  }
}

TEST(Layout, KnowsStartsAndOwnersWhereItIsInRankOrder) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<Count> counts(1 + random() % 9);
    Lists lists;
    std::vector<Rank> owners;
    std::vector<Index> starts;
    for (Count& count : counts) {
      count = random() % 3 == 0 ? 0 : random() % 12;
      const Index begin = owners.size();
      const Index middle = begin + count / 2;
      starts.push_back(begin);
      lists.push_back({{begin, middle}, {middle, begin + count}});
      owners.insert(owners.end(), count, static_cast<Rank>(starts.size() - 1));
    }
    for (const Layout& layout : {Layout::contiguous(counts), Layout::lists(lists)}) {
      ASSERT_TRUE(layout.in_rank_order());
      for (std::size_t rank = 0; rank < counts.size(); ++rank)
        ASSERT_EQ(layout.start(static_cast<Rank>(rank)), starts[rank]) << "round " << round << ", rank " << rank;
      ASSERT_EQ(layout.start(layout.rank_count()), owners.size());
      for (Index i = 0; i < owners.size(); ++i) ASSERT_EQ(layout.owner(i), owners[i]) << round << ", element " << i;
    }
  }
  EXPECT_FALSE(Layout::lists(Lists{{{3, 5}}, {{0, 3}}}).in_rank_order());
  EXPECT_FALSE(Layout::lists(Lists{{{0, 1}, {2, 3}}, {{1, 2}}}).in_rank_order());
  EXPECT_FALSE(Layout::lists(Lists{{{1, 2}}}).in_rank_order());
}

/// A whole layout with an interval lost, repeated or moved, against how often each index is listed.
TEST(Layout, FindsRandomFaults) {
  std::mt19937_64 random(7);
  int faults = 0;
  for (int round = 0; round < 5000; ++round) {
    SCOPED_TRACE(testing::Message() << "seed 7, round " << round);
    Lists lists = random_lists(random, 4, 40);
    for (auto& list : lists) {
      if (list.empty() || random() % 3 != 0) continue;
      const std::size_t at = random() % list.size();
      Interval one = list[at];
      switch (random() % 4) {
        case 0: one.end = one.begin; break;
        case 1: one.begin = std::min(one.end, one.begin + random() % 3); break;
        case 2: one.end += random() % 4; break;
        default: list.push_back(one); break;
      }
      list[at] = one;
    }
    std::vector<int> times(64, 0);
    Index end = 0;
    for (const auto& list : lists) {
      for (const Interval interval : list) {
        for (Index i = interval.begin; i < interval.end; ++i) ++times[i];
        if (!interval.empty()) end = std::max(end, interval.end);
      }
    }
    Index wrong = 0;
    while (wrong < end && times[wrong] == 1) ++wrong;
    const auto fault = Layout::lists(lists).fault();
    ASSERT_EQ(fault.has_value(), wrong < end);
    if (!fault) continue;
    ++faults;
    unsigned long first = 0;
    unsigned long last = 0;
    const std::string& text = fault->text;
    if (std::sscanf(text.c_str(), "element %lu is", &first) == 1)
      last = first;
    else
      ASSERT_EQ(std::sscanf(text.c_str(), "elements %lu to %lu are", &first, &last), 2) << text;
    EXPECT_EQ(first, wrong) << text;
    ASSERT_LE(first, last) << text;
    const bool missing = times[first] == 0;
    EXPECT_EQ(fault->status, missing ? Status::gap : Status::overlap) << text;
    EXPECT_NE(text.find(missing ? "listed nowhere" : "listed twice"), std::string::npos) << text;
    for (Index i = first; i <= last; ++i) EXPECT_TRUE(missing ? times[i] == 0 : times[i] > 1) << text;
    if (missing) {
      EXPECT_GT(times[last + 1], 0) << text;
      continue;
    }
    unsigned one = 0;
    unsigned other = 0;
    const int ranks = std::sscanf(text.substr(text.find("twice")).c_str(), "twice by ranks %u and %u", &one, &other);
    if (ranks != 2) {
      ASSERT_EQ(std::sscanf(text.substr(text.find("twice")).c_str(), "twice by rank %u", &one), lists.size() > 1);
      other = one;
    }
    for (const unsigned rank : {one, other}) {
      const auto holds = [&](const Interval interval) { return interval.begin <= first && first < interval.end; };
      EXPECT_TRUE(std::ranges::any_of(lists[rank], holds)) << text;
    }
  }
  EXPECT_GT(faults, 1000);
}

}  // namespace
}  // namespace steadfold::order::layout_test
