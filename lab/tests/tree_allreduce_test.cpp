// Reduce and broadcast in every order of their operations, under C++'s memory: the result is the only credit.
#include "lab/protocols/tree_allreduce.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "transport/in_every_order.hpp"
#include "trees.hpp"

namespace steadfold::transport::tree_allreduce_test {
namespace {

constexpr std::size_t most_reductions = 8;

/// Every worker is up to `ahead` reductions ahead of the last result that it has.
template <class Memory, std::size_t depth, std::size_t ahead = depth>
Report allreduce(std::size_t workers, const std::vector<Trees>& trees, model::States states = model::States::merged) {
  Search search;
  std::array<TreeNode<Memory, Plain, depth>, most_workers> nodes;
  for (std::size_t w = 0; w < workers; ++w) {
    search.worker([&, w] {
      std::array<Links, most_reductions> links;
      std::array<Sum, most_reductions> sums;
      TreeAllreduce<Memory, Plain, depth, Sum, ahead> end(nodes, w);
      std::size_t started = 0;
      for (std::size_t ended = 0; ended < trees.size();) {
        for (; started < trees.size() && end.has_room(); ++started) {
          links[started].set(trees[started], w, workers);
          sums[started].value = contribution(w, started);
          end.start(links[started].links, sums[started]);
        }
        await([&] { return end.advance(); });
        for (; ended < end.ended(); ++ended) require(sums[ended].value == sum_of_all(workers, ended), "wrong sum");
      }
    });
  }
  return search.run(states);
}

constexpr Trees pair = {{0, 0}, {0, 0}};
constexpr Trees other_pair = {{1, 1}, {1, 1}};
constexpr Trees star = {{0, 0, 0, 0}, {0, 0, 0, 0}};
constexpr Trees chain = {{0, 0, 1, 2}, {0, 0, 1, 2}};
constexpr Trees chain_up_star_down = {{0, 0, 1, 2}, {0, 0, 0, 0}};
constexpr Trees star_up_chain_down = {{0, 0, 0, 0}, {0, 0, 1, 2}};
constexpr Trees binary = {{0, 0, 0, 1}, {0, 0, 0, 1}};
constexpr Trees from_two = {{2, 0, 2, 2}, {2, 2, 2, 2}};
constexpr Trees from_one = {{1, 1, 0, 0}, {1, 1, 1, 2}};

template <std::size_t depth>
void expect_right_over_many_trees() {
  const std::string of = "depth " + std::to_string(depth) + ", ";
  expect_right(of + "2 workers, 8 reductions", allreduce<Right, depth>(2, std::vector(8, pair)));
  expect_right(of + "2 workers, changing roots",
               allreduce<Right, depth>(2, {pair, other_pair, other_pair, pair, pair, other_pair}));
  expect_right(of + "3 workers, star", allreduce<Right, depth>(3, std::vector(6, star)));
  expect_right(of + "3 workers, chain", allreduce<Right, depth>(3, std::vector(6, chain)));
  expect_right(of + "3 workers, chain up, star down", allreduce<Right, depth>(3, std::vector(6, chain_up_star_down)));
  expect_right(of + "3 workers, star up, chain down", allreduce<Right, depth>(3, std::vector(6, star_up_chain_down)));
  expect_right(of + "3 workers, changing trees",
               allreduce<Right, depth>(3, {star, from_one, from_two, chain, star_up_chain_down, from_two}));
  expect_right(of + "4 workers, binary tree", allreduce<Right, depth>(4, std::vector(4, binary)));
}

TEST(TreeAllreduceInEveryOrder, OneAfterTheOther) { expect_right_over_many_trees<1>(); }

TEST(TreeAllreduceInEveryOrder, OddAndEvenOverlap) { expect_right_over_many_trees<2>(); }

TEST(TreeAllreduceInEveryOrder, ThreeOverlap) {
  expect_right("2 workers", allreduce<Right, 3>(2, std::vector(8, pair)));
  expect_right("3 workers, changing trees", allreduce<Right, 3>(3, {star, from_one, from_two, chain, from_two}));
}

TEST(TreeAllreduceInEveryOrder, MergingStatesLosesNothing) {
  const std::vector<Trees> trees = {pair, pair, other_pair};
  EXPECT_EQ((allreduce<Right, 2>(2, trees).executions),
            (allreduce<Right, 2>(2, trees, model::States::apart).executions));
}

TEST(TreeAllreduceInEveryOrder, NeedsABoxPerReductionInFlight) {
  expect_race(allreduce<Right, 1, 2>(2, std::vector(2, pair)));
  expect_race(allreduce<Right, 1, 2>(3, std::vector(2, chain)));
  expect_race(allreduce<Right, 2, 3>(2, std::vector(3, pair)));
  expect_race(allreduce<Right, 2, 3>(3, std::vector(3, star_up_chain_down)));
}

TEST(TreeAllreduceInEveryOrder, NeedsTwoOrders) {
  for (const Trees& trees : {star, chain, star_up_chain_down}) {
    expect_race(allreduce<WeakAnnounce, 2>(3, std::vector(3, trees)));
    expect_race(allreduce<WeakExpect, 2>(3, std::vector(3, trees)));
  }
  // Nothing is given back: the result says it.
  expect_right("give_back relaxed", allreduce<WeakGiveBack, 2>(3, std::vector(5, chain)));
  expect_right("take_back relaxed", allreduce<WeakTakeBack, 2>(3, std::vector(5, chain)));
}

}  // namespace
}  // namespace steadfold::transport::tree_allreduce_test
