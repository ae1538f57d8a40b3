// Nodes against counts by rank: numbers, places, sizes, and layouts by place.
#include "order/nodes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace steadfold::order::nodes_test {
namespace {

constexpr std::uint64_t seed = 20261122;

std::vector<std::vector<Rank>> random_labels(std::mt19937_64& random) {
  std::vector<std::vector<Rank>> all = {{}, {7}, {0, 1, 0, 1, 0}, {3, 3, 3}, {9, 2, 5, 1}};
  for (int i = 0; i < 200; ++i) {
    auto& labels = all.emplace_back(1 + random() % 40);
    const Rank nodes = 1 + static_cast<Rank>(random() % labels.size());
    for (Rank& label : labels) label = 1000 - static_cast<Rank>(random() % static_cast<std::uint64_t>(nodes));
  }
  return all;
}

TEST(Nodes, AreCountedRankByRank) {
  std::mt19937_64 random(seed);
  for (const std::vector<Rank>& labels : random_labels(random)) {
    const Nodes nodes(labels);
    const auto ranks = static_cast<Rank>(labels.size());
    ASSERT_EQ(nodes.rank_count(), ranks);
    ASSERT_EQ(nodes.count(), static_cast<Rank>(std::set<Rank>(labels.begin(), labels.end()).size()));
    std::vector<Rank> seen;  // labels in the order of their first ranks
    for (Rank rank = 0; rank < ranks; ++rank) {
      const Rank label = labels[static_cast<std::size_t>(rank)];
      const auto found = std::ranges::find(seen, label);
      EXPECT_EQ(nodes.node_of(rank), found - seen.begin());
      if (found == seen.end()) seen.push_back(label);
    }
    std::vector<Rank> by_node(static_cast<std::size_t>(ranks));
    for (Rank rank = 0; rank < ranks; ++rank) by_node[static_cast<std::size_t>(rank)] = rank;
    std::ranges::stable_sort(by_node, {}, [&](Rank rank) { return nodes.node_of(rank); });
    EXPECT_TRUE(std::ranges::equal(nodes.ranks(), by_node));
    EXPECT_EQ(nodes.are_runs(), std::ranges::is_sorted(by_node));
    for (Rank place = 0; place < ranks; ++place) {
      EXPECT_EQ(nodes.rank_at(place), by_node[static_cast<std::size_t>(place)]);
      EXPECT_EQ(nodes.place_of(nodes.rank_at(place)), place);
    }
    Rank counted = 0;
    for (const Nodes::Size& size : nodes.sizes()) {
      counted += size.nodes;
      Rank of_size = 0;
      for (Rank node = 0; node < nodes.count(); ++node)
        of_size += std::ranges::count(labels, seen[static_cast<std::size_t>(node)]) == size.ranks ? 1 : 0;
      EXPECT_EQ(size.nodes, of_size);
    }
    EXPECT_EQ(counted, nodes.count());
    for (Rank node = 0; node < nodes.count(); ++node)
      EXPECT_EQ(nodes.first_place(node + 1) - nodes.first_place(node),
                std::ranges::count(labels, seen[static_cast<std::size_t>(node)]));
    EXPECT_EQ(nodes.first_place(nodes.count()), ranks);
  }
}

/// What numbers the nodes had does not matter.
TEST(Nodes, AreTheSameForTheSamePartition) {
  std::mt19937_64 random(seed);
  for (std::vector<Rank> labels : random_labels(random)) {
    const Nodes nodes(labels);
    for (Rank& label : labels) label = 3 * label + 11;
    EXPECT_EQ(Nodes(labels), nodes);
    for (std::size_t ranks = 0; ranks <= labels.size(); ++ranks)
      EXPECT_EQ(nodes.first_ranks(static_cast<Rank>(ranks)), Nodes(std::span(labels).first(ranks)));
    if (nodes.count() < 2) continue;
    std::ranges::fill(labels, 0);
    EXPECT_FALSE(Nodes(labels) == nodes);
  }
}

TEST(Nodes, GroupsPayWhereNodesAreFarAndHaveSeveralRanks) {
  using enum Nodes::Between;
  const auto of = [](std::vector<Rank> labels, Nodes::Between between) { return Nodes(labels, between); };
  EXPECT_TRUE(of({0, 1, 1}, processes).groups_always_pay());
  EXPECT_FALSE(of({0, 1, 1}, network).groups_always_pay());
  EXPECT_FALSE(of({0, 1, 1}, packages).groups_always_pay());
  EXPECT_TRUE(of({0, 1, 1}, network).share_links());
  EXPECT_FALSE(of({0, 1, 1}, packages).share_links());
  for (const std::vector<Rank>& labels : {std::vector<Rank>{0, 1, 2}, {1, 1, 1}})
    for (const auto between : {network, packages, processes}) EXPECT_FALSE(of(labels, between).are_groups());
  EXPECT_TRUE(of({0, 1, 1, 2}, processes).first_ranks(3).groups_always_pay());
  EXPECT_FALSE(of({0, 1, 1, 2}, processes).first_ranks(2).groups_always_pay());
}

TEST(Nodes, OrderLayoutsByPlace) {
  std::mt19937_64 random(seed);
  for (const std::vector<Rank>& labels : random_labels(random)) {
    const Nodes nodes(labels);
    std::vector<Count> counts(labels.size());
    for (Count& count : counts) count = random() % 4;
    const Layout layout = Layout::contiguous(counts);
    const Layout by_place = layout.reordered(nodes.ranks());
    EXPECT_EQ(by_place.element_count(), layout.element_count());
    EXPECT_FALSE(by_place.fault());
    for (Rank first = 0; first < nodes.rank_count(); ++first) {
      const RankRange run{first, 1 + static_cast<Rank>(random() % labels.size())};
      Count rows = 0;
      for (Rank i = 0; i < run.count; ++i)
        rows += counts[static_cast<std::size_t>(nodes.rank_at((first + i) % nodes.rank_count()))];
      EXPECT_EQ(by_place.rows(run).size(), rows);
      EXPECT_TRUE(std::ranges::equal(by_place.intervals(first), layout.intervals(nodes.rank_at(first))));
    }
  }
}

}  // namespace
}  // namespace steadfold::order::nodes_test
