// Machines written down by hand or made up by hwloc, since this one has few cores: where threads go, and what they have
// in common.
#include "transport/hardware.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <set>
#include <stdexcept>

namespace steadfold::transport::hardware_test {
namespace {

cpu_set_t processors(std::initializer_list<int> numbers) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int number : numbers) CPU_SET(number, &set);
  return set;
}

/// Two packages of two NUMA domains of two cores of two processors; processor n of core c is c + 8 n, as on many.
Hardware by_hand() {
  std::vector<Core> cores;
  for (Rank core = 0; core < 8; ++core)
    cores.push_back({.processors = processors({core, core + 8}),
                     .whereabouts = {.package = core / 4, .domain = core / 2, .cache = core / 2}});
  return Hardware(cores);
}

TEST(Hardware, ThreadsUseAllCoresAndStayClose) {
  const Hardware machine = by_hand();
  const auto cores_of = [&](Rank threads) {
    std::vector<int> numbers;
    for (Rank thread = 0; thread < threads; ++thread) {
      const cpu_set_t& own = machine.core_of(thread, threads).processors;
      for (int number = 0; number < 8; ++number)
        if (CPU_ISSET(number, &own)) numbers.push_back(number);
    }
    return numbers;
  };
  EXPECT_EQ(cores_of(1), (std::vector{0}));
  EXPECT_EQ(cores_of(2), (std::vector{0, 4}));
  EXPECT_EQ(cores_of(3), (std::vector{0, 2, 5}));
  EXPECT_EQ(cores_of(8), (std::vector{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(cores_of(16), (std::vector{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7}));
  EXPECT_EQ(cores_of(1024).back(), 7);
}

TEST(Hardware, KnowsWhatTheCoresOfAThreadHaveInCommon) {
  const Hardware machine = by_hand();
  EXPECT_EQ(machine.of(processors({5})), (Whereabouts{.package = 1, .domain = 2, .cache = 2}));
  EXPECT_EQ(machine.of(processors({5, 13, 4})), (Whereabouts{.package = 1, .domain = 2, .cache = 2}));
  EXPECT_EQ(machine.of(processors({4, 15})), (Whereabouts{.package = 1}));
  EXPECT_EQ(machine.of(processors({3, 4})), Whereabouts{});
  EXPECT_EQ(machine.of(processors({99})), Whereabouts{}) << "a processor that the machine has not";
}

TEST(Hardware, AmongSomeProcessorsHasOnlyThese) {
  const Hardware some = by_hand().among(processors({1, 9, 14}));
  ASSERT_EQ(some.cores().size(), 2u);
  EXPECT_EQ(CPU_COUNT(&some.cores()[0].processors), 2);
  EXPECT_EQ(CPU_COUNT(&some.cores()[1].processors), 1);
  EXPECT_EQ(some.cores()[1].whereabouts, (Whereabouts{.package = 1, .domain = 3, .cache = 3}));
  const Hardware unknown = by_hand().among(processors({40, 41}));
  ASSERT_EQ(unknown.cores().size(), 2u);
  EXPECT_EQ(unknown.cores()[0].whereabouts, Whereabouts{});
}

TEST(Hardware, PartsAreTheLargestThatKeepRanksApart) {
  using Labels = std::vector<Rank>;
  const Whereabouts a{.package = 0, .domain = 0, .cache = 0}, b{.package = 0, .domain = 1, .cache = 1},
      c{.package = 1, .domain = 2, .cache = 2}, same_domain{.package = 0, .domain = 0, .cache = 5}, unknown;
  EXPECT_EQ(parts_of(std::array{a, b, c}), (Labels{0, 0, 1}));
  EXPECT_EQ(parts_of(std::array{a, c, a, c}), (Labels{0, 1, 0, 1}));
  EXPECT_EQ(parts_of(std::array{a, b, b}), (Labels{0, 1, 1})) << "one package: the domains";
  EXPECT_EQ(parts_of(std::array{a, a, same_domain}), (Labels{0, 0, 5})) << "one domain: the caches";
  EXPECT_EQ(parts_of(std::array{a, a}), Labels{}) << "all in one";
  EXPECT_EQ(parts_of(std::array{a, c}), Labels{}) << "each in its own";
  EXPECT_EQ(parts_of(std::array{a, c, c, unknown}), Labels{});
  EXPECT_EQ(parts_of({}), Labels{});
}

/// What hwloc says of a machine that it makes up; nothing, and a skip, without hwloc.
std::optional<Hardware> made_up(const std::string& description) {
  try {
    return Hardware::synthetic(description);
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

TEST(Hardware, IsReadByHwloc) {
  const auto machine = made_up("package:2 numa:4 l3:1 core:16 pu:2");
  if (!machine) GTEST_SKIP() << "built without hwloc";
  ASSERT_EQ(machine->cores().size(), 128u);
  std::set<Rank> domains;
  for (std::size_t i = 0; i < 128; ++i) {
    const Core& core = machine->cores()[i];
    EXPECT_EQ(CPU_COUNT(&core.processors), 2);
    EXPECT_EQ(core.whereabouts.package, static_cast<Rank>(i / 64));
    EXPECT_EQ(core.whereabouts.cache, static_cast<Rank>(i / 16));
    domains.insert(core.whereabouts.domain);
    EXPECT_EQ(core.whereabouts.domain, machine->cores()[i / 16 * 16].whereabouts.domain);
  }
  EXPECT_EQ(domains.size(), 8u);
  const auto plain = made_up("package:2 core:8 pu:1");
  EXPECT_EQ(plain->cores().size(), 16u);
  EXPECT_EQ(plain->cores()[0].whereabouts.cache, -1) << "it has none";
  EXPECT_THROW(Hardware::synthetic("package:two"), std::invalid_argument);
}

/// The machine that runs this test: its cores are those that threads may use, or more.
TEST(Hardware, OwnHasTheCoresThatThreadsUse) {
  const cpu_set_t usable = usable_processors();
  const Hardware& own = Hardware::own();
  EXPECT_EQ(&own, &Hardware::own());
  int found = 0;
  const Hardware among = own.among(usable);
  for (const Core& core : among.cores()) found += CPU_COUNT(&core.processors);
  EXPECT_EQ(found, CPU_COUNT(&usable));
}

}  // namespace
}  // namespace steadfold::transport::hardware_test
