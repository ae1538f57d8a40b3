// Teams of the threads of all ranks: every number of them gives the bits of one thread, for every kind of partial, by
// every schedule; what careless callers do; calls of workers that come and go in any order.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "mpi/outcome.hpp"
#include "mpi/ranks.hpp"
#include "mpi/run_ranks.hpp"
#include "steadfold/bundle.hpp"
#include "steadfold/memory.hpp"
#include "steadfold/started.hpp"
#include "support/hostile.hpp"
#include "support/on_team.hpp"
#include "support/parts.hpp"

namespace steadfold::tests {
namespace {

using test::bits;
using test::hostile;

bool threads_may_call_mpi = false;

/// Whether ranks of one node share memory; here all are on one.
bool sends_letters() {
  const char* const asked = std::getenv("STEADFOLD_TRANSPORT");
  return asked == nullptr || std::string(asked) == "shared";
}

/// Worker 0 is on this thread, which may call MPI.
template <class Body>
void on_members(const Team& team, const Body& body) {
  test::on_members(team, body, test::First::here);
}

/// A worker, and its place among those of all ranks.
struct Here {
  explicit Here(const Team::Member& own) : member(own), rank(own.group().rank()), size(own.group().size()) {}
  Team::Member member;
  int rank;
  int size;

  std::span<const double> part_of(const std::vector<double>& all) const { return test::part_of(all, rank, size); }
};

class TeamTest : public testing::Test {
 protected:
  /// Another number of workers on every rank.
  int uneven(int seed) const { return 1 + (world.rank * 2 + seed) % 3; }

  /// Runs body(here) for every worker of a team with so many of them on this rank.
  template <class Body>
  void on_team(int workers, const Body& body) const {
    const Team team(world.comm, workers);
    on_members(team, [&](const Team::Member& member) { body(Here(member)); });
  }

  Ranks world;
};

TEST_F(TeamTest, EveryNumberOfWorkersGivesTheBitsOfOneThread) {
  const auto x = hostile(3000, 1), y = hostile(3000, 2);
  const auto subtract = [](double a, double b) { return a - b / 3; };
  const double sum = sf::sum(x), dot = sf::dot(x, y), norm = sf::norm2(x), greatest = sf::max(x),
               binned = sf::sum(x, {.method = sf::binned()}), by_tree = sf::sum(x, {.method = sf::tree()}),
               reduced = sf::reduce(x, subtract);
  int differ = 0;
  for (const int workers : {1, 2, 5, uneven(0)}) {
    std::vector<double> plain(static_cast<std::size_t>(workers));
    on_team(workers, [&](const Here& here) {
      const auto mine = here.part_of(x), other = here.part_of(y);
      const Options in_order{.layout = Layout::contiguous(mine.size(), here.member)};
      EXPECT_EQ(bits(sf::sum(mine, here.member)), bits(sum)) << here.size;
      EXPECT_EQ(bits(sf::dot(mine, other, here.member)), bits(dot)) << here.size;
      EXPECT_EQ(bits(sf::norm2(mine, here.member)), bits(norm)) << here.size;
      EXPECT_EQ(bits(sf::max(mine, here.member)), bits(greatest)) << here.size;
      EXPECT_EQ(bits(sf::sum(mine, here.member, {.method = sf::binned()})), bits(binned)) << here.size;
      EXPECT_EQ(bits(sf::sum(mine, here.member, {.method = sf::tree(), .layout = in_order.layout})), bits(by_tree));
      EXPECT_EQ(bits(sf::reduce(mine, subtract, here.member, in_order)), bits(reduced)) << here.size;
      plain[static_cast<std::size_t>(here.member.worker())] = sf::sum(mine, here.member, {.method = sf::plain()});
    });
    for (const double each : plain) EXPECT_EQ(bits(each), bits(plain.front()));
    differ += bits(plain.front()) != bits(sum) ? 1 : 0;
  }
  EXPECT_GT(differ, 1) << "the control: plain sums should differ";
}

/// Those of the ranks before come first, and so in a scan.
TEST_F(TeamTest, WorkersStandInTheOrderOfRanks) {
  const int own = uneven(2);
  int before = 0, all = 0;
  MPI_Exscan(&own, &before, 1, MPI_INT, MPI_SUM, world.comm);
  MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_SUM, world.comm);
  const auto x = hostile(static_cast<std::size_t>(all), 3);
  on_team(own, [&](const Here& here) {
    EXPECT_EQ(here.rank, before + here.member.worker());
    EXPECT_EQ(here.size, all);
    EXPECT_EQ(here.member.size(), own);
    EXPECT_STREQ(here.member.group().transport(), world.size == 1 || sends_letters() ? "shared" : "shared+mpi");
    const auto place = static_cast<std::size_t>(here.rank);
    std::vector<double> row = {x[place]};
    sf::scan(row, sf::plus, here.member);
    EXPECT_EQ(bits(row.front()), bits(sf::sum(std::span(x).first(place + 1))));
  });
}

TEST_F(TeamTest, EverySchedule) {
  constexpr std::size_t most_columns = 1000;
  const auto rows = hostile(64 * most_columns, 9);  // more than there are workers
  on_team(1 + uneven(0), [&](const Here& here) {
    const auto mine = std::span(rows).subspan(static_cast<std::size_t>(here.rank) * most_columns);
    std::vector<double> sums;  // of each column
    for (std::size_t c = 0; c < most_columns; ++c) {
      std::vector<double> column;
      for (int r = 0; r < here.size; ++r) column.push_back(rows[static_cast<std::size_t>(r) * most_columns + c]);
      sums.push_back(sf::sum(column, LocalOptions{.method = sf::tree()}));
    }
    for (const char* schedule :
         {"auto", "recursive_doubling", "ring", "transpose", "binomial", "pipelined_tree:block=64", "circulant",
          "halving_doubling", "bruck", "dissemination", "two_level", "two_level:inner=[flat]:outer=[ring]", "knomial",
          "doubly_pipelined_tree:block=100"}) {
      for (const std::size_t columns : {std::size_t{1}, std::size_t{300}, most_columns}) {
        const auto end = static_cast<std::ptrdiff_t>(columns);
        const std::vector<double> due(sums.begin(), sums.begin() + end);
        std::vector<double> row(mine.begin(), mine.begin() + end);
        sf::allreduce(row, sf::plus, here.member, {.method = sf::tree(), .schedule = schedule});
        EXPECT_EQ(bits(row), bits(due)) << schedule << ", " << columns << " columns, " << here.size << " workers";
      }
    }
  });
}

/// Wide rows in memory of the library, which all workers of a node use in place, and in the program's own: threads of a
/// process share one file of it.
TEST_F(TeamTest, WideRowsInMemoryOfTheLibrary) {
  constexpr std::size_t columns = 70000;  // more than ranks post at once
  const int own = 1 + world.rank % 2;
  on_team(own, [&](const Here& here) {
    const auto ranks = static_cast<std::size_t>(here.size), place = static_cast<std::size_t>(here.rank);
    const auto rows = hostile(ranks * columns, 11);
    for (const Method& method : {sf::tree(), sf::exact()}) {
      std::vector<double> due(columns);
      for (std::size_t c = 0; c < columns; ++c) {
        std::vector<double> column;
        for (std::size_t r = 0; r < ranks; ++r) column.push_back(rows[r * columns + c]);
        due[c] = sf::sum(column, LocalOptions{.method = method});
      }
      auto mine = sf::allocate<double>(columns), result = sf::allocate<double>(columns);
      std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(place * columns), columns, mine.begin());
      const std::vector<double> elsewhere(mine.begin(), mine.end());
      auto plan = Plan<double>::of_vectors(sf::plus, columns, here.member, {.method = method});
      for (int run = 0; run < 4; ++run) {
        std::ranges::fill(result, 0.0);
        const bool is_elsewhere = run == 2 && here.rank == 0;  // then all post their rows
        plan.run(is_elsewhere ? std::span<const double>(elsewhere) : std::span<const double>(mine), std::span(result));
        EXPECT_EQ(bits(std::vector<double>(result.begin(), result.end())), bits(due)) << "run " << run;
      }
    }
  });
}

/// One message per rank in place of one per thread, unless the bits would follow it; so for what threads ask each
/// other.
TEST_F(TeamTest, AutoGoesRankByRank) {
  on_team(2, [&](const Here& here) {
    const auto schedule_of = [&](const Method& method) {
      const std::string text = Plan<double>::of_vectors(sf::plus, 5, here.member, {.method = method}).describe();
      return text.substr(0, text.find(':', text.find("\nschedule"))).substr(text.find("\nschedule") + 10);
    };
    const std::string groups = world.size > 1 ? "two_level" : "recursive_doubling";
    EXPECT_EQ(schedule_of(sf::tree()), groups);
    EXPECT_EQ(schedule_of(sf::exact()), groups);
    EXPECT_EQ(schedule_of(sf::plain()), "recursive_doubling");
  });
}

TEST_F(TeamTest, CallsAreStartedAndEndedInAnyOrder) {
  const auto x = hostile(900, 5);
  const double sum = sf::sum(x), least = sf::min(x);
  on_team(uneven(1), [&](const Here& here) {
    const auto mine = here.part_of(x);
    for (int again = 0; again < 30; ++again) {
      auto first = sf::start(sf::plus, mine, here.member);
      auto second = sf::start(sf::min, mine, here.member);
      sf::barrier(here.member);
      if ((here.rank + again) % 2 == 0) {
        EXPECT_EQ(bits(second.get()), bits(least));
        EXPECT_EQ(bits(first.get()), bits(sum));
      } else {
        EXPECT_EQ(bits(first.get()), bits(sum));
        EXPECT_EQ(bits(second.get()), bits(least));
      }
    }
  });
}

TEST_F(TeamTest, PlansAndBundles) {
  const auto x = hostile(700, 6), y = hostile(700, 7);
  const double sum = sf::sum(x), dot = sf::dot(x, y), least = sf::min(y);
  std::vector<std::optional<Plan<double>>> kept(3);
  {
    const Team team(world.comm, 3);
    on_members(team, [&](const Team::Member& member) {
      const Here here(member);
      const auto mine = here.part_of(x), other = here.part_of(y);
      auto& plan = kept[static_cast<std::size_t>(member.worker())];
      plan.emplace(sf::plus, mine.size(), member);
      for (int run = 0; run < 20; ++run) EXPECT_EQ(bits(plan->run(mine)), bits(sum));
      Bundle bundle;
      const auto first = bundle.sum(mine), second = bundle.dot(mine, other), third = bundle.min(other);
      bundle.bind(member).run();
      EXPECT_EQ(bits(first.value()), bits(sum));
      EXPECT_EQ(bits(second.value()), bits(dot));
      EXPECT_EQ(bits(third.value()), bits(least));
    });
  }
  const Team other(world.comm, 3);  // plans outlive their team
  on_members(other, [&](const Team::Member& member) {
    const Here here(member);
    EXPECT_EQ(bits(kept[static_cast<std::size_t>(member.worker())]->run(here.part_of(x))), bits(sum));
    EXPECT_EQ(bits(sf::sum(here.part_of(x), member)), bits(sum));
  });
}

/// Parts of the communicator, in another order; each rank's plans end on threads of their own, after the team.
TEST_F(TeamTest, PartsOfACommunicator) {
  const auto x = hostile(200, 12);
  const Ranks part = Ranks::split(world.rank % 2, -world.rank);
  std::vector<std::optional<Plan<double>>> plans(2);
  {
    const Team team(part.comm, 2);
    on_members(team, [&](const Team::Member& member) {
      const Here here(member);
      EXPECT_EQ(here.rank, 2 * part.rank + member.worker());
      plans[static_cast<std::size_t>(member.worker())].emplace(sf::plus, here.part_of(x).size(), member);
      EXPECT_EQ(bits(sf::sum(here.part_of(x), member)), bits(sf::sum(x)));
    });
  }
  if (threads_may_call_mpi) std::thread([&] { plans[1].reset(); }).join();
}

/// An operator that throws on one worker is an error for all workers of all ranks, and the team goes on.
TEST_F(TeamTest, AWorkerWhoseOperatorThrows) {
  const auto x = hostile(60, 7);
  on_team(2, [&](const Here& here) {
    const auto mine = here.part_of(x);
    const bool is_culprit = here.rank == here.size - 1;
    const auto careless = [&](double a, double b) -> double {
      if (is_culprit) throw std::runtime_error("no more");
      return a + b;
    };
    const Options by_tree{.layout = Layout::contiguous(mine.size(), here.member)};
    EXPECT_THROW(sf::reduce(mine, careless, here.member, by_tree), std::exception);
    EXPECT_EQ(bits(sf::sum(mine, here.member)), bits(sf::sum(x)));
  });
}

/// Every rank hears the same, and the communicator can be used again.
TEST_F(TeamTest, MisuseIsAnswered) {
  const bool is_culprit = world.rank == world.size - 1;
  for (const int workers : {0, -3, SF_TEAM_MOST + 1}) {
    const std::string why = outcome_of([&] { Team(world.comm, is_culprit ? workers : 2); }).text;
    EXPECT_NE(why.find("a team of " + std::to_string(workers) + " workers (a team has 1 to 1024 workers)"),
              std::string::npos)
        << why;
    if (world.size > 1) {
      EXPECT_EQ(why.find("rank " + std::to_string(world.size - 1) + ": "), 0u) << why;
    }
  }
  sf_team* team = nullptr;
  EXPECT_EQ(sf_team_create_over(world.comm, 1, is_culprit ? nullptr : &team), SF_INVALID_ARGUMENT);
  EXPECT_EQ(team, nullptr);
  EXPECT_EQ(sf_team_create_over(MPI_COMM_NULL, 1, &team), SF_INVALID_ARGUMENT);
  on_team(2, [&](const Here& here) {
    std::vector<double> row(5, 1.0);
    const Options by_native{.method = sf::exact(), .schedule = "native"};
    const Outcome native = outcome_of([&] { sf::allreduce(row, sf::plus, here.member, by_native); });
    EXPECT_EQ(native.failed(), world.size > 1) << native.text;
    if (world.size > 1) {
      EXPECT_EQ(native.text.find("schedule native cannot be used (the MPI library adds words of processes"), 0u)
          << native.text;
    }
    EXPECT_EQ(sf::sum(std::vector{1.0}, here.member), here.size);
  });
}

/// Members of several teams in turn, beside calls of the communicator by worker 0.
TEST_F(TeamTest, ManyTeams) {
  const auto x = hostile(100, 10);
  const double due = sf::sum(x);
  for (int again = 0; again < 8; ++again) {
    const Team one(world.comm, 2), two(world.comm, 2);
    on_members(one, [&](const Team::Member& member) {
      const int own = member.worker();
      const Here first(member), second(two[threads_may_call_mpi ? 1 - own : own]);
      for (int call = 0; call < 5; ++call) {
        EXPECT_EQ(bits(sf::sum(first.part_of(x), first.member)), bits(due));
        if (own == 0) {
          EXPECT_EQ(bits(sf::sum(test::part_of(x, world.rank, world.size), world.comm)), bits(due));
        }
        EXPECT_EQ(bits(sf::sum(second.part_of(x), second.member)), bits(due));
      }
    });
  }
}

}  // namespace
}  // namespace steadfold::tests

/// STEADFOLD_TEST_FUNNELED: only the main thread may call MPI.
int main(int argc, char** argv) {
  if (steadfold::tests::only_lists(argc, argv)) return 0;
  const bool is_funneled = std::getenv("STEADFOLD_TEST_FUNNELED") != nullptr;
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, is_funneled ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE, &provided);
  steadfold::tests::threads_may_call_mpi = provided == MPI_THREAD_MULTIPLE;
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int failed = steadfold::tests::run_all(argc, argv);
  auto left = std::make_unique<steadfold::Team>(MPI_COMM_WORLD, 2);
  steadfold::tests::on_members(*left, [](const auto& member) { steadfold::barrier(member); });
  MPI_Finalize();
  std::string after = "MPI is finalised";  // a team of one rank does not need MPI
  if (ranks > 1) after = steadfold::tests::outcome_of([&] { steadfold::barrier((*left)[0]); }).text;
  left.reset();
  if (after.find("MPI is finalised") == std::string::npos) {
    std::printf("a barrier after MPI's end: '%s'\n", after.c_str());
    return 1;
  }
  return failed;
}
