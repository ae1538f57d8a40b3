// Several reductions of one worker under way at a time, in every order of their operations: [S2]'s "multiple
// instances".
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lab/protocols/tree_allreduce.hpp"
#include "lab/protocols/tree_reduce.hpp"
#include "trees_in_every_order.hpp"

namespace steadfold::transport::instances_test {
namespace {

/// Roots and trees change. Long enough for the fastest to be as far ahead as lanes let it.
TEST(InstancesInEveryOrder, RootsAndTreesChangeBetweenReductions) {
  const std::vector<Parents> trees = {{0, 0, 0}, {0, 0, 1}, {0, 2, 0}, {2, 2, 2}, {1, 1, 1}, {1, 1, 0}, {0, 0, 0}};
  expect_right("3 workers, depth 1, 7 trees", reduce<Right, 1, MultiNotify>(3, trees));
  expect_right("3 workers, depth 2, 7 trees", reduce<Right, 2, MultiNotify>(3, trees));
  const std::vector<Parents> four = {{0, 0, 0, 1}, {0, 0, 1, 2}, {3, 3, 0, 3}, {3, 1, 1, 1}};
  expect_right("4 workers, depth 1, 4 trees", reduce<Right, 1, MultiNotify>(4, four));
}

enum class Advance { oldest_first, newest_first };

/// Both workers start two reductions at once; the root goes on with them in this order.
Report two_at_once(Advance of_root) {
  Search search;
  Ends<Right, Plain, 2>::Lanes lanes;
  for (std::size_t w = 0; w < 2; ++w) {
    search.worker([&, w] {
      Ends<Right, Plain, 2> ends(lanes, w);
      const auto place = ends.place({0, 0}, 2);
      std::array<Sum, 2> sums = {{{contribution(w, 0)}, {contribution(w, 1)}}};
      SingleNotify<Right, Plain, 2, Sum> first(place, sums[0]);
      SingleNotify<Right, Plain, 2, Sum> second(place, sums[1]);
      const bool newest_first = w == 0 && of_root == Advance::newest_first;
      auto& now = newest_first ? second : first;
      auto& later = newest_first ? first : second;
      while (!later.done()) await([&] { return now.done() ? later.advance() : now.advance(); });
      for (std::uint64_t i = 0; w == 0 && i < 2; ++i) require(sums[i].value == sum_of_all(2, i), "wrong sum");
    });
  }
  return search.run();
}

/// One allreduce starts, a reduction over lanes goes through, then the allreduce is asked for: in each round, with two
/// allreduces in flight.
template <std::size_t workers>
Report both(const std::vector<Trees>& trees) {
  Search search;
  typename Ends<Right, Plain, 1>::Lanes lanes;
  std::array<TreeNode<Right, Plain, 2>, most_workers> nodes;
  for (std::size_t w = 0; w < workers; ++w) {
    search.worker([&, w] {
      Ends<Right, Plain, 1> ends(lanes, w);
      TreeAllreduce<Right, Plain, 2, Sum> all(nodes, w);
      std::array<Links, 8> links;
      std::array<Sum, 8> sums;
      for (std::uint64_t i = 0; i < trees.size(); ++i) {
        while (!all.has_room()) await([&] { return all.advance(); });
        links[i].set(trees[i], w, workers);
        sums[i].value = contribution(w, i);
        all.start(links[i].links, sums[i]);
        const auto place = ends.place(trees[i].up, workers);
        Sum sum{contribution(w, i)};
        SingleNotify<Right, Plain, 1, Sum> notify(place, sum);
        while (!notify.done()) await([&] { return all.advance() || notify.advance(); });
        if (place.parent == nullptr) require(sum.value == sum_of_all(workers, i), "wrong sum");
      }
      while (all.ended() < trees.size()) await([&] { return all.advance(); });
      for (std::uint64_t i = 0; i < trees.size(); ++i) require(sums[i].value == sum_of_all(workers, i), "wrong result");
    });
  }
  return search.run();
}

TEST(InstancesInEveryOrder, AllreducesBesideReductions) {
  constexpr Trees one = {{0, 0, 0}, {0, 0, 0}};
  constexpr Trees other = {{1, 1, 0}, {1, 1, 1}};
  expect_right("2 workers, 4 rounds", both<2>({one, other, other, one}));
  expect_right("3 workers, 2 rounds", both<3>({one, other}));
}

/// A lane's messages belong to reductions in their order: whoever goes on with a later one first takes the wrong ones.
TEST(InstancesInEveryOrder, TheOldestMustGoFirst) {
  expect_right("two at once", two_at_once(Advance::oldest_first));
  EXPECT_EQ(two_at_once(Advance::newest_first).fault, "wrong sum");
}

}  // namespace
}  // namespace steadfold::transport::instances_test
