// What a rank gets that is not the whole: its block of a reduce_scatter, the ranks up to its own of a scan, those below
// it of an exscan. By every algorithm that serves them, method, rank count and layout, against the oracle's bits of
// just that part, under shuffled delivery.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <numeric>
#include <set>

#include "schedule/served.hpp"
#include "support/concatenate.hpp"
#include "support/inputs.hpp"
#include "support/sanitized.hpp"
#include "support/simulated_job.hpp"

namespace steadfold::test::shares_test {
namespace {

using schedule::Collective;

constexpr std::uint32_t bins = 3;

/// By column, of the first rows.
Memory reference(Method method, const std::vector<double>& elements, Count columns, Count rows, Interval wanted) {
  std::vector<double> sums;
  for (Count column = wanted.begin; column < wanted.end; ++column) {
    std::vector<double> values = column_of(elements, columns, column);
    values.resize(rows);
    sums.push_back(method == Method::tree    ? tree_sum(values)
                   : method == Method::exact ? exact_sum(values)
                                             : binned_sum(values, static_cast<int>(bins)));
  }
  return bytes_of(sums);
}

/// One job: rows dealt to ranks, and what each rank is to get.
struct Job {
  Call common;
  Deal deal;
  std::vector<double> elements;

  Rank rank_count() const { return static_cast<Rank>(deal.size()); }
  Interval columns_of(std::size_t rank) const {
    if (common.collective != Collective::reduce_scatter) return {0, common.columns};
    const auto before = common.blocks.first(rank);
    const Count begin = std::accumulate(before.begin(), before.end(), Count{0});
    return {begin, begin + common.blocks[rank]};
  }
  Count rows_of(std::size_t rank) const {
    Count rows = 0;
    const std::size_t end = common.collective == Collective::reduce_scatter ? deal.size()
                            : common.collective == Collective::exscan       ? rank
                                                                            : rank + 1;
    for (std::size_t i = 0; i < end; ++i) rows += test::rows_of(deal[i]);
    return rows;
  }
  bool gets_nothing(std::size_t rank) const {
    return (common.collective == Collective::exscan && rank == 0) || columns_of(rank).empty();
  }
};

Outcome outcome_of(const Job& job, std::uint64_t seed, bool& served_in_time) {
  const std::vector<Call> calls = calls_for(job.common, job.deal);
  std::mt19937_64 random(seed);
  const Concluded agreed = concluded(calls, "", random_nodes(random, job.rank_count(), 1 + job.rank_count() / 2));
  EXPECT_TRUE(agreed.agreement) << agreed.text;
  SimulatedRanks ranks(job.rank_count(), seed, seed % 3 == 0 ? Sends::synchronous : Sends::buffered);
  const auto segments = static_cast<std::uint32_t>(seed % 4);
  SimulatedJob bound(ranks, *agreed.agreement, calls, segments);
  bound.trace(true);
  std::vector<Memory> memory;
  for (const auto& intervals : job.deal) memory.push_back(memory_of(job.elements, job.common.columns, intervals));
  Outcome outcome = run(ranks, bound, memory, job.common.columns * sizeof(double),
                        static_cast<std::uint32_t>(job.common.columns + 8));
  served_in_time = !outcome.stuck;
  return outcome;
}

void expect_shares(const Job& job, std::uint64_t seed) {
  bool done = false;
  const Outcome outcome = outcome_of(job, seed, done);
  ASSERT_TRUE(done) << "deadlock";
  for (std::size_t rank = 0; rank < job.deal.size(); ++rank) {
    ASSERT_EQ(outcome.statuses[rank], Status::ok) << "rank " << rank;
    if (job.gets_nothing(rank)) {
      ASSERT_TRUE(outcome.results[rank].intact()) << "rank " << rank << " gets nothing";
      continue;
    }
    const Memory wanted =
        reference(job.common.method, job.elements, job.common.columns, job.rows_of(rank), job.columns_of(rank));
    const auto found = outcome.results[rank].bytes();
    ASSERT_EQ(hex(found.first(wanted.size())), hex(wanted)) << "rank " << rank;
    for (const std::byte rest : found.subspan(wanted.size())) ASSERT_EQ(rest, std::byte{0xEE}) << "past its block";
  }
}

/// Every name under which an algorithm can be asked for the collective by the method.
std::vector<std::string> names_for(Collective collective, Method method) {
  std::vector<std::string> all;
  for (const schedule::Algorithm& algorithm : schedule::registry()) {
    if (!says_it_serves(algorithm, collective, 0, call::properties_of(method).merging,
                        schedule::OperatorKind::commutative))
      continue;
    for (const std::string& name : names_of(algorithm)) all.push_back(name);
  }
  return all;
}

/// Single or double, but double for binned records that are added as words.
arithmetic::Sweep sweep_for(Method method, std::string_view schedule, std::uint64_t seed) {
  const bool is_double = method == Method::binned && (schedule == "native" || seed % 2 == 1);
  return is_double ? arithmetic::Sweep::double_sweep : arithmetic::Sweep::single_sweep;
}

/// One column per rank, none to four, all on one rank in turn, more than most, and none at all.
std::vector<std::vector<Count>> blocks_for(std::mt19937_64& random, Rank p) {
  const auto ranks = static_cast<std::size_t>(p);
  std::vector<std::vector<Count>> all = {std::vector<Count>(ranks, 1), std::vector<Count>(ranks, 0),
                                         std::vector<Count>(ranks, 0), std::vector<Count>(ranks, 7),
                                         std::vector<Count>(ranks, 0)};
  all[1][random() % ranks] = 5;
  for (Count& block : all[2]) block = random() % 5;
  all[2][random() % ranks] += 1;
  return all;
}

/// Where scans hide faults: ranks without rows, rank 0 among them.
std::vector<std::vector<Count>> counts_for(std::mt19937_64& random, Rank p) {
  std::vector<Count> some(static_cast<std::size_t>(p));
  for (Count& count : some) count = random() % 3 == 0 ? random() % 30 : 0;
  return {std::vector<Count>(some.size(), 1), std::vector<Count>(some.size(), 5), some};
}

bool is_full() { return std::getenv("STEADFOLD_FULL") != nullptr; }

class Shares : public testing::TestWithParam<Rank> {};

TEST_P(Shares, OfReduceScatter) {
  const Rank p = GetParam();
  std::uint64_t seed = 1000 * static_cast<std::uint64_t>(p);
  std::mt19937_64 random(seed);
  for (const auto& blocks : blocks_for(random, p)) {
    const Count columns = std::accumulate(blocks.begin(), blocks.end(), Count{0});
    for (const Count each : {1u, 3u}) {
      if (columns == 0 && each > 1) continue;  // refused: a row has elements
      const Deal deal = contiguous_deal(std::vector<Count>(static_cast<std::size_t>(p), each));
      const auto elements = summands(random, each * static_cast<Count>(p) * columns);
      for (const Method method : {Method::tree, Method::exact, Method::binned}) {
        for (const std::string& name : names_for(Collective::reduce_scatter, method)) {
          ++seed;
          if (p > 16 && !is_full() && random() % 4 != 0) continue;  // they take p^2 blocks
          SCOPED_TRACE(testing::Message() << name << " by " << call::name_of(method) << ", p " << p << ", columns "
                                          << columns << ", seed " << seed);
          const LayoutKind layout = each == 1 ? LayoutKind::row_per_rank : LayoutKind::rank_order;
          const Call call{
              .method = method,
              .columns = columns,
              .collective = Collective::reduce_scatter,
              .blocks = blocks,
              .schedule = name,
              .layout = layout,
              .parameters = {.bins = method == Method::binned ? bins : 0, .sweep = sweep_for(method, name, seed)}};
          expect_shares({call, deal, elements}, seed);
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST_P(Shares, OfScans) {
  const Rank p = GetParam();
  std::uint64_t seed = 2000 * static_cast<std::uint64_t>(p);
  std::mt19937_64 random(seed);
  for (const auto& counts : counts_for(random, p)) {
    const Deal deal = contiguous_deal(counts);
    const Count rows = std::accumulate(counts.begin(), counts.end(), Count{0});
    for (const Count columns : {1u, 4u}) {
      const auto elements = summands(random, rows * columns);
      for (const Collective collective : {Collective::scan, Collective::exscan}) {
        for (const Method method : {Method::tree, Method::exact, Method::binned}) {
          for (const std::string& name : names_for(collective, method)) {
            SCOPED_TRACE(testing::Message()
                         << name << ", " << name_of(collective) << " by " << call::name_of(method) << ", p " << p
                         << ", columns " << columns << ", rows " << rows << ", seed " << ++seed);
            const Call call{.method = method,
                            .columns = columns,
                            .collective = collective,
                            .schedule = name,
                            .layout = rows == deal.size() ? LayoutKind::row_per_rank : LayoutKind::rank_order,
                            .parameters = {.bins = method == Method::binned ? bins : 0}};
            expect_shares({call, deal, elements}, seed);
            if (HasFailure()) return;
          }
        }
      }
    }
  }
}

/// Values stand apart from their records then.
TEST(SharesOfWideRows, AreThoseOfTheTree) {
  std::uint64_t seed = 3000;
  std::mt19937_64 random(seed);
  for (const std::size_t p : {2u, 3u, 4u, 5u}) {
    if (sanitized && p % 2 == 0) continue;
    std::vector<Count> blocks(p, 1030);
    blocks[random() % p] = 3;
    const Count columns = std::accumulate(blocks.begin(), blocks.end(), Count{0});
    const auto elements = summands(random, p * columns);
    for (const Collective collective : {Collective::reduce_scatter, Collective::scan, Collective::exscan}) {
      for (const std::string& name : names_for(collective, Method::tree)) {
        SCOPED_TRACE(testing::Message() << name << ", " << name_of(collective) << ", p " << p << ", seed " << ++seed);
        const Call call{.method = Method::tree,
                        .columns = columns,
                        .collective = collective,
                        .blocks = collective == Collective::reduce_scatter ? std::span<const Count>(blocks)
                                                                           : std::span<const Count>(),
                        .schedule = name,
                        .layout = LayoutKind::row_per_rank};
        expect_shares({call, contiguous_deal(std::vector<Count>(p, 1)), elements}, seed);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

/// A rank's block begins where its row does: there it may only be written once all of the row has been lifted.
TEST(SharesOfWideRows, MayStandInTheRows) {
  std::uint64_t seed = 4000;
  std::mt19937_64 random(seed);
  for (const std::size_t p : {2u, 3u, 4u, 5u, 8u}) {
    if (sanitized && p > 4) continue;
    const std::vector<Count> blocks(p, 1030);
    const Count columns = 1030 * p;
    const Deal deal = contiguous_deal(std::vector<Count>(p, 1));
    const auto elements = summands(random, p * columns);
    for (const std::string& name : names_for(Collective::reduce_scatter, Method::tree)) {
      SCOPED_TRACE(testing::Message() << name << ", p " << p << ", seed " << ++seed);
      const Job job{{.method = Method::tree,
                     .columns = columns,
                     .collective = Collective::reduce_scatter,
                     .blocks = blocks,
                     .schedule = name,
                     .layout = LayoutKind::row_per_rank},
                    deal,
                    elements};
      const std::vector<Call> calls = calls_for(job.common, deal);
      SimulatedRanks ranks(job.rank_count(), seed, seed % 2 == 0 ? Sends::synchronous : Sends::buffered);
      SimulatedJob plans(ranks, concluded(calls).agreement.value(), calls, 0);
      std::vector<Memory> memory;
      for (const auto& intervals : deal) memory.push_back(memory_of(elements, columns, intervals));
      for (std::size_t rank = 0; rank < p; ++rank) {
        const call::Data data{.first = memory[rank].data(), .result = memory[rank].data()};
        plans.plan(static_cast<Rank>(rank)).start(std::span(&data, 1), true);
      }
      ASSERT_TRUE(finish(ranks, {&plans}, static_cast<std::uint32_t>(p)));
      for (std::size_t rank = 0; rank < p; ++rank) {
        const Memory wanted = reference(Method::tree, elements, columns, p, job.columns_of(rank));
        ASSERT_TRUE(std::ranges::equal(std::span(memory[rank]).first(wanted.size()), wanted)) << "rank " << rank;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Shares, testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 17, 31, 33, 64));

/// The control: bits of plain follow the schedule, by which rows meet in another order.
TEST(SharesControl, PlainBitsFollowTheSchedule) {
  constexpr Rank p = 8;
  std::mt19937_64 random(5);
  const Deal deal = contiguous_deal(std::vector<Count>(p, 1));
  const auto elements = summands(random, p * p);
  const std::vector<Count> blocks(p, 1);
  for (const Collective collective : {Collective::reduce_scatter, Collective::scan, Collective::exscan}) {
    for (const Method method : {Method::plain, Method::tree}) {
      std::set<std::string> found;
      for (const char* const name : {"linear", "binomial"}) {
        Call call{.method = method,
                  .columns = p,
                  .collective = collective,
                  .schedule = name,
                  .layout = LayoutKind::row_per_rank};
        if (collective == Collective::reduce_scatter) call.blocks = blocks;
        bool done = false;
        const Outcome outcome = outcome_of({call, deal, elements}, 1, done);
        std::string all;
        for (const Result& result : outcome.results) all += hex(result.bytes());
        found.insert(all);
      }
      EXPECT_EQ(found.size() > 1, method == Method::plain) << name_of(collective);
    }
  }
}

/// Associative but not commutative: text, whose order shows.
TEST(Shares, KeepRankOrderForPlainOperatorsThatDoNotCommute) {
  const arithmetic::Operator op{.apply = concatenate, .element_bytes = 80};
  for (const Rank p : {2, 3, 4, 5, 7, 8, 13}) {
    std::vector<Memory> memory;
    std::string all;
    for (Rank rank = 0; rank < p; ++rank) {
      memory.emplace_back(80);
      memory.back()[0] = static_cast<std::byte>('A' + rank);
      all += static_cast<char>('A' + rank);
    }
    for (const schedule::Algorithm& algorithm : schedule::registry()) {
      for (const Collective collective : {Collective::scan, Collective::exscan}) {
        if (!says_it_serves(algorithm, collective, 0, call::properties_of(Method::plain).merging,
                            schedule::OperatorKind::ordered))
          continue;
        const Call call{.operation = arithmetic::Operation::user,
                        .method = Method::plain,
                        .type = arithmetic::Type::bytes,
                        .result_type = arithmetic::Type::bytes,
                        .collective = collective,
                        .schedule = algorithm.name,
                        .user = op,
                        .layout = LayoutKind::row_per_rank,
                        .rows = 1};
        const std::vector<Call> calls(static_cast<std::size_t>(p), call);
        SimulatedRanks ranks(p, static_cast<std::uint64_t>(p));
        SimulatedJob job(ranks, concluded(calls).agreement.value(), calls);
        const Outcome outcome = run(ranks, job, memory, 80);
        ASSERT_FALSE(outcome.stuck);
        for (Rank rank = 0; rank < p; ++rank) {
          const auto i = static_cast<std::size_t>(rank);
          const std::size_t length = collective == Collective::scan ? i + 1 : i;
          if (length == 0) {
            EXPECT_TRUE(outcome.results[i].intact());
            continue;
          }
          EXPECT_STREQ(reinterpret_cast<const char*>(outcome.results[i].bytes().data()), all.substr(0, length).c_str())
              << algorithm.name << ", p " << p << ", rank " << rank;
        }
      }
    }
  }
}

Call block_call(std::span<const Count> blocks) {
  return {.columns = 6,
          .collective = Collective::reduce_scatter,
          .blocks = blocks,
          .layout = LayoutKind::row_per_rank,
          .rows = 1};
}

TEST(NoColumns, AreReducedByEverySchedule) {
  for (const Rank p : {1, 2, 5, 8}) {
    const Deal deal = contiguous_deal(std::vector<Count>(static_cast<std::size_t>(p), 1));
    for (const schedule::Algorithm& algorithm : schedule::registry()) {
      for (const Collective collective : schedule::every_collective) {
        for (const Method method : {Method::tree, Method::exact, Method::binned, Method::plain}) {
          if (!says_it_serves(algorithm, collective, 0, call::properties_of(method).merging,
                              schedule::OperatorKind::commutative))
            continue;
          const std::vector<Count> blocks(static_cast<std::size_t>(p), 0);
          Call call{.method = method,
                    .columns = 0,
                    .root = collective == Collective::reduce ? 0 : all_ranks,
                    .collective = collective,
                    .schedule = algorithm.name,
                    .layout = LayoutKind::row_per_rank,
                    .parameters = {.sweep = sweep_for(method, algorithm.name, 0)}};
          if (collective == Collective::reduce_scatter) call.blocks = blocks;
          SCOPED_TRACE(testing::Message() << algorithm.name << ' ' << name_of(collective) << ' ' << p);
          const auto calls = calls_for(call, deal);
          const Concluded agreed = concluded(calls);
          ASSERT_TRUE(agreed.agreement) << agreed.text;
          SimulatedRanks ranks(p, 1);
          SimulatedJob job(ranks, *agreed.agreement, calls, 0);
          const Outcome outcome = run(ranks, job, std::vector<Memory>(deal.size()), 0, 8);
          ASSERT_FALSE(outcome.stuck);
          for (const Status status : outcome.statuses) ASSERT_EQ(status, Status::ok);
        }
      }
    }
  }
}

/// Whatever is done to elements before they are combined.
TEST(NoColumns, AreReducedByEveryOperation) {
  using arithmetic::Operation;
  using arithmetic::Type;
  const Call common{.columns = 0, .layout = LayoutKind::row_per_rank};
  std::vector<Call> all(6, common);
  all[0].operation = Operation::abs_sum;
  all[1].operation = Operation::masked_sum;
  all[2].operation = Operation::norm2;
  all[3].type = Type::f32;  // added up as doubles
  all[4].type = all[4].result_type = Type::cf64;
  all[5].method = Method::binned;
  const Deal deal = contiguous_deal({1, 1, 1});
  for (const Call& call : all) {
    const auto calls = calls_for(call, deal);
    const Concluded agreed = concluded(calls);
    ASSERT_TRUE(agreed.agreement) << agreed.text;
    SimulatedRanks ranks(3, 1);
    SimulatedJob job(ranks, *agreed.agreement, calls, 0);
    const Outcome outcome = run(ranks, job, std::vector<Memory>(deal.size()), 0, 8);
    ASSERT_FALSE(outcome.stuck);
    for (const Status status : outcome.statuses) ASSERT_EQ(status, Status::ok);
  }
}

TEST(SharesRefusals, SayWhatIsWrong) {
  const auto text = [](const std::vector<Call>& calls) { return concluded(calls).text; };
  const std::vector<Count> two = {3, 3}, three = {2, 2, 2}, short_of = {1, 2, 2}, many = {6, 1, 0},
                           huge = {1, ~Count{0}, 6};
  const std::vector<Count> other = {1, 2, 3};
  const auto thrice = [](const Call& call) { return std::vector<Call>(3, call); };
  EXPECT_EQ(text(thrice(block_call(three))), "");
  EXPECT_NE(text(thrice(block_call(two))).find("for 2 ranks (rows have 6 columns and there are 3 ranks)"),
            std::string::npos)
      << text(thrice(block_call(two)));
  EXPECT_NE(text(thrice(block_call({}))).find("without blocks (blocks say how many columns each of the 3 ranks gets)"),
            std::string::npos);
  EXPECT_NE(text(thrice(block_call(short_of))).find("blocks of 5 columns"), std::string::npos);
  EXPECT_NE(text(thrice(block_call(many))).find("blocks of more than 6 columns"), std::string::npos);
  EXPECT_EQ(text(thrice(block_call(huge))),
            "rank 0: a block of -1 columns for rank 1 (rows have 6), give every column to exactly one rank");
  EXPECT_NE(text({block_call(three), block_call(three), block_call(other)}).find("different blocks of columns"),
            std::string::npos);
  Call scan{.collective = Collective::scan, .layout = LayoutKind::row_per_rank, .rows = 1};
  Call exscan = scan;
  exscan.collective = Collective::exscan;
  EXPECT_NE(text({scan, exscan}).find("collective scan against exscan"), std::string::npos);
  scan.root = 1;
  EXPECT_NE(text(thrice(scan)).find("root 1 of scan"), std::string::npos);
  scan.root = all_ranks;
  scan.method = Method::binned;
  scan.parameters.sweep = arithmetic::Sweep::double_sweep;
  EXPECT_NE(text(thrice(scan)).find("the double sweep cannot be used in scan"), std::string::npos);
  scan.method = Method::exact;
  scan.schedule = "native";
  EXPECT_NE(text(thrice(scan)).find("schedule 'native' cannot serve scan"), std::string::npos);

  const std::vector<Interval> upper = {{1, 2}}, lower = {{0, 1}};
  std::vector<Call> crossed(2, {.collective = Collective::scan, .layout = LayoutKind::intervals, .rows = 1});
  crossed[0].intervals = upper;
  crossed[1].intervals = lower;
  EXPECT_NE(text(crossed).find("this layout cannot be scanned"), std::string::npos);
  std::swap(crossed[0].intervals, crossed[1].intervals);
  EXPECT_EQ(text(crossed), "");
}

}  // namespace
}  // namespace steadfold::test::shares_test
