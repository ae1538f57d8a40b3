// Workers whose threads are bound to cores, and packages that schedules go by, on a machine that hwloc makes up.
#include <gtest/gtest.h>

#include <sched.h>
#include <functional>

#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "steadfold/plan.hpp"
#include "support/hostile.hpp"
#include "support/in_a_process.hpp"
#include "support/on_team.hpp"
#include "support/parts.hpp"
#include "transport/hardware.hpp"

namespace steadfold::test::bound_test {
namespace {

std::vector<int> processors_of_this_thread() {
  const cpu_set_t usable = transport::usable_processors();
  std::vector<int> numbers;
  for (int number = 0; number < CPU_SETSIZE; ++number)
    if (CPU_ISSET(number, &usable)) numbers.push_back(number);
  return numbers;
}

TEST(Bound, WorkersHaveCoresOfTheirOwn) {
  const auto before = processors_of_this_thread();
  const auto cores = static_cast<int>(transport::Hardware::own().among(transport::usable_processors()).cores().size());
  for (const int workers : {1, cores, 2 * cores}) {
    std::set<std::vector<int>> used;
    std::mutex mutex;
    on_team(workers, [&](const Team::Member& member) {
      member.bind();
      const auto mine = processors_of_this_thread();
      EXPECT_EQ(sf::sum(std::vector{1.0}, member), workers);
      const std::lock_guard lock(mutex);
      used.insert(mine);
      EXPECT_TRUE(std::ranges::includes(before, mine));
    });
    EXPECT_EQ(static_cast<int>(used.size()), std::min(workers, cores));
  }
  EXPECT_EQ(processors_of_this_thread(), before) << "only those that call it are bound";
}

TEST(Bound, CanBeSwitchedOff) {
  in_a_process([] {
    const auto before = processors_of_this_thread();
    const Team team(2);
    setenv("STEADFOLD_BIND", "off", 1);
    team[0].bind();
    EXPECT_EQ(processors_of_this_thread(), before);
    setenv("STEADFOLD_BIND", "never", 1);
    const std::function<void()> binds = [&] { team[0].bind(); };
    for (const auto& call : {binds, std::function<void()>([] { const Team other(2); })}) {
      try {
        call();
        ADD_FAILURE() << "'never' means nothing";
      } catch (const Error& error) {
        EXPECT_NE(
            std::string(error.what()).find("STEADFOLD_BIND is 'never' (the value is unknown), set it to on or off"),
            std::string::npos);
      }
    }
  });
}

TEST(Bound, AWorkerThatThereIsNoneOf) {
  const Team team(2);
  EXPECT_EQ(sf_team_bind(nullptr, 0), SF_INVALID_ARGUMENT);
  for (const int number : {-1, 2}) EXPECT_THROW(team[number].bind(), Error);
}

/// Two processors of this machine become two packages. `two_level` goes by them only if all workers are bound to one,
/// however workers are dealt to them.
TEST(Bound, SchedulesGoByPackages) {
  const auto usable = processors_of_this_thread();
  if (usable.size() < 2) GTEST_SKIP() << "one processor is no two packages";
  const std::string machine = "package:2 core:" + std::to_string(usable[1]) + " pu:1";
  try {
    (void)transport::Hardware::synthetic(machine);
  } catch (const std::runtime_error& why) {
    GTEST_SKIP() << why.what();
  }
  in_a_process([&] {
    setenv("HWLOC_SYNTHETIC", machine.c_str(), 1);
    const auto x = hostile(900, 3);
    const double sum = sf::sum(x);
    const auto rounds = [&](const char* schedule, auto place_of) {
      std::string text;
      const Team team(6), places(6);
      on_members(team, [&](const Team::Member& member) {
        if (const int place = place_of(member.worker()); place >= 0) places[place].bind();
        const auto mine = part_of<double>(x, member.worker(), 6);
        Plan<double> plan(sf::plus, mine.size(), member, {.schedule = schedule});
        EXPECT_EQ(bits(plan.run(mine)), bits(sum));
        if (member.worker() == 0) text = plan.describe();
      });
      const auto begin = text.find("messages");
      return text.substr(begin, text.find('\n', begin) - begin);
    };
    const auto close = [](int worker) { return worker; };
    const auto in_turn = [](int worker) { return worker / 2 + worker % 2 * 3; };
    const auto nobody = [](int) { return -1; };
    const auto all_but_one = [](int worker) { return worker - 1; };
    const char* const by_machine = "two_level:inner=[flat]";
    const std::string in_a_row = rounds("two_level:inner=[flat]:size=4", close);  // 4 and 2
    EXPECT_EQ(in_a_row, "messages 10 in at most 6 rounds") << "the control";
    EXPECT_EQ(rounds(by_machine, close), "messages 10 in at most 5 rounds") << "3 and 3";
    EXPECT_EQ(rounds(by_machine, in_turn), "messages 10 in at most 5 rounds");
    EXPECT_EQ(rounds(by_machine, nobody), in_a_row);
    EXPECT_EQ(rounds(by_machine, all_but_one), in_a_row);
    EXPECT_EQ(rounds("auto", close), rounds("auto", nobody)) << "not unasked";
  });
}

}  // namespace
}  // namespace steadfold::test::bound_test
