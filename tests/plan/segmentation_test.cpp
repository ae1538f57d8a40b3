// How many segments a call has: the lemma against every number of blocks, `block=` against counting, and what plans do.
#include "plan/segmentation.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "order/distribution.hpp"
#include "support/inputs.hpp"
#include "support/sanitized.hpp"
#include "support/simulated_job.hpp"

namespace steadfold::test::segmentation_test {
namespace {

using plan::best_pipeline;
using plan::Pipeline;
using plan::segments_of;
using transport::LogGP;

constexpr LogGP link{.latency = 1e-6, .gap = 0, .per_byte = 1e-9};

double seconds(Count first, Count period, Bytes bytes, Count blocks, const LogGP& on = link) {
  const auto rounds = static_cast<double>(first + period * (blocks - 1));
  return rounds * (on.latency + on.duration(static_cast<double>(bytes) / static_cast<double>(blocks)));
}

TEST(Lemma, IsNoSlowerThanAnyNumberOfBlocks) {
  for (const Count first : {2, 5, 14, 126}) {
    for (const Count period : {1, 2, 3, 4}) {
      for (const Bytes bytes : {8, 1000, 100'000, 8'000'000}) {
        const Pipeline best = best_pipeline(first, period, bytes, link);
        for (Count blocks = 1; blocks <= 3000; ++blocks)
          ASSERT_LE(best.seconds, seconds(first, period, bytes, blocks) * (1 + 1e-12)) << first << " " << period;
        if (best.blocks == 1) continue;
        const auto more = static_cast<double>(first - period);
        const auto s = static_cast<double>(period);
        const double transfer = link.per_byte * static_cast<double>(bytes);
        const double lemma = more * link.latency + 2 * std::sqrt(s * more * link.latency * transfer) + s * transfer;
        EXPECT_NEAR(best.seconds, lemma, lemma * 1e-12);
      }
    }
  }
}

/// Long blocks that take longer for each byte, or less long, or no time beyond the limit; all are long, or few.
TEST(Lemma, KnowsThatLongBlocksTakeAnotherTime) {
  for (const double long_per_byte : {0.0, 1e-10, 9e-10, 1.1e-9, 1e-8}) {
    for (const Bytes long_from : {0, 100, 10'000, 1'000'000}) {
      const LogGP on{
          .latency = 1e-6, .gap = 0, .per_byte = 1e-9, .long_from = long_from, .long_per_byte = long_per_byte};
      for (const Count first : {1, 2, 14, 126}) {
        for (const Count period : {1, 2, 4}) {
          for (const Bytes bytes : {8, 1000, 100'000, 8'000'000}) {
            const Pipeline best = best_pipeline(first, period, bytes, on);
            const auto what = testing::Message() << long_per_byte << ' ' << long_from << ' ' << first << ' ' << period
                                                 << ' ' << bytes << " in " << best.blocks;
            for (Count blocks = 1; blocks <= 3000; ++blocks)
              ASSERT_LE(best.seconds, seconds(first, period, bytes, blocks, on) * (1 + 1e-12)) << what << ' ' << blocks;
            const double rounds = static_cast<double>(first) + static_cast<double>(period) * (best.blocks - 1);
            const double block = static_cast<double>(bytes) / best.blocks;
            ASSERT_NEAR(best.seconds, rounds * (on.latency + on.duration(block)), 1e-12 * best.seconds) << what;
          }
        }
      }
    }
  }
}

std::uint32_t segments(const std::string& schedule, Rank p, Count columns, const LogGP& on = link) {
  const schedule::Spec spec = schedule::parse(schedule);
  return segments_of({.rank_count = p, .spec = &spec}, columns, sizeof(double), on);
}

TEST(Segments, AreBlocksOfAllRanks) {
  for (const std::string name : {"transpose", "ring", "halving_doubling", "circulant"}) {
    EXPECT_EQ(segments(name, 8, 100), 8u);
    EXPECT_EQ(segments(name, 8, 8), 8u);
    EXPECT_EQ(segments(name, 8, 7), 1u);
  }
  EXPECT_EQ(segments("ring:block=5", 8, 100), 24u);  // 12 or 13 columns per rank
  EXPECT_EQ(segments("ring:block=5", 8, 80), 16u);   // 10 columns per rank
  EXPECT_EQ(segments("ring:block=1", 8, 20), 16u);   // 2 or 3 columns per rank
  EXPECT_EQ(segments("ring:block=1", 8, 7), 1u);
  EXPECT_EQ(segments("two_level:outer=[ring]:size=4", 22, 100), 6u);
  EXPECT_EQ(segments("two_level:outer=[ring:block=3]:size=4", 22, 100), 36u);
  EXPECT_EQ(segments("two_level:inner=[transpose]:outer=[ring]:size=4", 22, 100), 12u);  // of 4, 2 and 6
}

/// In reduce_scatter: nothing of a block is left out, and no segment is longer than asked for.
TEST(Segments, OfRanksBlocksHaveAllTheirColumns) {
  const Count blocks[] = {10, 0, 7};
  const plan::Segmentation found(blocks, 4);
  std::vector<Count> ends;
  for (std::uint32_t segment = 0; segment < found.segments(); ++segment) ends.push_back(found.columns(segment).end);
  EXPECT_EQ(ends, (std::vector<Count>{3, 6, 10, 13, 17}));
}

TEST(Segments, FollowBlocksAndTheLemma) {
  EXPECT_EQ(segments("linear", 8, 1'000'000), 1u);
  for (const std::string name :
       {"pipelined_linear", "pipelined_tree", "doubly_pipelined_linear", "doubly_pipelined_tree",
        "doubly_pipelined_linear:roots=1", "doubly_pipelined_tree:roots=1"}) {
    EXPECT_EQ(segments(name + ":block=10", 8, 100), 10u);
    EXPECT_EQ(segments(name + ":block=10", 8, 101), 11u);
    EXPECT_EQ(segments(name + ":block=1000", 8, 7), 1u);
    EXPECT_EQ(segments(name + ":block=1", 8, 7), 7u);
    EXPECT_EQ(segments(name, 8, 1), 1u);
    EXPECT_EQ(segments(name, 1, 1'000'000), 1u);
    const std::uint32_t some = segments(name, 8, 1'000'000);
    EXPECT_GT(some, 8u);
    EXPECT_LT(some, 10'000u);
    EXPECT_GT(segments(name, 8, 1'000'000, {.latency = 1e-8, .per_byte = 1e-9}), some);
    EXPECT_EQ(segments(name, 8, 100, {.latency = 0, .per_byte = 1e-9}), 100u);
  }
}

/// What plans do when nobody says how many: blocks of any size, remainders, fewer columns than ranks, no rows at all.
TEST(Segments, OfPlansGiveTheSameBits) {
  std::mt19937_64 random(5);
  for (const Rank p : {1, 2, 3, 5, 7, 8, 13, 33}) {
    for (const Count columns : {1, 2, 4, p - 1, p, p + 1, 100}) {
      if (columns == 0 || (sanitized && (p > 5 || columns > 4))) continue;
      for (const Count n : {Count{0}, Count{1}, static_cast<Count>(3 * p)}) {
        const std::vector<double> elements = summands(random, n * columns);
        const Deal deal = contiguous_deal(order::counts(order::Distribution::lower, n, p));
        std::vector<Memory> memory;
        for (const auto& intervals : deal) memory.push_back(memory_of(elements, columns, intervals));
        std::vector<double> expected;
        for (Count column = 0; column < columns; ++column)
          expected.push_back(tree_sum(column_of(elements, columns, column)));
        for (const schedule::Algorithm& algorithm : schedule::registry()) {
          if (algorithm.segments == schedule::Segments::one) continue;
          for (const std::string parameter : {"", ":block=1", ":block=3", ":block=1000", ":outer=[ring:block=2]:size=3",
                                              ":inner=[transpose]:size=2"}) {
            const std::string key = parameter.empty() ? "" : parameter.substr(1, parameter.find('=') - 1);
            if (!key.empty() && std::ranges::find(algorithm.parameters, key) == algorithm.parameters.end()) continue;
            const auto seed = static_cast<std::uint64_t>(p) * 1000 + columns;
            const std::string name = std::string(algorithm.name) + parameter;
            const bool reduces = offers(algorithm.collectives, schedule::Collective::reduce);
            const Rank root = reduces && columns % 2 == 0 ? p / 3 : all_ranks;
            const std::vector<Call> calls = calls_for({.method = Method::tree,
                                                       .columns = columns,
                                                       .root = root,
                                                       .collective = call::reduction_to(root),
                                                       .schedule = name,
                                                       .layout = LayoutKind::rank_order},
                                                      deal);
            const Concluded agreed = concluded(calls);
            if (agreed.status == Status::unsupported) continue;
            SCOPED_TRACE(testing::Message() << name << ", p " << p << ", columns " << columns << ", N " << n);
            SimulatedRanks ranks(p, seed, seed % 2 == 0 ? Sends::synchronous : Sends::buffered);
            SimulatedJob job(ranks, agreed.agreement.value(), calls, 0);
            expect_result(run(ranks, job, memory, columns * sizeof(double), 100), root, bytes_of(expected));
            if (algorithm.messages == nullptr || algorithm.layouts != schedule::Layouts::any) continue;
            schedule::Context context = plan::context_of(*agreed.agreement);
            context.segments = segments_of(context, columns, sizeof(double));
            EXPECT_EQ(job.messages(), algorithm.messages(context));
            if (testing::Test::HasFailure()) return;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace steadfold::test::segmentation_test
