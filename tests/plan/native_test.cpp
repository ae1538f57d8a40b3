// Binned sums by double sweep as words that the transport adds: the same bytes as by messages, for every operation and
// type, whatever the elements' bits are; and what happens where a rank has nothing, fails, or gives up.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "support/all_kinds.hpp"
#include "support/simulated_job.hpp"

namespace steadfold::test::native_test {
namespace {

using arithmetic::Operation;
using arithmetic::Sweep;

/// Rows of any bits, dealt to ranks, some of which have none.
struct Rows {
  Deal deal;
  std::vector<Memory> first;
  std::vector<Memory> second;

  Rows(std::mt19937_64& random, Rank p, const Kind& kind, Count most) {
    std::vector<Count> counts(static_cast<std::size_t>(p));
    for (Count& count : counts) count = random() % 3 == 0 ? 0 : random() % most;
    deal = contiguous_deal(counts);
    for (const Count count : counts) {
      first.push_back(bytes(random, count * kind.row_bytes()));
      if (!kind.is_masked() && !arithmetic::has_factors(kind.call.operation)) continue;
      second.push_back(bytes(random, kind.is_masked() ? count : count * kind.row_bytes()));
      if (!kind.is_masked()) continue;
      for (std::byte& byte : second.back()) byte &= std::byte{1};
    }
  }

 private:
  static Memory bytes(std::mt19937_64& random, Bytes count) {
    Memory memory(count + 8);  // never null
    for (std::byte& byte : memory) byte = static_cast<std::byte>(random());
    return memory;
  }
};

Outcome outcome_by(const std::string& schedule, const Kind& kind, const Rows& rows, Rank root, std::uint64_t seed,
                   std::size_t null_on = ~std::size_t{0}) {
  Call call = kind.call;
  call.schedule = schedule;
  call.root = root;
  call.collective = call::reduction_to(root);
  call.layout = LayoutKind::rank_order;
  call.parameters.bins = 2 + static_cast<std::uint32_t>(seed % 3);
  const std::vector<Call> calls = calls_for(call, rows.deal);
  const Concluded agreed = concluded(calls);
  EXPECT_TRUE(agreed.agreement) << agreed.text;
  SimulatedRanks ranks(static_cast<Rank>(rows.deal.size()), seed);
  SimulatedJob job(ranks, *agreed.agreement, calls);
  if (null_on >= rows.deal.size()) return run(ranks, job, rows.first, kind.partial->value_bytes(), 1, rows.second);
  std::vector<Memory> first = rows.first;
  first[null_on] = Memory();
  return run(ranks, job, first, kind.partial->value_bytes(), 1, rows.second);
}

class Native : public testing::TestWithParam<Rank> {};
INSTANTIATE_TEST_SUITE_P(Ranks, Native, testing::Values(1, 2, 3, 4, 5, 7, 8));

void expect_same(const Outcome& found, const Outcome& due) {
  ASSERT_FALSE(found.stuck || due.stuck);
  for (std::size_t rank = 0; rank < due.results.size(); ++rank) {
    EXPECT_EQ(found.statuses[rank], due.statuses[rank]) << "rank " << rank;
    EXPECT_EQ(hex(found.results[rank].bytes()), hex(due.results[rank].bytes())) << "rank " << rank;
  }
}

TEST_P(Native, HasTheBitsOfMessagesForEveryOperationAndType) {
  const Rank p = GetParam();
  std::uint64_t seed = 100 * static_cast<std::uint64_t>(p);
  std::mt19937_64 random(seed);
  int kinds = 0;
  for (const Kind& kind : kinds_of(Method::binned, Sweep::double_sweep)) {
    const Rows rows(random, p, kind, 12);
    for (const Rank root : {all_ranks, p - 1}) {
      SCOPED_TRACE(testing::Message() << kind.name() << ", root " << root << ", seed " << ++seed);
      const Outcome due = outcome_by(root == all_ranks ? "recursive_doubling" : "binomial", kind, rows, root, seed);
      expect_same(outcome_by("native", kind, rows, root, seed), due);
      if (HasFailure()) return;
    }
    ++kinds;
  }
  EXPECT_GT(kinds, 50);
}

/// Columns with bin ranges of their own; more than one piece of a merge.
TEST_P(Native, HasTheBitsOfMessagesForWideRows) {
  const Rank p = GetParam();
  std::mt19937_64 random(7);
  for (const Operation operation : {Operation::sum, Operation::dot, Operation::norm2}) {
    for (const auto type : {arithmetic::Type::f64, arithmetic::Type::f32}) {
      const Call call{.operation = operation,
                      .method = Method::binned,
                      .type = type,
                      .result_type = type,
                      .columns = 1500,
                      .parameters = {.sweep = Sweep::double_sweep}};
      const auto described = call::describe(call);
      const Kind kind{call, call::make_kind(described, call::operator_of(described, call.user), 1500)};
      const Rows rows(random, p, kind, 4);
      SCOPED_TRACE(kind.name());
      expect_same(outcome_by("native", kind, rows, all_ranks, 5),
                  outcome_by("recursive_doubling", kind, rows, all_ranks, 5));
    }
  }
}

/// Messages carry the few rows themselves, words their digits.
TEST_P(Native, HasTheBitsOfMessagesForFewWideRows) {
  const Rank p = GetParam();
  std::mt19937_64 random(11);
  for (const auto type : {arithmetic::Type::f64, arithmetic::Type::f32}) {
    const Call call{.method = Method::exact, .type = type, .result_type = type, .columns = 300};
    const auto described = call::describe(call);
    const Kind kind{call, call::make_kind(described, call::operator_of(described, call.user), 300)};
    for (const Count most : {Count{2}, Count{4}}) {
      const Rows rows(random, p, kind, most);
      expect_same(outcome_by("native", kind, rows, all_ranks, 5),
                  outcome_by("recursive_doubling", kind, rows, all_ranks, 5));
    }
  }
}

TEST_P(Native, FailsOnEveryRankAsMessagesDo) {
  const Rank p = GetParam();
  std::mt19937_64 random(9);
  for (const Kind& kind : kinds_of(Method::binned, Sweep::double_sweep)) {
    if (kind.call.type != arithmetic::Type::f64) continue;
    const Rows rows(random, p, kind, 9);
    for (std::size_t culprit = 0; culprit < rows.deal.size(); ++culprit) {
      if (rows_of(rows.deal[culprit]) == 0) continue;
      SCOPED_TRACE(testing::Message() << kind.name() << ", without data on rank " << culprit);
      const Outcome found = outcome_by("native", kind, rows, all_ranks, 3, culprit);
      ASSERT_FALSE(found.stuck);
      for (const Status status : found.statuses) EXPECT_EQ(status, Status::invalid_argument);
    }
  }
}

/// A rank that gives up before its words are added adds those of a failure, so that nobody waits for them for ever.
TEST(NativeRuns, ThatAreGivenUpDoNotHoldUpOthersSums) {
  constexpr Rank p = 2;
  const Call call{.method = Method::binned,
                  .schedule = "native",
                  .layout = LayoutKind::rank_order,
                  .parameters = {.sweep = Sweep::double_sweep}};
  const Deal deal = contiguous_deal({2, 2});
  const auto calls = calls_for(call, deal);
  SimulatedRanks ranks(p, 1);
  SimulatedJob job(ranks, concluded(calls).agreement.value(), calls);
  const Memory x = bytes_of(std::vector<double>{1, 2});
  std::vector<Result> results(p, Result(sizeof(double)));
  for (Rank rank = 0; rank < p; ++rank)
    job.plan(rank).start({.first = x.data(), .result = results[static_cast<std::size_t>(rank)].data()});
  for (int polls = 0; polls < 1000; ++polls) ASSERT_FALSE(job.plan(0).test());
  job.plan(1).give_up();
  bool is_done = false;
  for (int polls = 0; polls < 1000 && !is_done; ++polls) is_done = job.plan(0).test();
  EXPECT_TRUE(is_done);
  EXPECT_EQ(job.plan(0).status(), Status::invalid_argument);
}

}  // namespace
}  // namespace steadfold::test::native_test
