// Parts of a node: schedules with groups, asked for by name, send one message between packages where others send many.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "schedule/registry.hpp"
#include "transport/hardware.hpp"

namespace steadfold::packages_test {
namespace {

using order::Count;
using order::Nodes;
using order::Rank;
using schedule::Collective;
using transport::Hardware;
using transport::Whereabouts;

/// How threads are numbered: those of a package in a row, or dealt to the packages in turn.
enum class Numbered { by_package, in_turn };

std::vector<Whereabouts> bound(const Hardware& machine, Rank threads, Numbered numbered) {
  std::vector<Whereabouts> all;
  for (Rank thread = 0; thread < threads; ++thread) {
    const Rank half = (threads + 1) / 2;
    const Rank place = numbered == Numbered::by_package ? thread : thread / 2 + thread % 2 * half;
    all.push_back(machine.core_of(place, threads).whereabouts);
  }
  return all;
}

/// Messages whose ranks have another number of that level.
Count crossings(const std::string& name, Collective collective, const std::vector<Whereabouts>& threads,
                Rank Whereabouts::*level) {
  const Nodes nodes(transport::parts_of(threads), Nodes::Between::packages);
  const schedule::Spec spec = schedule::parse(name);
  Count found = 0;
  for (Rank rank = 0; rank < nodes.rank_count(); ++rank) {
    schedule::Steps steps = spec.algorithm->steps({.rank = rank,
                                                   .rank_count = nodes.rank_count(),
                                                   .collective = collective,
                                                   .spec = &spec,
                                                   .nodes = schedule::nodes_of(*spec.algorithm, &spec, &nodes)});
    while (const schedule::Step* const step = steps.next()) {
      if (step->kind != schedule::StepKind::send) continue;
      const auto at = [&](Rank of) { return threads[static_cast<std::size_t>(of)].*level; };
      found += at(step->peer) != at(rank) ? 1 : 0;
    }
  }
  return found;
}

/// [S2]'s machine, and a larger one: two packages are joined by one message, the fewest that there can be.
TEST(Packages, AreJoinedByTheFewestMessages) {
  for (const std::string description : {"package:2 core:8 pu:1", "package:2 numa:4 core:16 pu:1"}) {
    std::optional<Hardware> machine;
    try {
      machine = Hardware::synthetic(description);
    } catch (const std::runtime_error& why) {
      GTEST_SKIP() << why.what();
    }
    const auto cores = static_cast<Rank>(machine->cores().size());
    Count without = 0;
    for (Rank threads = 3; threads <= cores; threads += cores > 16 ? 25 : 1) {
      for (const auto numbered : {Numbered::by_package, Numbered::in_turn}) {
        const auto all = bound(*machine, threads, numbered);
        const auto across = [&](const std::string& name, Collective collective) {
          return crossings(name, collective, all, &Whereabouts::package);
        };
        EXPECT_EQ(across("two_level", Collective::reduce), 1u) << threads;
        EXPECT_EQ(across("root_group_last", Collective::reduce), 1u) << threads;
        EXPECT_EQ(across("two_level", Collective::allreduce), 2u) << threads << ": one each way";
        EXPECT_EQ(across("two_level:inner=[flat]:outer=[reduce_broadcast]", Collective::allreduce), 2u) << threads;
        without = std::max(without, across("recursive_doubling", Collective::allreduce));
        if (numbered == Numbered::in_turn) {
          EXPECT_GE(across("binomial", Collective::reduce), static_cast<Count>(threads) / 2) << "the control";
        }
      }
    }
    EXPECT_GE(without, static_cast<Count>(cores)) << "the control";
  }
}

/// Inside a package the trees go by ranks; NUMA domains of a power of two of threads are joined by the fewest, too.
TEST(Packages, DomainsInsideThemAreJoinedByFewMessages) {
  std::optional<Hardware> machine;
  try {
    machine = Hardware::synthetic("package:2 numa:4 core:16 pu:1");
  } catch (const std::runtime_error& why) {
    GTEST_SKIP() << why.what();
  }
  const auto all = bound(*machine, 128, Numbered::by_package);
  EXPECT_EQ(crossings("two_level", Collective::reduce, all, &Whereabouts::domain), 7u);
}

}  // namespace
}  // namespace steadfold::packages_test
