// Reductions and broadcasts by counts in every order of their operations, under C++'s memory: over one tree, workers
// several reductions apart.
#include "lab/protocols/counted.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "transport/in_every_order.hpp"
#include "trees.hpp"

namespace steadfold::transport::counted_test {
namespace {

constexpr Parents star = {0, 0, 0, 0}, chain = {0, 0, 1, 2}, binary = {0, 0, 0, 1}, to_the_last = {2, 0, 2, 2};

/// One reduction after the other: that a line was taken is all that keeps workers together.
template <class Memory, std::size_t depth, std::size_t counts = depth>
Report reduce(std::size_t workers, const Parents& parents, std::uint64_t reductions) {
  Search search;
  std::array<CountedNode<Memory, Plain, depth, counts>, most_workers> nodes;
  for (std::size_t w = 0; w < workers; ++w) {
    search.worker([&, w] {
      Links links;
      links.set({parents, parents}, w, workers);
      CountedNotify<Memory, Plain, depth, Sum, counts> end(nodes, w, links.links);
      for (std::uint64_t i = 0; i < reductions; ++i) {
        Sum sum{contribution(w, i)};
        end.start(sum);
        while (!end.done()) await([&] { return end.advance(); });
        if (parents[w] == w) require(sum.value == sum_of_all(workers, i), "wrong sum");
      }
    });
  }
  return search.run();
}

template <std::size_t depth>
void expect_right_reductions() {
  const std::string of = "depth " + std::to_string(depth) + ", ";
  expect_right(of + "2 workers, 6 reductions", reduce<Right, depth>(2, star, 6));
  expect_right(of + "3 workers, star", reduce<Right, depth>(3, star, 4));
  expect_right(of + "3 workers, chain", reduce<Right, depth>(3, chain, 5));
  expect_right(of + "3 workers, to the last", reduce<Right, depth>(3, to_the_last, 5));
  expect_right(of + "4 workers, binary tree", reduce<Right, depth>(4, binary, 3));
}

TEST(CountedInEveryOrder, Reductions) {
  expect_right_reductions<1>();
  expect_right_reductions<2>();
}

TEST(CountedInEveryOrder, ReductionsNeedAllFourOrders) {
  EXPECT_EQ((reduce<WeakAnnounce, 1>(3, star, 3).fault), race_with_a_write);
  EXPECT_EQ((reduce<WeakExpect, 1>(3, star, 3).fault), race_with_a_write);
  EXPECT_EQ((reduce<WeakGiveBack, 1>(3, star, 3).fault), race_on_writing);
  EXPECT_EQ((reduce<WeakTakeBack, 1>(3, star, 3).fault), race_on_writing);
}

/// A child that is ahead tells of its second contribution before the other one tells of its first.
TEST(CountedInEveryOrder, ReductionsNeedACountPerLine) {
  expect_right("one count, one child", reduce<Right, 2, 1>(2, star, 5));
  EXPECT_EQ((reduce<Right, 2, 1>(3, star, 2).fault), "wrong sum");
}

/// Up by a count and down by feeds.
template <class Memory, std::size_t depth>
Report allreduce(std::size_t workers, const Parents& parents, std::uint64_t reductions) {
  Search search;
  std::array<CountedNode<Memory, Plain, depth>, most_workers> nodes;
  std::array<Feed<Memory, Plain, depth>, most_workers> feeds;
  for (std::size_t w = 0; w < workers; ++w) {
    search.worker([&, w] {
      Links links;
      links.set({parents, parents}, w, workers);
      CountedNotify<Memory, Plain, depth, Sum> up(nodes, w, links.links);
      CountedBroadcast<Memory, Plain, depth, Sum> down(feeds, w, links.links);
      for (std::uint64_t i = 0; i < reductions; ++i) {
        Sum sum{contribution(w, i)};
        up.start(sum);
        while (!up.done()) await([&] { return up.advance(); });
        down.start(sum);
        while (!down.done()) await([&] { return down.advance(); });
        require(sum.value == sum_of_all(workers, i), "wrong sum");
      }
    });
  }
  return search.run();
}

TEST(CountedInEveryOrder, ReductionsWithBroadcasts) {
  expect_right("2 workers, 6 reductions", allreduce<Right, 2>(2, star, 6));
  expect_right("3 workers, star", allreduce<Right, 2>(3, star, 4));
  expect_right("3 workers, chain", allreduce<Right, 2>(3, chain, 4));
  expect_right("3 workers, depth 1, to the last", allreduce<Right, 1>(3, to_the_last, 4));
  expect_right("4 workers, binary tree", allreduce<Right, 2>(4, binary, 2));
}

}  // namespace
}  // namespace steadfold::transport::counted_test
