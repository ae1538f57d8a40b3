// Reductions over trees in every order of their operations, under C++'s memory: trees and roots that change from one to
// the next, workers several reductions apart.
#include "lab/protocols/tree_reduce.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <stdexcept>
#include <vector>

#include "trees_in_every_order.hpp"

namespace steadfold::transport::tree_reduce_test {
namespace {

template <std::size_t depth, template <class, class, std::size_t, class> class Notify>
void expect_right_over_many_trees() {
  expect_right("2 workers, 6 reductions", reduce<Right, depth, Notify>(2, std::vector<Parents>(6, {0, 0})));
  expect_right("2 workers, changing roots", reduce<Right, depth, Notify>(2, {{0, 0}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}));
  expect_right("3 workers, star", reduce<Right, depth, Notify>(3, std::vector<Parents>(6, {0, 0, 0})));
  expect_right("3 workers, chain", reduce<Right, depth, Notify>(3, std::vector<Parents>(6, {0, 0, 1})));
  expect_right("3 workers, changing trees",
               reduce<Right, depth, Notify>(3, {{0, 0, 0}, {1, 1, 0}, {2, 0, 2}, {0, 0, 1}}));
  expect_right("4 workers, binary tree", reduce<Right, depth, Notify>(4, std::vector<Parents>(5, {0, 0, 0, 1})));
}

TEST(TreeReduceInEveryOrder, SingleNotify) {
  expect_right_over_many_trees<1, SingleNotify>();
  expect_right_over_many_trees<2, SingleNotify>();
}

TEST(TreeReduceInEveryOrder, MultiNotify) {
  expect_right_over_many_trees<1, MultiNotify>();
  expect_right_over_many_trees<2, MultiNotify>();
}

template <template <class, class, std::size_t, class> class Notify>
void expect_all_orders_needed() {
  const std::vector<Parents> trees(3, {0, 0, 0});
  EXPECT_EQ((reduce<WeakAnnounce, 1, Notify>(3, trees).fault), race_with_a_write);
  EXPECT_EQ((reduce<WeakExpect, 1, Notify>(3, trees).fault), race_with_a_write);
  EXPECT_EQ((reduce<WeakGiveBack, 1, Notify>(3, trees).fault), race_on_writing);
  EXPECT_EQ((reduce<WeakTakeBack, 1, Notify>(3, trees).fault), race_on_writing);
}

TEST(TreeReduceInEveryOrder, NeedsAllFourOrders) {
  expect_all_orders_needed<SingleNotify>();
  expect_all_orders_needed<MultiNotify>();
}

/// Remembers in which order it merged.
struct Sequence {
  std::uint64_t value = 0;
  void merge(const Plain& content) { value = 16 * value + content; }
  void write(Plain& content) const { content = value; }
};

template <template <class, class, std::size_t, class> class Notify>
std::set<std::vector<std::uint64_t>> sequences_of_merges(model::States states) {
  Search search;
  typename Ends<Right, Plain, 1>::Lanes lanes;
  std::uint64_t result = 0;
  for (std::size_t w = 0; w < 4; ++w) {
    search.worker([&, w] {
      Ends<Right, Plain, 1> ends(lanes, w);
      Sequence sequence{w};
      Notify<Right, Plain, 1, Sequence> notify(ends.place({0, 0, 0, 0}, 4), sequence);
      while (!notify.done()) await([&] { return notify.advance(); });
      if (w == 0) result = sequence.value;
    });
  }
  search.outcome([&] { return std::vector{result}; });
  return search.run(states).outcomes;
}

TEST(TreeReduceInEveryOrder, OnlySingleNotifyAlwaysMergesInTheSameOrder) {
  for (const auto states : {model::States::merged, model::States::apart}) {
    EXPECT_EQ(sequences_of_merges<SingleNotify>(states), (std::set<std::vector<std::uint64_t>>{{0x123}}));
    EXPECT_EQ(sequences_of_merges<MultiNotify>(states),
              (std::set<std::vector<std::uint64_t>>{{0x123}, {0x132}, {0x213}, {0x231}, {0x312}, {0x321}}));
  }
}

TEST(TreeReduce, MultiNotifyRefusesMoreChildrenThanItCanWatch) {
  const std::vector<LaneReceiver<MachineMemory, std::uint64_t, 1>*> children(65, nullptr);
  Sum sum;
  using Notify = MultiNotify<MachineMemory, std::uint64_t, 1, Sum>;
  EXPECT_THROW(Notify({std::span(children)}, sum), std::length_error);
  EXPECT_NO_THROW(Notify({std::span(children).first(64)}, sum));
}

}  // namespace
}  // namespace steadfold::transport::tree_reduce_test
