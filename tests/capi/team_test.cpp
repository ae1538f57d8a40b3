// Teams: the same bits as one thread, from the public API alone; what careless callers do; what a call allocates.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <functional>
#include <mutex>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "steadfold/bundle.hpp"
#include "steadfold/started.hpp"
#include "support/allocations.hpp"
#include "support/hostile.hpp"
#include "support/on_team.hpp"
#include "support/parts.hpp"

namespace steadfold::test::team_test {
namespace {

std::span<const double> part_of(const std::vector<double>& all, const Team::Member& member) {
  return test::part_of<double>(all, member.worker(), member.size());
}

TEST(Team, EveryNumberOfThreadsGivesTheBitsOfOne) {
  const auto x = hostile(5000, 1), y = hostile(5000, 2);
  const auto subtract = [](double a, double b) { return a - b / 3; };
  const double sum = sf::sum(x), dot = sf::dot(x, y), norm = sf::norm2(x), greatest = sf::max(x),
               binned = sf::sum(x, {.method = sf::binned()}), by_tree = sf::sum(x, {.method = sf::tree()}),
               reduced = sf::reduce(x, subtract);
  std::set<std::uint64_t> plain;
  std::mutex mutex;
  for (const int workers : {1, 2, 3, 4, 5, 7, 8, 13, 32, 64}) {
    on_team(workers, [&](const Team::Member& member) {
      const auto mine = part_of(x, member), other = part_of(y, member);
      const Options in_order{.method = sf::tree(), .layout = Layout::contiguous(mine.size(), member)};
      EXPECT_EQ(bits(sf::sum(mine, member)), bits(sum)) << workers;
      EXPECT_EQ(bits(sf::dot(mine, other, member)), bits(dot)) << workers;
      EXPECT_EQ(bits(sf::norm2(mine, member)), bits(norm)) << workers;
      EXPECT_EQ(bits(sf::max(mine, member)), bits(greatest)) << workers;
      EXPECT_EQ(bits(sf::sum(mine, member, {.method = sf::binned()})), bits(binned)) << workers;
      EXPECT_EQ(bits(sf::sum(mine, member, in_order)), bits(by_tree)) << workers;
      EXPECT_EQ(bits(sf::reduce(mine, subtract, member, {.layout = in_order.layout})), bits(reduced)) << workers;
      const double order_matters = sf::sum(mine, member, {.method = sf::plain()});
      const std::lock_guard lock(mutex);
      plain.insert(bits(order_matters));
    });
  }
  EXPECT_GT(plain.size(), 3u) << "the control: plain sums should differ";
}

/// Every schedule that is not MPI's own: messages of every form and size, by cache line and by pointer.
TEST(Team, EverySchedule) {
  constexpr std::size_t most_columns = 3000;
  for (const int workers : {2, 3, 5, 8}) {
    const auto p = static_cast<std::size_t>(workers);
    const auto all = hostile(p * most_columns, 9);
    std::vector<double> by_tree, exactly;  // of each column
    for (std::size_t c = 0; c < most_columns; ++c) {
      std::vector<double> column;
      for (std::size_t r = 0; r < p; ++r) column.push_back(all[r * most_columns + c]);
      by_tree.push_back(sf::sum(column, LocalOptions{.method = sf::tree()}));
      exactly.push_back(sf::sum(column));
    }
    on_team(workers, [&](const Team::Member& member) {
      const auto mine = std::span(all).subspan(static_cast<std::size_t>(member.worker()) * most_columns);
      for (const char* schedule :
           {"recursive_doubling", "ring", "transpose", "binomial", "pipelined_tree:block=64", "circulant", "native",
            "halving_doubling", "bruck", "dissemination", "two_level:inner=[flat]:outer=[ring]:size=2", "knomial"}) {
        for (const std::size_t columns : {std::size_t{1}, std::size_t{7}, std::size_t{300}, most_columns}) {
          const bool is_native = std::string(schedule) == "native";
          const auto& sums = is_native ? exactly : by_tree;
          const std::vector<double> due(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(columns));
          std::vector<double> row(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(columns));
          sf::allreduce(row, sf::plus, member, {.method = is_native ? sf::exact() : sf::tree(), .schedule = schedule});
          EXPECT_EQ(bits(row), bits(due)) << schedule << ", " << columns << " columns, " << workers << " workers";
        }
      }
    });
  }
}

TEST(Team, CallsAreStartedAndEndedInAnyOrder) {
  const auto x = hostile(900, 5);
  const double sum = sf::sum(x), least = sf::min(x);
  for (const int workers : {1, 3, 4}) {
    on_team(workers, [&](const Team::Member& member) {
      const auto mine = part_of(x, member);
      for (int again = 0; again < 50; ++again) {
        auto first = sf::start(sf::plus, mine, member);
        auto second = sf::start(sf::min, mine, member);
        sf::barrier(member);
        if ((member.worker() + again) % 2 == 0) {
          EXPECT_EQ(bits(second.get()), bits(least));
          EXPECT_EQ(bits(first.get()), bits(sum));
        } else {
          EXPECT_EQ(bits(first.get()), bits(sum));
          EXPECT_EQ(bits(second.get()), bits(least));
        }
      }
    });
  }
}

TEST(Team, CallsAfterTheFirstAllocateNothing) {
  const auto x = hostile(64, 6);
  for (const int workers : {1, 2, 3}) {
    on_team(workers, [&](const Team::Member& member) {
      const auto mine = part_of(x, member);
      Plan<double> plan(sf::plus, mine.size(), member);
      std::vector<double> row(8, 1.0 + member.worker());
      const auto calls = [&] {
        plan.run(mine);
        sf::sum(mine, member);
        sf::allreduce(row, sf::max, member);
      };
      for (int i = 0; i < 20; ++i) calls();  // every place of the ring of calls has seen every shape
      const std::uint64_t before = own_allocations().count;
      for (int i = 0; i < 20; ++i) calls();
      EXPECT_EQ(own_allocations().count - before, 0u) << workers;
    });
  }
}

/// Plan by plan not a single block stays.
TEST(Team, PlansThatGoLeaveNothingBehind) {
  const std::vector<double> x(5, 1.0);
  on_team(1, [&](const Team::Member& member) {
    const auto bind_and_run = [&] {
      Plan<double> plan(sf::plus, x.size(), member);
      EXPECT_EQ(plan.run(x), 5.0);
    };
    bind_and_run();
    const std::int64_t before = own_allocations().unfreed;
    constexpr int plans = 20;
    for (int i = 0; i < plans; ++i) bind_and_run();
    EXPECT_LT(own_allocations().unfreed - before, plans);
  });
}

/// An operator that throws on one worker is an error for all, and the team goes on.
TEST(Team, AWorkerWhoseOperatorThrows) {
  const auto x = hostile(40, 7);
  for (const int workers : {2, 3, 5}) {
    on_team(workers, [&](const Team::Member& member) {
      const auto mine = part_of(x, member);
      const bool is_culprit = member.worker() == 1;
      const auto careless = [&](double a, double b) -> double {
        if (is_culprit) throw std::runtime_error("no more");
        return a + b;
      };
      const Options by_tree{.layout = Layout::contiguous(mine.size(), member)};
      if (is_culprit)
        EXPECT_THROW(sf::reduce(mine, careless, member, by_tree), std::exception);
      else
        EXPECT_THROW(sf::reduce(mine, careless, member, by_tree), Error);
      EXPECT_EQ(bits(sf::sum(mine, member)), bits(sf::sum(x)));
    });
  }
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Team, MisuseIsAnswered) {
  EXPECT_NE(refusal([] { Team team(0); }).find("a team of 0 workers (a team has 1 to 1024 workers)"),
            std::string::npos);
  EXPECT_THROW(Team(SF_TEAM_MOST + 1), Error);
  EXPECT_EQ(sf_team_create(2, nullptr), SF_INVALID_ARGUMENT);
  EXPECT_EQ(sf_team_size(nullptr), -1);
  sf_team_free(nullptr);
  const Team team(2);
  sf_group* group = nullptr;
  EXPECT_EQ(sf_team_group(nullptr, 0, &group), SF_INVALID_ARGUMENT);
  for (const int number : {-1, 2, 1000})
    EXPECT_NE(refusal([&] {
                sf::barrier(team[number]);
              }).find("worker " + std::to_string(number) + " does not exist (the number of workers of the team is 2)"),
              std::string::npos);
}

/// Two threads that use one worker: the second is refused while the first waits for the rest of the team.
TEST(Team, AThreadTooMany) {
  const Team team(2);
  std::atomic<int> refused = 0;
  const auto use_the_first = [&] {
    const std::string why = refusal([&] { sf::barrier(team[0]); });
    if (why.empty()) return;
    EXPECT_NE(why.find("the worker of the team is in use by another thread"), std::string::npos) << why;
    ++refused;
  };
  std::thread one(use_the_first), other(use_the_first);
  while (refused == 0) std::this_thread::yield();
  sf::barrier(team[1]);
  one.join();
  other.join();
  EXPECT_EQ(refused, 1);
}

/// One thread may ask for every worker's group, and start a call on each, before any other thread has come.
TEST(Team, NobodyWaitsBeforeItsFirstCall) {
  const auto x = hostile(300, 11);
  const Team team(3);
  std::vector<Group> groups;
  for (int w = 0; w < 3; ++w) {
    EXPECT_EQ(team[w].group().rank(), w);
    EXPECT_EQ(team[w].group().size(), 3);
    groups.push_back(team[w].group());
  }
  std::vector<Pending<double>> pending;
  for (const int call : {0, 1})
    for (int w = 0; w < 3; ++w)
      pending.push_back(sf::start(sf::sum, part_of(x, team[w]), groups[static_cast<std::size_t>(w)],
                                  {.method = call == 0 ? sf::exact() : sf::binned()}));
  for (int w = 0; w < 3; ++w) {
    EXPECT_EQ(bits(pending[static_cast<std::size_t>(w)].get()), bits(sf::sum(x)));
    EXPECT_EQ(bits(pending[static_cast<std::size_t>(3 + w)].get()), bits(sf::sum(x, {.method = sf::binned()})));
  }
}

/// Whether a call has ended goes with it from one Pending to another.
TEST(Team, APendingIsAssignedAnotherCall) {
  const auto x = hostile(300, 15);
  const Team team(2);
  auto pending = sf::start(sf::sum, part_of(x, team[0]), team[0]);
  auto other = sf::start(sf::sum, part_of(x, team[1]), team[1]);
  EXPECT_EQ(bits(pending.get()), bits(sf::sum(x)));
  EXPECT_EQ(bits(other.get()), bits(sf::sum(x)));
  pending = sf::start(sf::sum, part_of(x, team[0]), team[0]);
  EXPECT_FALSE(pending.test()) << "worker 1 has not come";
  other = sf::start(sf::sum, part_of(x, team[1]), team[1]);
  EXPECT_EQ(bits(pending.get()), bits(sf::sum(x)));
  EXPECT_EQ(bits(other.get()), bits(sf::sum(x)));
}

// --- waits for workers that never come -------------------------------------------------------------------------------

using Seconds = std::chrono::duration<double>;
using Clock = std::chrono::steady_clock;

/// Whether a call is ended by a limit, whatever it is, and before or after the workers have met.
TEST(Team, ALimitEndsAWaitForWorkersThatNeverCome) {
  const auto x = hostile(300, 12);
  using Calls = std::vector<std::function<void(const Team::Member&, Plan<double>&)>>;
  const Calls calls = {
      [&](const Team::Member& member, auto&) { sf::sum(part_of(x, member), member); },
      [&](const Team::Member& member, auto&) { sf::barrier(member); },
      [&](const Team::Member& member, auto&) { const Plan<double> other(sf::max, std::size_t{5}, member); },
      [&](const Team::Member& member, auto& plan) { plan.run(part_of(x, member)); },
      [&](const Team::Member& member, auto& plan) {
        const auto mine = part_of(x, member);
        double sum = 0;
        plan.start(mine, {&sum, 1});
        plan.wait();
      },
      [&](const Team::Member& member, auto&) { sf::start(sf::sum, part_of(x, member), member).get(); },
  };
  for (const auto& call : calls) {
    Team team(3);
    team.set_timeout(Seconds(0.5));
    std::atomic<int> late = 0;
    on_members(team, [&](const Team::Member& member) {
      Plan<double> plan(sf::plus, part_of(x, member).size(), member);
      EXPECT_EQ(bits(plan.run(part_of(x, member))), bits(sf::sum(x)));
      if (member.worker() == 1) {  // stays away, and comes when the others have given up
        while (late != 2) std::this_thread::yield();
      }
      const auto began = Clock::now();
      const std::string why = refusal([&] { call(member, plan); });
      EXPECT_LT(Seconds(Clock::now() - began).count(), 10) << "it should be 0.5";
      EXPECT_NE(why.find("took longer than its limit of 0.5"), std::string::npos) << why;
      EXPECT_NE(why.find("in no call: 1)"), std::string::npos) << why;
      ++late;
      for (const auto& each : calls) EXPECT_EQ(refusal([&] { each(member, plan); }), why);
    });
  }
  Team alone(2);  // whose workers have never met
  alone.set_timeout(Seconds(0.05));
  EXPECT_NE(refusal([&] { sf::sum(x, alone[0]); }).find("in no call: 1)"), std::string::npos);
  EXPECT_NE(refusal([&] { sf::sum(x, alone[1]); }).find("in no call: 1)"), std::string::npos);
}

TEST(Team, LimitsBelowZeroAreRefused) {
  Team team(2);
  for (const double wrong : {-1.0, -1e-30, std::nan("")})
    EXPECT_NE(refusal([&] { team.set_timeout(Seconds(wrong)); }).find("at least 0"), std::string::npos) << wrong;
}

/// Timeouts of a wait's own, and of started calls that are only tested, end nothing.
TEST(Team, WaitsWithATimeoutOfTheirOwnGoByThat) {
  const auto x = hostile(300, 13);
  Team team(2);
  team.set_timeout(Seconds(0.05));
  auto pending = sf::start(sf::sum, part_of(x, team[0]), team[0]);
  EXPECT_FALSE(pending.wait_for(Seconds(0.2)));
  auto other = sf::start(sf::sum, part_of(x, team[1]), team[1]);
  EXPECT_EQ(bits(pending.get()), bits(sf::sum(x)));
  EXPECT_EQ(bits(other.get()), bits(sf::sum(x)));
}

/// Who gives up leaves its call when nobody reads its memory any more: here, while an operator of a neighbour does.
TEST(Team, NobodyLeavesWhileItsMemoryIsRead) {
  std::atomic<int> in_operator = 0, slow_ones = 0;
  std::atomic<bool> is_slow = false;
  const std::function<double(double, double)> slowly = [&](double a, double b) {
    ++in_operator;
    if (is_slow) {
      ++slow_ones;
      std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    }
    --in_operator;
    return a + b;
  };
  Team team(3);
  team.set_timeout(Seconds(0.7));  // the first calls take a while on a busy machine
  std::atomic<int> ended = 0;
  on_members(team, [&](const Team::Member& member) {
    const std::vector<double> row(1, 1.0);
    const Options options{.layout = Layout::contiguous(1, member), .schedule = "binomial"};  // 0 and 1 before 2
    Plan<double> plan(slowly, 1, member, options);
    EXPECT_EQ(plan.run(row), 3.0);
    sf::barrier(member);
    is_slow = true;
    if (member.worker() == 2) {
      while (ended != 2) std::this_thread::yield();
      return;
    }
    EXPECT_NE(refusal([&] { plan.run(row); }), "");
    EXPECT_EQ(in_operator, 0) << "it left a call in which another worker reads";
    ++ended;
  });
  EXPECT_GT(slow_ones, 0) << "the control: an operator should be at work";
}

std::atomic<bool> is_asked_to_stop = false;

/// As interpreters do, where a user presses Ctrl-C.
TEST(Team, AnInterruptEndsTheWaitsOfAllWorkers) {
  const auto x = hostile(300, 14);
  sf_set_interrupt([] { return is_asked_to_stop ? 1 : 0; });
  const Team team(3);
  sf_set_interrupt(nullptr);
  const Team other(3);
  on_members(team, [&](const Team::Member& member) {
    EXPECT_EQ(bits(sf::sum(part_of(x, member), member)), bits(sf::sum(x)));
    if (member.worker() == 2) return;
    if (member.worker() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(150));
      sf_set_interrupt([] { return is_asked_to_stop ? 1 : 0; });
      is_asked_to_stop = true;
    }
    const auto began = Clock::now();
    const std::string why = refusal([&] { sf::sum(part_of(x, member), member); });
    EXPECT_LT(Seconds(Clock::now() - began).count(), 10) << "it should be 0.3";
    EXPECT_EQ(why, "the team can't be used any more (a call on it was interrupted), use another communicator or team");
  });
  EXPECT_NE(refusal([&] { sf::sum(x, team[2]); }), "");
  on_members(other, [&](const Team::Member& member) {  // was there before: none of its calls asks
    EXPECT_EQ(bits(sf::sum(part_of(x, member), member)), bits(sf::sum(x)));
  });
  sf_set_interrupt(nullptr);
  is_asked_to_stop = false;
}

TEST(Team, PlansOutliveTheirTeam) {
  const auto x = hostile(500, 8);
  std::vector<std::optional<Plan<double>>> plans(3);
  {
    const Team team(3);
    on_members(team, [&](const Team::Member& member) {
      plans[static_cast<std::size_t>(member.worker())].emplace(sf::plus, part_of(x, member).size(), member);
    });
  }
  const Team other(3);  // takes no memory of the first
  on_members(other, [&](const Team::Member& member) {
    auto& plan = *plans[static_cast<std::size_t>(member.worker())];
    for (int run = 0; run < 10; ++run) EXPECT_EQ(bits(plan.run(part_of(x, member))), bits(sf::sum(x)));
    EXPECT_EQ(bits(sf::sum(part_of(x, member), member)), bits(sf::sum(x)));
  });
}

/// Teams come and go, and members of several are used in turn.
TEST(Team, ManyTeams) {
  const auto x = hostile(100, 10);
  const double due = sf::sum(x);
  for (int again = 0; again < 20; ++again) {
    const Team one(3), two(3);
    on_members(one, [&](const Team::Member& member) {
      const Team::Member other = two[2 - member.worker()];
      for (int call = 0; call < 5; ++call) {
        EXPECT_EQ(bits(sf::sum(part_of(x, member), member)), bits(due));
        EXPECT_EQ(bits(sf::sum(part_of(x, other), other)), bits(due));
      }
    });
  }
}

}  // namespace
}  // namespace steadfold::test::team_test
