// Partials that several threads build are those of one, byte for byte; plans lift with them, each rank with its own
// number.
#include "plan/lifter.hpp"

#include <gtest/gtest.h>

#include "support/inputs.hpp"
#include "support/simulated_job.hpp"

namespace steadfold::test::lifter_test {
namespace {

using plan::Lifter;
using plan::StoredRows;
using plan::ThreadPool;

std::vector<double> numbers(Count count, std::mt19937_64& random) {
  std::vector<double> x(count);
  for (double& each : x) each = std::ldexp(static_cast<double>(random()) - 0x1p+63, static_cast<int>(random() % 80));
  return x;
}

Bytes room_for(const arithmetic::PartialKind& kind, const std::vector<Interval>& intervals) {
  order::IntervalSet rows;
  for (const Interval interval : intervals) EXPECT_TRUE(rows.add(interval));
  return kind.working_capacity(rows);
}

/// All rows in intervals of any size, in any order of memory.
std::vector<Interval> shuffled(Count rows, std::mt19937_64& random) {
  std::vector<Interval> intervals;
  for (Index begin = 0; begin < rows;) {
    const Index end = std::min(rows, begin + 1 + random() % (rows / 4 + 1));
    intervals.push_back({begin, end});
    begin = end;
  }
  std::shuffle(intervals.begin(), intervals.end(), random);
  return intervals;
}

TEST(Lifters, OfSeveralThreadsWriteTheBytesOfOne) {
  constexpr std::uint64_t seed = 20240508;
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  ThreadPool pool;
  pool.resize(7);
  ASSERT_EQ(pool.size(), 7);
  for (const Method method : {Method::tree, Method::exact}) {
    for (const auto operation : {arithmetic::Operation::sum, arithmetic::Operation::dot}) {
      if (method == Method::tree && operation == arithmetic::Operation::dot) continue;
      for (const Count rows : {1, 2, 6, 7, 8, 100, 3000}) {
        for (const Count columns : {1, 3}) {
          const Call call{.operation = operation, .method = method, .columns = columns, .rows = rows};
          const auto described = call::describe(call);
          const auto kind = call::make_kind(described, call::operator_of(described, call.user), columns);
          const auto shape = call::row_shape(described, columns);
          const arithmetic::Strides strides(call::row_shape(described, columns + 1));
          const std::vector<double> x = numbers(rows * (columns + 1), random);
          const std::vector<double> y = numbers(rows * (columns + 1), random);
          const std::vector<Interval> intervals = shuffled(rows, random);
          const Index middle = random() % rows;
          for (const Interval part : {plan::all_rows, Interval{middle, rows}, Interval{middle / 2, middle}}) {
            const StoredRows stored{.intervals = intervals,
                                    .data = {.first = reinterpret_cast<const std::byte*>(x.data() + 1),
                                             .second = reinterpret_cast<const std::byte*>(y.data() + 1)},
                                    .strides = strides,
                                    .part = part};
            Memory wanted(room_for(*kind, intervals));
            Memory found(wanted.size());
            Lifter lifter(*kind, shape);
            wanted.resize(lifter.lift(stored, pool, 1, wanted));
            for (const unsigned threads : {2, 3, 5, 7, 100, 2}) {
              const Bytes size = lifter.lift(stored, pool, threads, found);
              ASSERT_EQ(hex(std::span<const std::byte>(found).first(size)), hex(std::span<const std::byte>(wanted)))
                  << rows << " rows, " << columns << " columns, " << threads << " threads";
            }
          }
        }
      }
    }
  }
}

TEST(ThreadPools, RethrowWhatTheLowestThreadThrew) {
  ThreadPool pool;
  pool.resize(5);
  for (int again = 0; again < 3; ++again) {
    try {
      pool.run(5, [](unsigned thread) {
        if (thread >= 2) throw thread;
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const unsigned thread) {
      EXPECT_EQ(thread, 2);
    }
  }
  std::vector<int> calls(5);
  for (const unsigned threads : {5U, 3U, 1U, 5U}) pool.run(threads, [&](unsigned thread) { ++calls[thread]; });
  EXPECT_EQ(calls, (std::vector<int>{4, 3, 3, 2, 2}));
  pool.resize(2);
  EXPECT_EQ(pool.size(), 2);
  pool.run(2, [&](unsigned thread) { ++calls[thread]; });
  EXPECT_EQ(calls, (std::vector<int>{5, 4, 3, 2, 2}));
}

TEST(Plans, LiftWithThreadsOfTheirOwn) {
  std::mt19937_64 random(20240509);
  for (const Rank p : {1, 3, 4, 5}) {
    for (const std::string schedule : {"binomial", "recursive_doubling", "owner"}) {
      for (const Method method : {Method::tree, Method::exact}) {
        std::vector<Count> counts;
        for (Rank i = 0; i < p; ++i) counts.push_back(i == 1 ? 0 : 50 + random() % 700);
        const Deal deal = contiguous_deal(counts);
        const std::vector<double> x = numbers(deal.back().back().end, random);
        std::vector<Memory> memory;
        for (const auto& intervals : deal) memory.push_back(memory_of(x, 1, intervals));
        const Rank root = schedule == "recursive_doubling" ? all_ranks : 0;
        const Call common{.method = method,
                          .root = root,
                          .collective = call::reduction_to(root),
                          .schedule = schedule,
                          .layout = LayoutKind::intervals};
        std::string wanted;
        for (const unsigned threads : {0U, 1U, 4U}) {
          std::vector<Call> calls = calls_for(common, deal);
          for (Rank i = 0; i < p; ++i)
            calls[static_cast<std::size_t>(i)].threads = 1 + threads * static_cast<unsigned>(i + 1);
          const Concluded agreed = concluded(calls);
          ASSERT_TRUE(agreed.agreement) << agreed.text;
          SimulatedRanks ranks(p, random());
          SimulatedJob job(ranks, *agreed.agreement, calls);
          for (int again = 0; again < 2; ++again) {
            const Outcome outcome = run(ranks, job, memory, sizeof(double));
            ASSERT_FALSE(outcome.stuck);
            ASSERT_EQ(outcome.statuses[0], Status::ok);
            const std::string found = hex(outcome.results[0].bytes());
            if (wanted.empty()) wanted = found;
            EXPECT_EQ(found, wanted) << p << " ranks, " << schedule << ", " << threads << " threads";
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace steadfold::test::lifter_test
