// Method tree with lanes, over ranks: the values that paper P4016R0 publishes, and the parenthesised expression for
// hostile data, in several layouts, by every schedule. Shares nothing with src/.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/operators.hpp"
#include "mpi/ranks.hpp"
#include "support/lanes.hpp"

namespace steadfold::tests::tree_lanes_test {
namespace {

/// A million doubles, from the generator of the paper.
std::vector<double> published_numbers() {
  std::vector<double> x(1'000'000);
  std::uint64_t state = 0x243F6A8885A308D3;
  for (double& each : x) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    each = (static_cast<double>(state >> 11) - 0x1p52) * 0x1p-52;
  }
  return x;
}

struct Published {
  std::uint32_t lanes;
  std::uint64_t bits;
};
constexpr Published table[] = {{1, 0x40618F71F6379396}, {16, 0x40618F71F6379380}, {128, 0x40618F71F6379397}};

class TreeLanesTest : public testing::Test {
 protected:
  Ranks world;
  Random random{seed_of("tree_lanes_test", 4016)};
};

TEST_F(TreeLanesTest, GiveThePublishedBits) {
  const std::vector<double> x = published_numbers();
  ASSERT_EQ(std::bit_cast<std::uint64_t>(x[0]), 0x3FD37DE3B20E9FDCU);
  ASSERT_EQ(std::bit_cast<std::uint64_t>(x[1]), 0xBFD2E1595E76077CU);
  ASSERT_EQ(std::bit_cast<std::uint64_t>(x[2]), 0xBFD5C999955B530CU);
  for (const Published& published : table) {
    const Method method = tree({.lanes = published.lanes});
    const double wanted = double_of(published.bits);
    EXPECT_TRUE(is(reference::of_lanes(x, published.lanes, add), wanted))
        << "the oracle, " << published.lanes << " lanes";
    EXPECT_TRUE(is(sum(x, LocalOptions{.method = method, .threads = 1 + published.lanes % 3}), wanted))
        << published.lanes;
    for (const NamedOwnership& layout : sorts_of_layouts(x.size(), world.count(), random)) {
      const std::vector<double> mine = pick(x, layout.ownership[world.index()]);
      const Options options{.method = method,
                            .layout = layout_on(world, layout.ownership),
                            .schedule = next_of(schedules_of(method, false)),
                            .threads = 1 + static_cast<unsigned>(draw(random, 3))};
      EXPECT_TRUE(is(sum(mine, world.comm, options), wanted))
          << published.lanes << " lanes, " << layout.name << " on " << world.size << " by " << text_of(options);
    }
  }
}

template <class T>
void expect_expression(const Ranks& ranks, const std::vector<T>& x, std::uint32_t lanes, Random& random) {
  const Method method = tree({.lanes = lanes});
  const T wanted = reference::of_lanes(x, lanes, add);
  for (const NamedOwnership& layout : sorts_of_layouts(x.size(), ranks.count(), random)) {
    const std::vector<T> mine = pick(x, layout.ownership[ranks.index()]);
    std::vector<std::string> schedules = schedules_of(method, false);
    if (!thorough(ranks)) schedules = {next_of(schedules), next_of(schedules)};
    for (const std::string& schedule : schedules) {
      const Options options{.method = method, .layout = layout_on(ranks, layout.ownership), .schedule = schedule};
      ASSERT_TRUE(is(sum(mine, ranks.comm, options), wanted))
          << x.size() << " elements, " << lanes << " lanes, " << layout.name << " by " << text_of(options);
    }
    Plan<T> plan(plus, mine.size(), ranks.comm, {.method = method, .layout = layout_on(ranks, layout.ownership)});
    for (int run = 0; run < 2; ++run) ASSERT_TRUE(is(plan.run(mine), wanted)) << "a plan, " << layout.name;
  }
}

TEST_F(TreeLanesTest, OfHostileNumbersGiveTheExpression) {
  int differences = 0;  // from the tree without lanes
  for (const std::size_t n : {1, 17, 100, 601, 5000}) {
    const std::vector<double> x = numbers<double>(n, random);
    const std::vector<float> floats = numbers<float>(n, random);
    for (const std::uint32_t lanes : {2U, 3U, 16U, 1024U}) {
      ASSERT_NO_FATAL_FAILURE(expect_expression(world, x, lanes, random));
      differences += reference::of_lanes(x, lanes, add) != reference::of_lanes(x, 1, add);
      if (lanes == 3 && n == 601) {
        ASSERT_NO_FATAL_FAILURE(expect_expression(world, floats, lanes, random));
      }
    }
  }
  EXPECT_GT(differences, 4) << "the bits of these numbers do not depend on the lanes";
}

TEST_F(TreeLanesTest, OfPrefixesGiveScans) {
  for (const std::size_t n : {5, 64, 1000}) {
    const std::vector<double> x = numbers<double>(n, random);
    const Ownership ownership = in_rank_order(random_counts(n, world.count(), random));
    const std::vector<double> mine = pick(x, ownership[world.index()]);
    for (const std::uint32_t lanes : {2U, 16U, 100U}) {
      sf_call call = sf_call_default();
      call.method = SF_TREE;
      call.lanes = lanes;
      call.layout = SF_RANK_ORDER;
      call.rows = mine.size();
      call.collective = SF_SCAN;
      double found = 0;
      ASSERT_EQ(sf_reduce(&call, mine.data(), nullptr, &found, world.comm), SF_OK) << sf_error_text();
      std::size_t end = 0;
      for (std::size_t rank = 0; rank <= world.index(); ++rank)
        for (const Interval interval : ownership[rank]) end = std::max<std::size_t>(end, interval.end);
      const std::vector<double> prefix(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(end));
      if (prefix.empty()) {
        ASSERT_EQ(found, 0);
      } else {
        ASSERT_TRUE(is(found, reference::of_lanes(prefix, lanes, add))) << n << " elements, " << lanes << " lanes";
      }
    }
  }
}

/// An operator of the caller, declared commutative: its bits depend on the order all the same.
TEST_F(TreeLanesTest, OfAnOperatorThatIsDeclaredCommutative) {
  const auto join = [](std::uint64_t a, std::uint64_t b) { return (a + b) * 0x9E3779B97F4A7C15U; };
  std::vector<std::uint64_t> x(777);
  for (auto& each : x) each = random();
  const Ownership ownership = shuffled(x.size(), world.count(), 20, false, random);
  const std::vector<std::uint64_t> mine = pick(x, ownership[world.index()]);
  sf_call call = sf_call_default();
  call.operation = SF_USER;
  call.type = SF_BYTES;
  call.element_bytes = sizeof(std::uint64_t);
  call.commutative = 1;
  call.user = [](const void* left, const void* right, void* result, std::size_t count, void*) {
    const auto* a = static_cast<const std::uint64_t*>(left);
    const auto* b = static_cast<const std::uint64_t*>(right);
    for (std::size_t i = 0; i < count; ++i)
      static_cast<std::uint64_t*>(result)[i] = (a[i] + b[i]) * 0x9E3779B97F4A7C15U;
    return 0;
  };
  call.method = SF_TREE;
  call.lanes = 16;
  call.layout = SF_INTERVALS;
  call.intervals = ownership[world.index()].data();
  call.interval_count = ownership[world.index()].size();
  call.rows = mine.size();
  std::uint64_t found = 0;
  ASSERT_EQ(sf_reduce(&call, mine.data(), nullptr, &found, world.comm), SF_OK) << sf_error_text();
  EXPECT_EQ(found, reference::of_lanes(x, 16, join));
}

}  // namespace
}  // namespace steadfold::tests::tree_lanes_test
