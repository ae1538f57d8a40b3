// Messages and rounds counted on the simulated transport: those of the registry's formulas, whatever N and the layout.
#include <gtest/gtest.h>

#include "order/distribution.hpp"
#include "support/simulated_job.hpp"

namespace steadfold::test::cost_test {
namespace {

struct Cost {
  Count messages;
  Count rounds;
};

/// What a sum of n rows of ones costs. There is one column per segment, so that no segment is empty.
Cost cost_of(const std::string& schedule, Rank p, Rank root, Count n, std::uint64_t seed, Method method = Method::tree,
             std::uint32_t segments = 1) {
  const Deal deal = contiguous_deal(order::counts(order::Distribution::lower, n, p));
  const Call call{.method = method,
                  .columns = segments,
                  .root = root,
                  .collective = call::reduction_to(root),
                  .schedule = schedule,
                  .layout = LayoutKind::rank_order};
  const std::vector<Call> calls = calls_for(call, deal);
  std::vector<Memory> memory;
  for (const auto& intervals : deal)
    memory.push_back(bytes_of(std::vector<double>(rows_of(intervals) * segments, 1.0)));
  SimulatedRanks ranks(p, seed, seed % 2 == 0 ? Sends::synchronous : Sends::buffered);
  SimulatedJob job(ranks, concluded(calls).agreement.value(), calls, segments);
  job.trace(true);
  expect_result(run(ranks, job, memory, 8 * segments, segments), root,
                bytes_of(std::vector<double>(segments, static_cast<double>(n))));
  EXPECT_EQ(ranks.traffic().messages, job.messages());
  return {job.messages(), job.rounds()};
}

Count rounds_to_reach(Rank p) {
  Count rounds = 0;
  for (Rank reached = 1; reached < p; reached *= 2) ++rounds;
  return rounds;
}

TEST(Costs, ReduceByBinomialSendsOneMessageLessThanRanksForAnyN) {
  for (const Rank p : {1, 2, 3, 5, 8, 13, 16, 31, 64}) {
    for (const Rank root : {0, p / 2, p - 1}) {
      for (const Count n : {Count{0}, Count{1}, Count{2}, static_cast<Count>(p) - 1, static_cast<Count>(p), Count{100},
                            Count{1023}, Count{4097}}) {
        SCOPED_TRACE(testing::Message() << "p " << p << ", root " << root << ", N " << n);
        const Cost cost = cost_of("binomial", p, root, n, n);
        EXPECT_EQ(cost.messages, static_cast<Count>(p - 1));
        EXPECT_EQ(cost.rounds, rounds_to_reach(p));
      }
    }
  }
}

TEST(Costs, AllreduceByRecursiveDoublingTakesARoundADoubling) {
  for (Rank p = 1; p <= 70; ++p) {
    SCOPED_TRACE(testing::Message() << "p " << p);
    const bool power = (p & (p - 1)) == 0;
    const Count n = static_cast<Count>(p) * 7 + 5;
    const Cost cost = cost_of("recursive_doubling", p, all_ranks, n, n);
    EXPECT_EQ(cost.rounds, rounds_to_reach(p) + (power ? 0 : 1));
  }
}

/// Formulas against counts, with different delivery orders.
TEST(Costs, AreThoseOfTheRegistryHoweverMessagesArrive) {
  for (const schedule::Algorithm& algorithm : schedule::registry()) {
    if (algorithm.messages == nullptr || algorithm.counts != schedule::Counts::once) continue;
    for (Rank p = 1; p <= 24; p += p < 9 ? 1 : 5) {
      for (const Rank root : {all_ranks, 0, p / 3, p - 1}) {
        const auto asked = call::reduction_to(root);
        if (!schedule::offers(algorithm.collectives, asked)) continue;
        for (const std::uint32_t asked_segments : {1u, 2u, 3u, 5u}) {
          const bool of_ranks = algorithm.segments == schedule::Segments::one_per_rank;
          const std::uint32_t segments =
              of_ranks ? algorithm.segments_up_to((asked_segments * static_cast<std::uint32_t>(p) + 1) / 2,
                                                  {.rank_count = p})
                       : asked_segments;
          const auto layout = order::Layout::contiguous(std::vector<Count>(static_cast<std::size_t>(p), 2));
          const schedule::Context context{.rank_count = p,
                                          .root = std::max(root, 0),
                                          .collective = call::reduction_to(root),
                                          .segments = segments,
                                          .layout = &layout};
          for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            SCOPED_TRACE(testing::Message() << algorithm.name << ", p " << p << ", root " << root << ", segments "
                                            << segments << ", seed " << seed);
            const Cost cost =
                cost_of(std::string(algorithm.name), p, root, 2 * static_cast<Count>(p), seed, Method::tree, segments);
            ASSERT_EQ(cost.messages, algorithm.messages(context));
            ASSERT_TRUE(algorithm.allows_rounds(cost.rounds, context)) << cost.rounds;
          }
        }
      }
    }
  }
}

/// Adding words is the transport's: no messages of ours.
TEST(Costs, NativeSendsNothingItself) {
  for (const Rank p : {1, 2, 5, 16}) {
    EXPECT_EQ(cost_of("native", p, all_ranks, 30, 1, Method::exact).messages, 0u);
    EXPECT_EQ(cost_of("native", p, 0, 30, 1, Method::exact).messages, 0u);
  }
}

/// Bytes of a whole reduce: a header, counts, an interval, and the record's nodes; nothing more.
TEST(Costs, BytesOfARecordAreItsNodes) {
  const Deal deal = contiguous_deal({64, 64, 63, 1});
  const Call call{.method = Method::tree,
                  .root = 0,
                  .collective = schedule::Collective::reduce,
                  .schedule = "flat",
                  .layout = LayoutKind::rank_order};
  const std::vector<Call> calls = calls_for(call, deal);
  std::vector<Memory> memory;
  for (const auto& intervals : deal) memory.push_back(bytes_of(std::vector<double>(rows_of(intervals), 1.0)));
  SimulatedRanks ranks(4, 1);
  SimulatedJob job(ranks, concluded(calls).agreement.value(), calls);
  expect_result(run(ranks, job, memory, 8), 0, bytes_of(std::vector<double>{192}));
  EXPECT_EQ(job.plan(1).traffic_of_last_run().bytes, 48 + 8u);
  EXPECT_EQ(job.plan(2).traffic_of_last_run().bytes, 48 + 6 * 8u);
  EXPECT_EQ(job.plan(3).traffic_of_last_run().bytes, 48 + 8u);
}

TEST(Costs, AreDescribedForPeople) {
  const Deal deal = contiguous_deal({3, 3, 4});
  const std::vector<Call> calls = calls_for({.method = Method::tree,
                                             .root = 1,
                                             .collective = schedule::Collective::reduce,
                                             .schedule = "linear",
                                             .layout = LayoutKind::rank_order},
                                            deal);
  SimulatedRanks ranks(3, 1);
  SimulatedJob job(ranks, concluded(calls).agreement.value(), calls);
  const std::string text = job.plan(0).description();
  for (const auto* part : {"reduce to rank 1", "sum", "10 rows", "1 x f64", "3 ranks", "tree", "linear"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
  }
  EXPECT_NE(text.find("messages 2 in 2 rounds"), std::string::npos) << text;
  EXPECT_EQ(text, job.plan(2).description());
}

}  // namespace
}  // namespace steadfold::test::cost_test
