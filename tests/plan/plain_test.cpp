// Plain reductions, of which no order is promised, against the same steps carried out by hand: to all ranks, to each
// root, by blocks and by scans, by every schedule, on ranks with several rows, one or none. Bits on every rank.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "support/by_hand.hpp"
#include "support/inputs.hpp"
#include "support/simulated_job.hpp"

namespace steadfold::test::plain_test {
namespace {

using arithmetic::Operation;
using schedule::Collective;

struct Reduction {
  Operation operation;
  double (*combine)(double, double);
  double of_nothing;
};
constexpr Reduction sum{Operation::sum, [](double a, double b) { return a + b; }, 0};
constexpr Reduction product{Operation::product, [](double a, double b) { return a * b; }, 1};

/// Near 1 for products, and now and then what swallows the rest.
std::vector<double> elements_for(const Reduction& reduction, Count count, std::mt19937_64& random) {
  std::vector<double> x = summands(random, count);
  if (reduction.operation == Operation::product)
    for (double& each : x) each = 1 + std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), -64);
  if (random() % 4 == 0 && count > 0) x[random() % count] = -std::numeric_limits<double>::quiet_NaN();
  return x;
}

std::vector<std::vector<double>> rows_by_rank(const std::vector<double>& elements, Count columns, const Deal& deal) {
  std::vector<std::vector<double>> rows;
  for (const auto& intervals : deal) {
    rows.emplace_back();
    for (const Interval interval : intervals)
      for (Index i = interval.begin * columns; i < interval.end * columns; ++i) rows.back().push_back(elements[i]);
  }
  return rows;
}

void expect_by_hand(Call call, const Deal& deal, const Reduction& reduction, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  call.operation = reduction.operation;
  Count rows = 0;
  for (const auto& intervals : deal) rows += rows_of(intervals);
  const std::vector<double> elements = elements_for(reduction, rows * call.columns, random);
  const std::vector<Call> calls = calls_for(call, deal);
  const Concluded agreed = concluded(calls);
  ASSERT_TRUE(agreed.agreement) << agreed.text;
  const auto p = static_cast<Rank>(deal.size());
  const auto segments = static_cast<std::uint32_t>(seed % 4);
  const plan::Segmentation segmentation = segmentation_of(*agreed.agreement, segments);
  const auto mine = rows_by_rank(elements, call.columns, deal);
  const ByHand hand(*agreed.agreement, segmentation, mine, reduction.combine, reduction.of_nothing);

  SimulatedRanks ranks(p, seed, seed % 3 == 0 ? Sends::synchronous : Sends::buffered);
  SimulatedJob job(ranks, *agreed.agreement, calls, segments);
  std::vector<Memory> memory;
  for (const auto& each : mine) memory.push_back(bytes_of(each));
  const Outcome outcome =
      run(ranks, job, memory, call.columns * sizeof(double), static_cast<std::uint32_t>(call.columns) + 8);
  ASSERT_FALSE(outcome.stuck) << "deadlock";
  for (std::size_t rank = 0; rank < deal.size(); ++rank) {
    ASSERT_EQ(outcome.statuses[rank], Status::ok) << "rank " << rank;
    if (!agreed.agreement->members[0].gets_result(static_cast<Rank>(rank))) {
      ASSERT_TRUE(outcome.results[rank].intact()) << "rank " << rank << " gets nothing";
      continue;
    }
    const Memory expected = bytes_of(hand.result(rank));
    ASSERT_EQ(hex(outcome.results[rank].bytes().first(expected.size())), hex(expected)) << "rank " << rank;
  }
}

class Plain : public testing::TestWithParam<Rank> {
 protected:
  Rank p = GetParam();
  std::uint64_t seed = 9000 * static_cast<std::uint64_t>(p);
  std::mt19937_64 random{seed};

  Deal some_rows() {
    std::vector<Count> counts(static_cast<std::size_t>(p));
    for (Count& count : counts) count = random() % 4;
    return contiguous_deal(counts);
  }
  Deal one_row_per_rank() const { return contiguous_deal(std::vector<Count>(static_cast<std::size_t>(p), 1)); }

  /// By every schedule that serves the collective.
  void expect_all(const Call& call, const Deal& deal) {
    for (const schedule::Algorithm& algorithm : schedule::registry()) {
      for (const std::string& name : names_of(algorithm)) {
        if (schedule::refusal(schedule::parse(name), call.collective, std::max(call.root, 0),
                              call::properties_of(Method::plain).merging, schedule::OperatorKind::commutative))
          continue;
        Call asked = call;
        asked.method = Method::plain;
        asked.schedule = name;
        const Reduction& reduction = ++seed % 5 == 0 ? product : sum;
        SCOPED_TRACE(testing::Message() << name << ", " << schedule::name_of(call.collective) << ", p " << p
                                        << ", root " << call.root << ", columns " << call.columns << ", seed " << seed);
        expect_by_hand(asked, deal, reduction, seed);
        if (HasFailure()) return;
        ++compared_;
      }
    }
  }

  void TearDown() override { EXPECT_GT(compared_, 5); }

 private:
  int compared_ = 0;
};

TEST_P(Plain, ToAllRanks) {
  for (const Count columns : {Count{1}, Count{3}, 2 * static_cast<Count>(p) + 1}) {
    expect_all({.columns = columns, .layout = LayoutKind::row_per_rank}, one_row_per_rank());
    expect_all({.columns = columns, .layout = LayoutKind::rank_order}, some_rows());
  }
}

TEST_P(Plain, ToEachRoot) {
  for (Rank root = 0; root < p; root += std::max(1, p / 5)) {
    for (const Count columns : {Count{1}, Count{5}})
      expect_all(
          {.columns = columns, .root = root, .collective = call::reduction_to(root), .layout = LayoutKind::rank_order},
          some_rows());
  }
}

TEST_P(Plain, ByBlocks) {
  std::vector<Count> blocks(static_cast<std::size_t>(p));
  for (Count& block : blocks) block = random() % 4;
  blocks[random() % blocks.size()] += 2;
  const Count columns = std::accumulate(blocks.begin(), blocks.end(), Count{0});
  expect_all({.columns = columns,
              .collective = Collective::reduce_scatter,
              .blocks = blocks,
              .layout = LayoutKind::row_per_rank},
             one_row_per_rank());
}

TEST_P(Plain, ByScans) {
  for (const Count columns : {Count{1}, Count{4}}) {
    expect_all({.columns = columns, .collective = Collective::scan, .layout = LayoutKind::rank_order}, some_rows());
    expect_all({.columns = columns, .collective = Collective::exscan, .layout = LayoutKind::row_per_rank},
               one_row_per_rank());
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Plain, testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 17, 23));

/// The control: by hand too, another schedule gives other bits.
TEST(PlainControl, BitsFollowTheSchedule) {
  std::mt19937_64 random(5);
  const Deal deal = contiguous_deal(std::vector<Count>(8, 1));
  const auto rows = rows_by_rank(summands(random, 8), 1, deal);
  std::vector<double> found;
  for (const char* const name : {"linear", "binomial"}) {
    const auto calls = calls_for({.method = Method::plain, .schedule = name, .layout = LayoutKind::row_per_rank}, deal);
    const Agreement agreed = concluded(calls).agreement.value();
    const plan::Segmentation segmentation = segmentation_of(agreed, 1);
    found.push_back(ByHand(agreed, segmentation, rows, sum.combine, 0).result(0)[0]);
  }
  EXPECT_NE(found[0], found[1]);
}

}  // namespace
}  // namespace steadfold::test::plain_test
