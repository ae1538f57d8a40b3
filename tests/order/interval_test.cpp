// Maximal full dyadic nodes against their definition; sets of intervals against sets of indices.
#include "order/interval.hpp"

#include <gtest/gtest.h>

#include <bitset>
#include <limits>
#include <ostream>
#include <random>

#include "order/recursion.hpp"

namespace steadfold::order::interval_test {
// For GoogleTest, which looks in the namespace of the type.
inline void PrintTo(const Node& node, std::ostream* out) { *out << node.start << ":" << node.level; }
inline void PrintTo(Interval interval, std::ostream* out) {
  *out << "[" << interval.begin << ", " << interval.end << ")";
}

namespace {

void expect_nodes(Interval interval, const std::vector<reference::DyadicNode>& expected) {
  EXPECT_EQ(node_count(interval), expected.size()) << interval.begin << " to " << interval.end;
  if (expected.empty()) return;
  const Node first{expected.front().start, expected.front().level};
  EXPECT_EQ(first_node(interval), first) << interval.begin << " to " << interval.end;
  EXPECT_LE(expected.size(), 2 * static_cast<Count>(floor_log2(interval.size())) + 1);
}

TEST(Nodes, OfEverySmallInterval) {
  for (Index begin = 0; begin <= 128; ++begin) {
    for (Index end = begin; end <= 128; ++end) {
      const auto expected = reference::maximal_nodes(begin, end);
      EXPECT_EQ(reference::nodes_from_left(begin, end), expected);  // two oracles that agree
      expect_nodes({begin, end}, expected);
    }
  }
}

/// Taking the first node away again and again lists them all.
TEST(Nodes, AreListed) {
  for (Index begin = 0; begin <= 70; ++begin) {
    for (Index end = begin; end <= 70; ++end) {
      Interval rest{begin, end};
      for (const auto node : reference::maximal_nodes(begin, end)) {
        ASSERT_EQ(first_node(rest), (Node{node.start, node.level}));
        rest.begin = first_node(rest).end();
      }
      EXPECT_TRUE(rest.empty());
    }
  }
}

/// Siblings are what [S0] eq. 2.3 combines: (x, y-1) and (x + 2^(y-1), y-1) of a node (x, y), x a multiple of 2^y.
TEST(Nodes, CombineWithAllSiblingsInLine) {
  for (Index begin = 0; begin <= 70; ++begin) {
    for (Index end = begin; end <= 70; ++end) {
      const auto nodes = reference::nodes_from_left(begin, end);
      for (int level = 0; level <= max_level(end) && level < 8; ++level) {
        int expected = 0;
        for (auto last = nodes.rbegin(); last != nodes.rend(); ++last, ++expected) {
          const int above = level + expected + 1;
          if (last->level != above - 1 || last->start % (Index{1} << above) != 0) break;
        }
        EXPECT_EQ(sibling_count({begin, end}, level), expected) << begin << " to " << end << ", level " << level;
      }
    }
  }
  constexpr Index most = std::numeric_limits<Index>::max();
  EXPECT_EQ(sibling_count({0, most >> 1}, 0), 63);
  EXPECT_EQ(sibling_count({0, most - 1}, 1), 63);
}

TEST(Nodes, OfRandomIntervalsUpTo2To63) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 200000; ++i) {
    Index begin = (random() >> 1) >> (random() % 64);
    Index end = (random() >> 1) >> (random() % 64);
    if (random() % 3 == 0) begin &= ~Index{0} << (random() % 63);  // trailing zeros
    if (random() % 3 == 0) end &= ~Index{0} << (random() % 63);
    if (begin > end) std::swap(begin, end);
    SCOPED_TRACE(testing::Message() << "seed 3, interval " << i);
    expect_nodes({begin, end}, reference::nodes_from_left(begin, end));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Nodes, AtTheEndsOfTheRange) {
  constexpr Index top = Index{1} << 63;
  constexpr Index most = std::numeric_limits<Index>::max();
  for (const Interval interval : {Interval{0, top},
                                  {1, top},
                                  {top - 1, top},
                                  {0, top - 1},
                                  {top, top + 1},
                                  {top - 1, top + 1},
                                  {1, most},
                                  {0, most},
                                  {most - 1, most},
                                  {top / 2, top},
                                  {top / 2 - 1, top / 2 + 1}}) {
    expect_nodes(interval, reference::nodes_from_left(interval.begin, interval.end));
  }
  EXPECT_EQ(node_count({0, top}), 1u);
  EXPECT_EQ(node_count({1, top}), 63u);
  EXPECT_EQ(node_count({7, 7}), 0u);
}

constexpr Index universe = 24;
using Bits = std::bitset<universe>;

Bits bits_of(Interval interval) {
  Bits bits;
  for (Index i = interval.begin; i < interval.end; ++i) bits.set(i);
  return bits;
}

Bits bits_of(const IntervalSet& set) {
  Bits bits;
  for (const Interval interval : set.intervals()) {
    EXPECT_FALSE(interval.empty());
    EXPECT_TRUE((bits & bits_of(interval)).none());
    bits |= bits_of(interval);
  }
  return bits;
}

/// Maximal runs of indices, ascending.
std::vector<Interval> runs_of(const Bits& bits) {
  std::vector<Interval> runs;
  for (Index i = 0; i < universe; ++i) {
    if (!bits[i]) continue;
    if (runs.empty() || runs.back().end != i) runs.push_back({i, i});
    runs.back().end = i + 1;
  }
  return runs;
}

TEST(IntervalSet, IsASetOfIndices) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 4000; ++round) {
    SCOPED_TRACE(testing::Message() << "seed 4, round " << round);
    IntervalSet set;
    Bits model;
    for (int step = 0; step < 16; ++step) {
      const Index begin = random() % universe;
      const Interval interval{begin, std::min(universe, begin + random() % 6)};
      const IntervalSet before = set;
      const bool overlaps = (model & bits_of(interval)).any();
      ASSERT_EQ(set.add(interval), !overlaps);
      if (overlaps) {
        ASSERT_EQ(set, before);
      } else {
        model |= bits_of(interval);
      }
      const std::vector<Interval> runs = runs_of(model);
      ASSERT_EQ(std::vector<Interval>(set.intervals().begin(), set.intervals().end()), runs);
      ASSERT_EQ(bits_of(set), model);
      ASSERT_EQ(set.size(), model.count());
      ASSERT_EQ(set.empty(), model.none());
      Count nodes = 0;
      for (const Interval run : runs) nodes += reference::maximal_nodes(run.begin, run.end).size();
      ASSERT_EQ(set.node_count(), nodes);
    }
  }
}

TEST(IntervalSet, IgnoresEmptyIntervals) {
  IntervalSet set;
  EXPECT_TRUE(set.add({5, 5}));
  EXPECT_TRUE(set.empty());
  EXPECT_TRUE(set.add({2, 8}));
  EXPECT_TRUE(set.add({5, 5}));
  EXPECT_TRUE(set.add({7, 3}));
  EXPECT_EQ(set, IntervalSet({2, 8}));
  EXPECT_EQ(set.size(), 6u);
}

TEST(IntervalSet, JoinsOnBothSidesAndTheSameInAnyOrder) {
  IntervalSet set;
  EXPECT_TRUE(set.add({0, 3}));
  EXPECT_TRUE(set.add({6, 9}));
  EXPECT_EQ(set.intervals().size(), 2u);
  EXPECT_TRUE(set.add({3, 6}));
  EXPECT_EQ(set, IntervalSet({0, 9}));

  std::mt19937_64 random(5);
  std::vector<Interval> parts;
  for (Index i = 0; i < 50; ++i) parts.push_back({i << 56, (i + 1) << 56});
  for (int round = 0; round < 50; ++round) {
    SCOPED_TRACE(testing::Message() << "seed 5, round " << round);
    std::shuffle(parts.begin(), parts.end(), random);
    IntervalSet whole;
    for (const Interval part : parts) EXPECT_TRUE(whole.add(part));
    EXPECT_EQ(whole, IntervalSet({0, Index{50} << 56}));
    for (const Interval part : parts) EXPECT_FALSE(whole.add(part));
  }
}

}  // namespace
}  // namespace steadfold::order::interval_test
