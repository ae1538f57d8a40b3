// Rules for which rank holds which elements, as users give them: the same bits as one process and as lists of
// intervals, over every kind of call; and rules that no grid of these ranks has, which are errors on every rank.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <mutex>
#include <random>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "capi/on_groups.hpp"
#include "steadfold/bundle.hpp"
#include "steadfold/plan.hpp"
#include "steadfold/started.hpp"
#include "support/dealt.hpp"
#include "support/hostile.hpp"
#include "support/sanitized.hpp"

namespace steadfold::test::grid_test {
namespace {

constexpr int rank_counts[] = {1, 2, 3, 4, 5, 7, 8};

/// Numbers whose sum depends on the order in which it is taken; among them are special ones.
std::vector<double> elements(std::size_t count, std::uint64_t seed, bool is_special) {
  std::vector<double> x = hostile(count, seed);
  constexpr double special[] = {1e300, -1e300, 5e-324, -0.0, std::numeric_limits<double>::infinity()};
  for (std::size_t i = 0; is_special && i < x.size(); i += 7) x[i] = special[i % (i % 5 == 0 ? 5 : 4)];
  return x;
}

std::vector<double> part_of(const std::vector<double>& all, const std::vector<Interval>& intervals) {
  std::vector<double> mine;
  for (const Interval i : intervals)
    mine.insert(mine.end(), all.begin() + static_cast<std::ptrdiff_t>(i.begin),
                all.begin() + static_cast<std::ptrdiff_t>(i.end));
  return mine;
}

Layout layout_of(const Dealt& deal) {
  GridAxis axes[3] = {};
  for (std::size_t i = 0; i < deal.axes.size(); ++i)
    axes[i] = {deal.axes[i].extent, deal.axes[i].ranks, deal.axes[i].block, deal.axes[i].first};
  if (deal.axes.size() == 1) return Layout::grid({axes[0]});
  if (deal.axes.size() == 2) return Layout::grid({axes[0], axes[1]});
  return Layout::grid(axes);
}

/// A job's elements, who holds them, and what they come to in one process.
struct Job {
  Dealt deal;
  std::vector<double> x;
  std::vector<std::vector<Interval>> lists;

  Job(Dealt rule, std::uint64_t seed, bool is_special)
      : deal(std::move(rule)), x(elements(deal.elements(), seed, is_special)), lists(deal.lists<Interval>()) {}
};

double halve(double a, double b) { return a / 2 - b; }

void expect_bits(const Job& job, const Group& group) {
  const auto& mine = job.lists[static_cast<std::size_t>(group.rank())];
  const std::vector<double> x = part_of(job.x, mine);
  const Layout rule = layout_of(job.deal);
  const Layout list = Layout::intervals(mine);
  const double by_tree = sf::sum(job.x, sf::tree());
  for (const Layout& layout : {rule, list}) {
    EXPECT_EQ(bits(sf::sum(x, group, {.method = sf::tree(), .layout = layout})), bits(by_tree));
    EXPECT_EQ(bits(sf::sum(x, group, {.layout = layout, .require = sf::layout})), bits(sf::sum(job.x)));
    EXPECT_EQ(bits(sf::sum(x, group, {.method = sf::binned(), .layout = layout})), bits(sf::sum(job.x, sf::binned())));
    if (job.x.empty()) continue;
    EXPECT_EQ(bits(sf::reduce(x, halve, group, {.layout = layout})), bits(sf::reduce(job.x, halve)));
    const auto found = sf::min_location(x, group, {.layout = layout});
    EXPECT_EQ(found.index, sf::min_location(job.x).index);
    for (const char* schedule : {"owner", "owner:buffer=3", "binomial"}) {
      const auto at_root = sf::min_location(x, group, {.layout = layout, .root = 0, .schedule = schedule});
      if (group.rank() == 0) {
        EXPECT_EQ(at_root.index, sf::min_location(job.x).index) << schedule;
      }
    }
    sf::Plan<double, sf::Located<double>> of_location(sf::min_location, x.size(), group, {.layout = layout});
    EXPECT_EQ(of_location.run(x).index, sf::min_location(job.x).index);
    sf::Plan<double, sf::Statistics> of_statistics(sf::statistics, x.size(), group, {.layout = layout});
    EXPECT_EQ(of_statistics.run(x).max_index, sf::statistics(job.x).max_index);
  }
  sf::Plan<double> plan(sf::sum, x.size(), group, {.method = sf::tree(), .layout = rule});
  EXPECT_EQ(bits(plan.run(x)), bits(by_tree));
  EXPECT_EQ(bits(plan.run(x)), bits(by_tree));
  sf::Bundle bundle;
  const auto s = bundle.sum(x, {.method = sf::tree(), .layout = rule});
  const auto e = bundle.sum(x, {.layout = list});
  const auto t = bundle.sum(x, {.method = sf::tree(), .layout = list});
  std::vector<sf::Result<sf::Located<double>>> least;
  for (const Layout& layout : {rule, list})
    if (!job.x.empty()) least.push_back(bundle.min_location(x, {.layout = layout}));
  auto together = bundle.bind(group);
  together.run();
  EXPECT_EQ(bits(s.value()), bits(by_tree));
  EXPECT_EQ(bits(e.value()), bits(sf::sum(job.x)));
  EXPECT_EQ(bits(t.value()), bits(by_tree));
  for (const auto& each : least) EXPECT_EQ(each.value().index, sf::min_location(job.x).index);
}

/// More calls than are on their way at once, whose rules are gone before they begin.
void expect_started_bits(const Job& job, const Group& group) {
  const auto ranks = static_cast<std::uint64_t>(group.size());
  const Job cyclic(Dealt{{{.extent = job.x.size(), .ranks = ranks, .block = 1}}}, 0, false);
  const auto rank = static_cast<std::size_t>(group.rank());
  const std::vector<double> mine[] = {part_of(job.x, job.lists[rank]), part_of(job.x, cyclic.lists[rank])};
  std::vector<Pending<double>> calls;
  for (int i = 0; i < 20; ++i) {
    const Layout gone = layout_of(i % 2 == 0 ? job.deal : cyclic.deal);
    calls.push_back(sf::start(sf::sum, mine[i % 2], group, {.method = sf::tree(), .layout = gone}));
  }
  for (auto& call : calls) EXPECT_EQ(bits(call.get()), bits(sf::sum(job.x, sf::tree())));
}

TEST(Grids, HaveTheBitsOfOneProcess) {
  const std::uint64_t seed = std::random_device()();
  // Fewer ranks under sanitizers, which take several times as long.
  for (const int p : std::span(rank_counts).first(sanitized ? 4 : 7)) {
    std::mt19937_64 random(seed + static_cast<std::uint64_t>(p));
    std::vector<Job> jobs;
    for (int i = 0; i < 6; i += sanitized ? 3 : 1)
      jobs.emplace_back(some_deal(random, static_cast<std::uint64_t>(p), i < 3 ? 40 : 1500), random(), i % 2 == 1);
    on_groups(p, seed, [&](const Group& group) {
      for (const Job& job : jobs) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", p " + std::to_string(p) + ", " + job.deal.text());
        expect_bits(job, group);
        expect_started_bits(job, group);
      }
    });
  }
}

TEST(Grids, AreNamedAsPeopleThinkOfThem) {
  const auto x = elements(24 * 31, 5, false);
  const Dealt cyclic{{{.extent = x.size(), .ranks = 6, .block = 5, .first = 4}}};
  const Dealt blocks{{{.extent = 24, .ranks = 2}, {.extent = 31, .ranks = 3}}};
  const int dims[] = {2, 0};
  const double by_tree = sf::sum(x, sf::tree());
  on_groups(6, 1, [&](const Group& group) {
    const auto rank = static_cast<std::size_t>(group.rank());
    const auto of_cyclic = part_of(x, cyclic.lists<Interval>()[rank]);
    const auto of_blocks = part_of(x, blocks.lists<Interval>()[rank]);
    const auto sum_of = [&](const std::vector<double>& mine, const Layout& layout) {
      return bits(sf::sum(mine, group, {.method = sf::tree(), .layout = layout}));
    };
    EXPECT_EQ(sum_of(of_cyclic, Layout::block_cyclic(x.size(), 5, 4)), bits(by_tree));
    EXPECT_EQ(sum_of(of_blocks, Layout::blocks({24, 31}, {2, 3})), bits(by_tree));
    EXPECT_EQ(sum_of(of_blocks, Layout::blocks({24, 31}, dims)), bits(by_tree));
  });
}

/// What the bits would be without a method that keeps them.
TEST(Grids, PlainSumsDoDiffer) {
  const auto x = elements(24 * 35, 1, false);
  std::set<std::uint64_t> found;
  std::mutex mutex;
  for (const int p : rank_counts) {
    const Dealt deal{{{.extent = 24, .ranks = 1}, {.extent = 35, .ranks = static_cast<std::uint64_t>(p), .block = 2}}};
    const auto lists = deal.lists<Interval>();
    on_groups(p, 1, [&](const Group& group) {
      const auto mine = part_of(x, lists[static_cast<std::size_t>(group.rank())]);
      const double sum = sf::sum(mine, group, {.method = sf::plain(), .layout = layout_of(deal)});
      const std::lock_guard lock(mutex);
      found.insert(bits(sum));
    });
  }
  EXPECT_GT(found.size(), 4u);
}

/// Every rank makes the call; one has `wrong`, or all have if `text` is that of the rule by itself. All get the same
/// error, by one-shot calls and binds, and the next call works.
void expect_refused(const Layout& right, const Layout& wrong, std::size_t rows, sf_status status,
                    const std::string& text) {
  constexpr int p = 4;
  const std::vector<double> x(rows, 1.0);
  for (const Method method : {sf::tree(), sf::exact()}) {
    for (int culprit = 0; culprit < (status == SF_MISMATCH ? p : p + 1); ++culprit) {
      on_groups(p, 1, [&](const Group& group) {
        const Layout& mine = group.rank() == culprit || culprit == p ? wrong : right;
        const auto expect_error = [&](const auto& call) {
          try {
            call();
            ADD_FAILURE() << "nothing is said to rank " << group.rank() << " of what is wrong on rank " << culprit;
          } catch (const Error& error) {
            EXPECT_EQ(error.status(), status) << error.what();
            EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
          }
        };
        expect_error([&] { sf::sum(x, group, {.method = method, .layout = mine}); });
        expect_error([&] { sf::Plan<double>(sf::sum, rows, group, {.method = method, .layout = mine}); });
        EXPECT_EQ(sf::sum(x, group, {.method = method, .layout = right}), static_cast<double>(p * rows));
      });
    }
  }
}

TEST(Grids, ThatDifferAreErrorsOnEveryRank) {
  const Layout right = Layout::block_cyclic(24, 3);
  expect_refused(right, Layout::block_cyclic(24, 2), 6, SF_MISMATCH, "24 elements on 4 ranks in blocks of ");
  expect_refused(right, Layout::block_cyclic(24, 6), 6, SF_MISMATCH, "against");
  expect_refused(right, Layout::block_cyclic(24, 3, 1), 6, SF_MISMATCH, "in blocks of 3 from rank 1");
  expect_refused(right, Layout::blocks({8, 4}, {2, 2}), 6, SF_INVALID_ARGUMENT, "8 x 4 elements on 2 x 2 ranks");
  expect_refused(right, Layout::blocks({4, 6}, {2, 2}), 6, SF_MISMATCH, "4 x 6 elements on 2 x 2 ranks");
  expect_refused(right, Layout(), 6, SF_MISMATCH, "layout ");
  expect_refused(right, Layout::blocks({24}, {3}), 6, SF_INVALID_ARGUMENT, "a grid of 3 ranks for 4 ranks");
  expect_refused(right, Layout::block_cyclic(24, 3, 4), 6, SF_INVALID_ARGUMENT, "first rank 4 along an axis of 4");
}

TEST(Grids, OfOneProcessAreAllElements) {
  const std::vector<double> x = elements(35, 2, false);
  sf_grid grid{.axis_count = 2, .axes = {{5, 0, 2, 0}, {7, 1, 0, 0}}};
  sf_call call = sf_call_default();
  call.method = SF_TREE;
  call.rows = x.size();
  call.layout = SF_GRID;
  call.grid = &grid;
  const auto refused = [&](const std::string& text) {
    double result = 0;
    EXPECT_EQ(sf_reduce_local(&call, x.data(), nullptr, &result), SF_INVALID_ARGUMENT);
    EXPECT_NE(std::string(sf_error_text()).find(text), std::string::npos) << sf_error_text();
  };
  double result = 0;
  ASSERT_EQ(sf_reduce_local(&call, x.data(), nullptr, &result), SF_OK) << sf_error_text();
  EXPECT_EQ(bits(result), bits(sf::sum(x, sf::tree())));
  grid.axes[1].ranks = 2;
  refused("a grid of 1 x 2 ranks for 1 rank");
  grid.axes[1].ranks = 1;
  grid.axes[1].extent = 6;
  refused("35 rows of data, but a grid of 5 x 6 elements");
  for (const std::uint32_t axes : {0u, 4u}) {
    grid.axis_count = axes;
    refused("a grid of " + std::to_string(axes) + " axes");
  }
  call.grid = nullptr;
  refused("no grid");
}

}  // namespace
}  // namespace steadfold::test::grid_test
