// The search over interleavings finds exactly what C++ allows: litmus tests with all their outcomes, and its own
// faults.
#include "transport/memory_model.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <set>
#include <vector>

namespace steadfold::model::memory_model_test {
namespace {

using Outcomes = std::set<std::vector<std::uint64_t>>;

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;

/// {flag, data} as the second worker reads them, data being atomic.
Outcomes message_passing(std::memory_order announce, std::memory_order expect) {
  Search search;
  Counter data(0);
  Counter flag(0);
  std::uint64_t seen = 0;
  std::uint64_t read = 0;
  search.worker([&] {
    data.store(1, relaxed);
    flag.store(1, announce);
  });
  search.worker([&] {
    seen = flag.load(expect);
    read = data.load(relaxed);
  });
  search.outcome([&] { return std::vector{seen, read}; });
  return search.run().outcomes;
}

TEST(MemoryModel, MessagePassingNeedsReleaseAndAcquire) {
  const Outcomes stale = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  EXPECT_EQ(message_passing(release, acquire), (Outcomes{{0, 0}, {0, 1}, {1, 1}}));
  EXPECT_EQ(message_passing(relaxed, acquire), stale);
  EXPECT_EQ(message_passing(release, relaxed), stale);
  EXPECT_EQ(message_passing(relaxed, relaxed), stale);
}

/// As message passing, with plain data and a worker that waits; the fault.
std::string plain_message(std::memory_order announce, std::memory_order expect) {
  Search search;
  Plain data;
  Counter flag(0);
  search.worker([&] {
    data = 1;
    flag.store(1, announce);
  });
  search.worker([&] {
    await([&] { return flag.load(expect) == 1; });
    require(data == 1, "stale");
  });
  return search.run().fault;
}

TEST(MemoryModel, PlainDataNeedReleaseAndAcquire) {
  EXPECT_EQ(plain_message(release, acquire), "");
  EXPECT_EQ(plain_message(relaxed, acquire), "race: with a write that is not known to have ended");
  EXPECT_EQ(plain_message(release, relaxed), "race: with a write that is not known to have ended");
}

TEST(MemoryModel, AWriteAfterAReadNeedsReleaseAndAcquireToo) {
  for (const auto order : {release, relaxed}) {
    Search search;
    Plain data;
    Counter flag(0);
    search.worker([&] {
      require(data == 0, "overwritten");
      flag.store(1, order);
    });
    search.worker([&] {
      await([&] { return flag.load(acquire) == 1; });
      data = 1;
    });
    EXPECT_EQ(search.run().fault, order == release ? "" : "race: a write over what may still be read");
  }
}

TEST(MemoryModel, StoreBuffering) {
  Search search;
  Counter x(0);
  Counter y(0);
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  search.worker([&] {
    x.store(1, release);
    first = y.load(acquire);
  });
  search.worker([&] {
    y.store(1, release);
    second = x.load(acquire);
  });
  search.outcome([&] { return std::vector{first, second}; });
  const Report report = search.run();
  EXPECT_EQ(report.outcomes, (Outcomes{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
  // Four orders have both stores first, where each load may read two of them; in the other two only the last load may.
  EXPECT_EQ(report.executions, 4 * 4 + 2 * 2);
}

/// Stores that are read in another order than made would go back in time.
TEST(MemoryModel, Coherence) {
  Search search;
  Counter x(0);
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  search.worker([&] {
    x.store(1, relaxed);
    x.store(2, relaxed);
  });
  search.worker([&] {
    first = x.load(relaxed);
    second = x.load(relaxed);
  });
  search.outcome([&] { return std::vector{first, second}; });
  EXPECT_EQ(search.run().outcomes, (Outcomes{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}}));
}

/// A read that happens before another bounds it, whoever read.
TEST(MemoryModel, CoherenceAcrossWorkers) {
  Search search;
  Counter x(0);
  Counter told(0);
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  search.worker([&] { x.store(1, relaxed); });
  search.worker([&] {
    first = x.load(relaxed);
    told.store(1, release);
  });
  search.worker([&] {
    await([&] { return told.load(acquire) == 1; });
    second = x.load(relaxed);
  });
  search.outcome([&] { return std::vector{first, second}; });
  EXPECT_EQ(search.run().outcomes, (Outcomes{{0, 0}, {0, 1}, {1, 1}}));
}

/// Two readers may see two writers in different orders: all 16 outcomes.
TEST(MemoryModel, IndependentReadsOfIndependentWrites) {
  Search search;
  Counter x(0);
  Counter y(0);
  std::vector<std::uint64_t> read(4);
  search.worker([&] { x.store(1, release); });
  search.worker([&] { y.store(1, release); });
  search.worker([&] {
    read[0] = x.load(acquire);
    read[1] = y.load(acquire);
  });
  search.worker([&] {
    read[2] = y.load(acquire);
    read[3] = x.load(acquire);
  });
  search.outcome([&] { return read; });
  const Report report = search.run();
  EXPECT_EQ(report.outcomes.size(), 16u);
  EXPECT_TRUE(report.outcomes.contains({1, 0, 1, 0}));
}

/// {counter, data} as the third worker reads them, where the second one adds to what the first one released.
TEST(MemoryModel, AdditionsCarryOnAReleaseSequence) {
  for (const auto order : {release, relaxed}) {
    Search search;
    Counter data(0);
    Counter flag(0);
    std::uint64_t seen = 0;
    std::uint64_t read = 0;
    search.worker([&] {
      data.store(1, relaxed);
      flag.fetch_add(1, order);
    });
    search.worker([&] { flag.fetch_add(2, relaxed); });
    search.worker([&] {
      seen = flag.load(acquire);
      read = data.load(relaxed);
    });
    search.outcome([&] { return std::vector{seen, read}; });
    Outcomes expected = {{0, 0}, {0, 1}, {1, 1}, {2, 0}, {2, 1}, {3, 1}};
    if (order == relaxed) expected.insert({{1, 0}, {3, 0}});
    EXPECT_EQ(search.run().outcomes, expected);
  }
}

TEST(MemoryModel, AStoreEndsTheReleaseSequenceOfAnother) {
  Search search;
  Counter data(0);
  Counter flag(0);
  std::uint64_t seen = 0;
  std::uint64_t read = 0;
  search.worker([&] {
    data.store(1, relaxed);
    flag.store(1, release);
    flag.store(2, relaxed);
  });
  search.worker([&] {
    seen = flag.load(acquire);
    read = data.load(relaxed);
  });
  search.outcome([&] { return std::vector{seen, read}; });
  EXPECT_EQ(search.run().outcomes, (Outcomes{{0, 0}, {0, 1}, {1, 1}, {2, 0}, {2, 1}}));
}

TEST(MemoryModel, NoAdditionIsLost) {
  Search search;
  Counter x(0);
  std::vector<std::uint64_t> before(3);
  for (std::size_t i = 0; i < 3; ++i) search.worker([&, i] { before[i] = x.fetch_add(1, relaxed); });
  search.outcome([&] { return before; });
  EXPECT_EQ(search.run().outcomes, (Outcomes{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}));
}

/// Knowledge passes through a worker that itself never touched the data.
TEST(MemoryModel, KnowledgeIsPassedOn) {
  for (const auto order : {acquire, relaxed}) {
    Search search;
    Plain data;
    Counter first(0);
    Counter second(0);
    search.worker([&] {
      data = 1;
      first.store(1, release);
    });
    search.worker([&] {
      await([&] { return first.load(order) == 1; });
      second.store(1, release);
    });
    search.worker([&] {
      await([&] { return second.load(acquire) == 1; });
      require(data == 1, "stale");
    });
    EXPECT_EQ(search.run().fault.empty(), order == acquire);
  }
}

TEST(MemoryModel, FindsLockOuts) {
  Search search;
  Counter x(0);
  Counter y(0);
  search.worker([&] {
    await([&] { return x.load(acquire) == 1; });
    y.store(1, release);
  });
  search.worker([&] {
    await([&] { return y.load(acquire) == 1; });
    x.store(1, release);
  });
  EXPECT_EQ(search.run().fault, "lock-out");
}

/// One in which only some orders end: whoever is overtaken waits for a value that has gone.
TEST(MemoryModel, FindsLockOutsOfSomeOrders) {
  for (const bool may_overtake : {false, true}) {
    Search search;
    Counter x(0);
    Counter seen(0);
    search.worker([&] {
      x.store(1, release);
      if (!may_overtake) await([&] { return seen.load(acquire) == 1; });
      x.store(2, release);
    });
    search.worker([&] {
      // Reads twice, since a single load may always read the past.
      await([&] { return x.load(acquire) == 1 && x.load(acquire) == 1; });
      seen.store(1, release);
      if (may_overtake) await([&] { return x.load(acquire) == 2; });
    });
    search.worker([&] {
      if (may_overtake) await([&] { return x.load(acquire) == 2; });
      if (may_overtake) await([&] { return x.load(acquire) == 1; });
    });
    EXPECT_EQ(search.run().fault, may_overtake ? "lock-out" : "");
  }
}

/// A worker may go on without having found anything: how often it looked is part of its state.
TEST(MemoryModel, CountsLooks) {
  for (const auto states : {States::merged, States::apart}) {
    Search search;
    Counter x(0);
    std::uint64_t missed = 0;
    bool found = false;
    search.worker([&] { x.store(1, release); });
    search.worker([&] {
      missed = 0;
      found = false;
      while (!found && missed < 2) {
        await([&] {
          found = x.load(acquire) == 1;
          missed += found ? 0 : 1;
          return true;
        });
      }
    });
    search.outcome([&] { return std::vector{missed, std::uint64_t{found}}; });
    EXPECT_EQ(search.run(states).outcomes, (Outcomes{{0, 1}, {1, 1}, {2, 0}}));
  }
}

TEST(MemoryModel, RefusesWhatItLacks) {
  {
    Search search;
    Counter x(0);
    for (int i = 0; i < 2; ++i) search.worker([&] { x.store(1, relaxed); });
    EXPECT_EQ(search.run().fault, "stores of two workers that are not ordered (the model lacks them)");
  }
  {
    Search search;
    Counter x(0);
    search.worker([&] { x.store(1, std::memory_order_seq_cst); });
    EXPECT_EQ(search.run().fault, "sequential consistency (the model lacks it)");
  }
  {
    Search search;
    Counter x(0);
    search.worker([&] {
      await([&] {
        x.store(1, relaxed);
        return false;
      });
    });
    EXPECT_EQ(search.run().fault, "a look that failed has done more than load");
  }
  {
    Search search;
    Counter x(0);
    std::uint64_t runs = 0;
    search.worker([&] {
      x.store(++runs, relaxed);
      x.store(0, relaxed);
    });
    EXPECT_EQ(search.run().fault, "a worker does not follow from what it has read");
  }
}

TEST(MemoryModel, SaysWhatLedToAFault) {
  Search search;
  Plain data;
  Counter flag(0);
  search.worker([&] {
    data = 1;
    flag.store(1, relaxed);
  });
  search.worker([&] {
    await([&] { return flag.load(acquire) == 1; });
    require(data == 1, "stale");
  });
  const Report report = search.run();
  EXPECT_EQ(report.steps, (std::vector<std::string>{"worker 0: counter 0 = 1 (relaxed)", "worker 1: counter 0 is 1"}))
      << report;
}

/// Two workers of four operations each that do not touch each other: the binomial coefficient, in 5 * 5 states.
TEST(MemoryModel, CountsExecutionsByStates) {
  Search search;
  Counter x(0);
  Counter y(0);
  for (Counter* counter : {&x, &y}) {
    search.worker([counter] {
      for (std::uint64_t i = 1; i <= 4; ++i) counter->store(i, release);
    });
  }
  const Report report = search.run();
  EXPECT_EQ(report.executions, 70);
  EXPECT_EQ(report.states, 25u);
}

/// What merging states leaves out is found again without it: as many executions, the same outcomes.
TEST(MemoryModel, MergingStatesLosesNothing) {
  std::vector<Report> reports;
  for (const States states : {States::merged, States::apart}) {
    Search search;
    Counter x(0);
    Counter y(0);
    Counter z(0);
    std::vector<std::uint64_t> read(4);
    search.worker([&] {
      x.store(1, relaxed);
      y.store(1, release);
      read[0] = z.load(acquire);
      x.store(2, relaxed);
    });
    search.worker([&] {
      read[1] = y.load(acquire);
      read[2] = x.load(relaxed);
      z.fetch_add(1, release);
    });
    search.worker([&] {
      read[3] = z.fetch_add(2, acquire);
      await([&] { return y.load(relaxed) == 1; });
    });
    search.outcome([&] { return read; });
    reports.push_back(search.run(states));
  }
  EXPECT_EQ(reports[0].executions, reports[1].executions);
  EXPECT_EQ(reports[0].outcomes, reports[1].outcomes);
  EXPECT_LT(reports[0].states * 10, reports[1].states) << reports[0] << reports[1];
}

}  // namespace
}  // namespace steadfold::model::memory_model_test
