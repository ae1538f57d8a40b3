// Groups of ranks without MPI, whose ranks are threads: the public C and C++ calls run over a transport of our own,
// outside libsteadfold, handed to the shared library as the layers over MPI do it; then over a team's cache lines.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "capi/on_groups.hpp"
#include "steadfold/bundle.hpp"
#include "steadfold/group.hpp"
#include "steadfold/started.hpp"
#include "support/hostile.hpp"
#include "support/parts.hpp"

namespace steadfold::test::group_test {
namespace {

std::span<const double> part_of(const std::vector<double>& all, const Group& group) {
  return test::part_of<double>(all, group.rank(), group.size());
}

constexpr int rank_counts[] = {1, 2, 3, 4, 5, 7, 8};

TEST(GroupOfThreads, CallsHaveTheBitsOfOneProcess) {
  const auto x = hostile(1000, 1), y = hostile(1000, 2);
  const auto subtract = [](double a, double b) { return a - b / 3; };
  const double sum = sf::sum(x), dot = sf::dot(x, y), by_tree = sf::sum(x, {.method = sf::tree()});
  const double reduced = sf::reduce(x, subtract);
  for (const int p : rank_counts) {
    on_groups(p, static_cast<std::uint64_t>(p), [&](const Group& group) {
      const auto mine = part_of(x, group), other = part_of(y, group);
      const Options in_order{.layout = Layout::contiguous(mine.size(), group)};
      EXPECT_EQ(bits(sf::sum(mine, group)), bits(sum)) << p;
      EXPECT_EQ(bits(sf::dot(mine, other, group)), bits(dot)) << p;
      EXPECT_EQ(bits(sf::sum(mine, group, {.method = sf::tree()})), bits(by_tree)) << p;
      EXPECT_EQ(bits(sf::reduce(mine, subtract, group, in_order)), bits(reduced)) << p;
    });
  }
}

TEST(GroupOfThreads, PlainSumsDoDiffer) {
  const auto x = hostile(1000, 1);
  std::set<std::uint64_t> found;
  std::mutex mutex;
  for (const int p : rank_counts) {
    on_groups(p, static_cast<std::uint64_t>(p), [&](const Group& group) {
      const double sum = sf::sum(part_of(x, group), group, {.method = sf::plain()});
      const std::lock_guard lock(mutex);
      found.insert(bits(sum));
    });
  }
  EXPECT_GT(found.size(), 2u);
}

TEST(GroupOfThreads, PlansAndBundles) {
  const auto x = hostile(3000, 3), y = hostile(3000, 4);
  const double sum = sf::sum(x), dot = sf::dot(x, y), least = sf::min(x);
  for (const int p : rank_counts) {
    on_groups(p, static_cast<std::uint64_t>(p), [&](const Group& group) {
      const auto mine = part_of(x, group), other = part_of(y, group);
      sf::Plan<double> plan(sf::sum, mine.size(), group);
      sf::Bundle bundle;
      const auto s = bundle.sum(mine), d = bundle.dot(mine, other), m = bundle.min(mine);
      auto together = bundle.bind(group);
      for (int run = 0; run < 3; ++run) {
        EXPECT_EQ(bits(plan.run(mine)), bits(sum)) << p;
        together.start();
        while (!together.test()) std::this_thread::yield();
        EXPECT_EQ(bits(s.value()), bits(sum)) << p;
        EXPECT_EQ(bits(d.value()), bits(dot)) << p;
        EXPECT_EQ(bits(m.value()), bits(least)) << p;
      }
    });
  }
}

TEST(GroupOfThreads, MpisShape) {
  constexpr std::size_t columns = 24;
  for (const int p : {3, 4, 8}) {
    const auto ranks = static_cast<std::size_t>(p);
    const auto all = hostile(ranks * columns, 5);
    std::vector<double> sums, before;  // by the tree over all ranks, and over the ranks below the last
    for (std::size_t c = 0; c < columns; ++c) {
      std::vector<double> column;
      for (std::size_t r = 0; r < ranks; ++r) column.push_back(all[r * columns + c]);
      sums.push_back(sf::sum(column, {.method = sf::tree()}));
      column.pop_back();
      before.push_back(sf::sum(column, {.method = sf::tree()}));
    }
    on_groups(p, 6, [&](const Group& group) {
      const auto r = static_cast<std::size_t>(group.rank());
      const auto row = std::span(all).subspan(r * columns, columns);
      std::vector<double> everywhere(row.begin(), row.end()), at_root = everywhere, scanned = everywhere,
                                                              left = everywhere, block(columns / ranks);
      sf::allreduce(everywhere, sf::plus, group);
      EXPECT_EQ(bits(everywhere), bits(sums));
      sf::reduce_to(1, at_root, sf::plus, group);
      EXPECT_EQ(bits(at_root), bits(r == 1 ? sums : std::vector(row.begin(), row.end())));
      sf::scan(scanned, sf::plus, group);
      sf::exscan(left, sf::plus, group);
      if (r + 1 == ranks) {
        EXPECT_EQ(bits(scanned), bits(sums));
        EXPECT_EQ(bits(left), bits(before));
      }
      sf::reduce_scatter_block(row, block, sf::plus, group);
      const auto* const mine = sums.data() + r * block.size();
      EXPECT_EQ(bits(block), bits(std::vector(mine, mine + block.size())));
    });
  }
}

TEST(GroupOfThreads, PlansOutliveTheirGroup) {
  const auto x = hostile(500, 7);
  on_threads(3, 8, [&](std::unique_ptr<transport::Transport> transport) {
    sf_call call = sf_call_default();
    std::optional<OwnGroup> group(std::in_place, std::move(transport));
    const auto mine = part_of(x, *group);
    call.rows = mine.size();
    call.method = SF_EXACT;
    sf_plan* plan = nullptr;
    ASSERT_EQ(sf_group_bind(&call, 1, group->handle(), &plan), SF_OK) << sf_error_text();
    group.reset();
    double sum = 0;
    EXPECT_EQ(sf_plan_run(plan, mine.data(), nullptr, &sum), SF_OK) << sf_error_text();
    EXPECT_EQ(bits(sum), bits(sf::sum(x)));
    sf_plan_free(plan);
  });
}

TEST(GroupOfThreads, MisuseIsAnswered) {
  sf_call call = sf_call_default();
  double result = 0;
  EXPECT_EQ(sf_group_reduce(&call, nullptr, nullptr, &result, nullptr), SF_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(sf_error_text()),
            "no group (the pointer is null), get the group of a communicator with sf_group_of");
  EXPECT_EQ(sf_group_rank(nullptr), -1);
  EXPECT_EQ(sf_group_size(nullptr), -1);
  on_threads(3, 9, [](std::unique_ptr<transport::Transport> transport) {
    const OwnGroup group(std::move(transport));
    const sf_call good = sf_call_default();
    const bool is_culprit = sf_group_rank(group.handle()) == 1;
    sf_plan* plan = nullptr;
    // One rank's fault is every rank's error, and nobody waits for ever.
    EXPECT_EQ(sf_group_bind(is_culprit ? nullptr : &good, 1, group.handle(), &plan), SF_INVALID_ARGUMENT);
    EXPECT_NE(std::string(sf_error_text()).find("no calls (the pointer is null)"), std::string::npos)
        << sf_error_text();
    EXPECT_EQ(sf_group_bind(&good, 1, group.handle(), is_culprit ? nullptr : &plan), SF_INVALID_ARGUMENT);
    EXPECT_NE(std::string(sf_error_text()).find("the plan cannot be returned"), std::string::npos) << sf_error_text();
    EXPECT_EQ(plan, nullptr);
  });
}

/// A layer above tells the others why it makes no call; the next one is not disturbed.
TEST(GroupOfThreads, ARankThatRefusesIsHeardByAll) {
  on_groups(4, 11, [](const Group& group) {
    const sf_call call = sf_call_default();
    const bool refuses = group.rank() == 2;
    double result = -1;
    sf_plan* plan = nullptr;
    const auto expect_refusal = [&](sf_status status) {
      EXPECT_EQ(status, SF_UNSUPPORTED);
      EXPECT_NE(std::string(sf_error_text()).find("no such colour (only red is there)"), std::string::npos)
          << sf_error_text();
    };
    const char* const text = "no such colour (only red is there), take red";
    expect_refusal(refuses ? sf_group_refuse(group.handle(), SF_UNSUPPORTED, text)
                           : sf_group_reduce(&call, nullptr, nullptr, &result, group.handle()));
    expect_refusal(refuses ? sf_group_refuse(group.handle(), SF_UNSUPPORTED, text)
                           : sf_group_bind(&call, 1, group.handle(), &plan));
    EXPECT_EQ(plan, nullptr);
    EXPECT_EQ(result, -1);
    EXPECT_EQ(sf_group_reduce(&call, nullptr, nullptr, &result, group.handle()), SF_OK) << sf_error_text();
    EXPECT_EQ(result, 0);
    // what is no failure is a fault of the layer
    EXPECT_EQ(refuses ? sf_group_refuse(group.handle(), SF_OK, nullptr)
                      : sf_group_reduce(&call, nullptr, nullptr, &result, group.handle()),
              SF_INTERNAL);
  });
  EXPECT_EQ(sf_group_refuse(nullptr, SF_UNSUPPORTED, "why"), SF_INVALID_ARGUMENT);
}

/// Memory for one of the group's own two endpoints runs out on one rank, and all learn of it.
TEST(GroupOfThreads, IsMadeOnAllRanksOrOnNone) {
  for (const std::uint32_t endpoint : {0u, 1u}) {
    on_threads(4, 10, [&](std::unique_ptr<transport::Transport> transport) {
      if (transport->rank() == 2) dynamic_cast<ThreadTransport&>(*transport).refuse(endpoint);
      sf_group* group = nullptr;
      EXPECT_EQ(table().make_group(std::move(transport), nullptr, &group), SF_INTERNAL);
      EXPECT_EQ(std::string(sf_error_text()).substr(0, 8), "rank 2: ") << sf_error_text();
      EXPECT_EQ(group, nullptr);
    });
  }
}

/// C++ objects pass between the libraries, so those of another release must not meet.
TEST(Layer, IsOfOneVersionOnly) {
  EXPECT_NE(sf_layer_table(sf_version()), nullptr);
  EXPECT_EQ(sf_layer_table("0.0.0"), nullptr);
  EXPECT_EQ(sf_layer_table((std::string(sf_version()) + "0").c_str()), nullptr);
}

/// Calls that a progress thread moves on: the ranks' own threads wait for the operator to have been called as often as
/// in a call that waits, and call nothing of the library meanwhile.
TEST(GroupOfThreads, ProgressThreadsMoveOnWhatIsStarted) {
  for (const int p : {1, 3, 4}) {
    static std::atomic<int> combined;
    const std::vector<double> all = hostile(500, 8);
    const auto subtract = [](double left, double right) {
      ++combined;
      return left - right;
    };
    std::barrier together(p);
    std::atomic<int> in_one_round = 0;
    on_groups(p, 40 + static_cast<std::uint64_t>(p), [&](const Group& group) {
      const auto wait_for_all = [&] { together.arrive_and_wait(); };
      const std::span<const double> mine = part_of(all, group);
      const Options by_tree{.method = tree(), .layout = Layout::contiguous(mine.size(), group)};
      if (group.rank() == 0) combined = 0;
      wait_for_all();
      const double due = reduce(mine, subtract, group, by_tree);
      Plan<double> plan(subtract, mine.size(), group, by_tree);
      EXPECT_EQ(bits(plan.run(mine)), bits(due));
      wait_for_all();
      in_one_round = combined.load();
      wait_for_all();
      const ProgressThread progress(group);
      auto started = start(subtract, mine, group, by_tree);
      double found = 0;
      plan.start(mine, {&found, 1});
      for (int naps = 0; combined < 2 * in_one_round && naps < 100000; ++naps)
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      EXPECT_EQ(combined, 2 * in_one_round) << "p " << p;
      wait_for_all();
      plan.wait();
      EXPECT_EQ(bits(found), bits(due));
      EXPECT_EQ(bits(started.get()), bits(due));
    });
  }
}

/// A plan freed while it runs, and a request freed before its end, with a progress thread beside them.
TEST(GroupOfThreads, ProgressThreadsOutliveWhatIsGivenUp) {
  on_groups(3, 50, [&](const Group& group) {
    static const std::vector<double> kept = hostile(9, 1);
    auto progress = std::make_unique<ProgressThread>(group);
    const double due = sum(kept, group);
    for (int again = 0; again < 10; ++again) {
      {
        auto dropped = start(plus, kept, group);
      }
      auto started = start(plus, kept, group);
      if (again % 2 == 0) started.test();
      EXPECT_EQ(bits(started.get()), bits(due));
      if (again == 5) progress.reset();
    }
  });
}

}  // namespace
}  // namespace steadfold::test::group_test
