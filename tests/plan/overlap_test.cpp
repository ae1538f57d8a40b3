// Results that lie in the rows they come from, wholly, in part or beside them, of rows so wide that a run might work on
// the caller's own memory: blocks into one's own buffer, results that begin a few columns before or after a row.
#include <gtest/gtest.h>

#include <numeric>

#include "support/inputs.hpp"
#include "support/sanitized.hpp"
#include "support/simulated_job.hpp"

namespace steadfold::test::overlap_test {
namespace {

using schedule::Collective;

/// One job by the tree, its rows, and what each rank is due.
struct Job {
  Call call;
  Deal deal;
  std::vector<double> elements;

  Interval columns_of(std::size_t rank) const {
    if (call.collective != Collective::reduce_scatter) return {0, call.columns};
    const auto before = call.blocks.first(rank);
    const Count begin = std::accumulate(before.begin(), before.end(), Count{0});
    return {begin, begin + call.blocks[rank]};
  }
  std::vector<double> due(std::size_t rank) const {
    const Count each = elements.size() / call.columns / deal.size();  // rows of a rank
    const Count rows = call.collective == Collective::scan     ? each * (rank + 1)
                       : call.collective == Collective::exscan ? each * rank
                                                               : each * deal.size();
    std::vector<double> sums;
    const Interval columns = columns_of(rank);
    for (Count column = columns.begin; column < columns.end && rows > 0; ++column) {
      std::vector<double> values = column_of(elements, call.columns, column);
      values.resize(rows);
      sums.push_back(tree_sum(values));
    }
    return sums;
  }
};

/// Every rank's rows with room around them, and the result `shift` columns after the first row begins.
void expect_due(const Job& job, const Agreement& agreed, const std::vector<Call>& calls, std::ptrdiff_t shift,
                bool own_block) {
  const auto p = static_cast<Rank>(job.deal.size());
  const std::size_t room = 2 * job.call.columns;
  SimulatedRanks ranks(p, 21, p % 2 == 0 ? Sends::buffered : Sends::synchronous);
  SimulatedJob plans(ranks, agreed, calls, 0);
  for (int again = 0; again < 2; ++again) {
    std::vector<std::vector<double>> memory;
    std::vector<double*> results;
    for (std::size_t i = 0; i < job.deal.size(); ++i) {
      const Memory rows = memory_of(job.elements, job.call.columns, job.deal[i]);
      memory.emplace_back(2 * room + rows.size() / sizeof(double));
      std::memcpy(memory[i].data() + room, rows.data(), rows.size());
      const auto block = static_cast<std::ptrdiff_t>(own_block ? job.columns_of(i).begin : 0);
      results.push_back(memory[i].data() + static_cast<std::ptrdiff_t>(room) + shift + block);
    }
    for (std::size_t i = 0; i < memory.size(); ++i) {
      const call::Data data{.first = reinterpret_cast<const std::byte*>(memory[i].data() + room),
                            .result = reinterpret_cast<std::byte*>(results[i])};
      plans.plan(static_cast<Rank>(i)).start(std::span(&data, 1), true);
    }
    ASSERT_TRUE(finish(ranks, {&plans}, 40)) << "deadlock";
    for (std::size_t i = 0; i < memory.size(); ++i) {
      ASSERT_EQ(plans.plan(static_cast<Rank>(i)).status(), Status::ok);
      if (job.call.root != all_ranks && job.call.root != static_cast<Rank>(i)) continue;
      const std::vector<double> expected = job.due(i);
      if (!expected.empty()) {
        ASSERT_EQ(std::memcmp(results[i], expected.data(), expected.size() * sizeof(double)), 0) << "rank " << i;
      }
    }
  }
}

int expect_all(Job job) {
  const Collective collective = job.call.collective;
  int compared = 0;
  const auto width = static_cast<std::ptrdiff_t>(job.call.columns);
  for (const schedule::Algorithm& algorithm : schedule::registry()) {
    if (schedule::refusal(algorithm, collective, std::max(job.call.root, 0), call::properties_of(Method::tree).merging,
                          schedule::OperatorKind::commutative))
      continue;
    job.call.schedule = algorithm.name;
    const std::vector<Call> calls = calls_for(job.call, job.deal);
    const Concluded agreed = concluded(calls);
    EXPECT_TRUE(agreed.agreement) << agreed.text;
    for (const std::ptrdiff_t shift :
         {-width / 2, std::ptrdiff_t{-1}, std::ptrdiff_t{0}, std::ptrdiff_t{1}, width - 1}) {
      for (const bool own_block : {false, true}) {
        if (own_block && collective != Collective::reduce_scatter) continue;
        SCOPED_TRACE(testing::Message() << algorithm.name << ", " << schedule::name_of(collective) << ", p "
                                        << job.deal.size() << ", result " << shift << " columns beyond the rows"
                                        << (own_block ? "' own block" : ""));
        expect_due(job, agreed.agreement.value(), calls, shift, own_block);
        if (testing::Test::HasFailure()) return compared;
        ++compared;
      }
    }
  }
  return compared;
}

TEST(Overlaps, OfResultsAndRowsDoNoHarm) {
  std::mt19937_64 random(22);
  for (const std::size_t p : {2u, 3u, 4u}) {
    if (sanitized && p != 3) continue;
    std::vector<Count> blocks(p, 1030);
    blocks.back() += 3;
    const Count columns = std::accumulate(blocks.begin(), blocks.end(), Count{0});
    for (const Count each : {1u, 2u}) {
      if (each == 2 && (p != 3 || sanitized)) continue;
      Job job{.call = {.method = Method::tree, .columns = columns, .layout = LayoutKind::rank_order},
              .deal = contiguous_deal(std::vector<Count>(p, each)),
              .elements = summands(random, p * each * columns)};
      EXPECT_GT(expect_all(job), 30);
      job.call.root = static_cast<Rank>(p) - 1;
      job.call.collective = Collective::reduce;
      EXPECT_GT(expect_all(job), 30);
      job.call.root = all_ranks;
      job.call.collective = Collective::scan;
      EXPECT_GT(expect_all(job), 10);
      job.call.collective = Collective::exscan;
      EXPECT_GT(expect_all(job), 10);
      job.call.collective = Collective::reduce_scatter;
      job.call.blocks = blocks;
      EXPECT_GT(expect_all(job), 30);
      if (testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace steadfold::test::overlap_test
