// Every algorithm of the registry under every collective, root, method, rank count, layout, width and segmentation that
// it serves: the oracle's bits on every rank, the messages and rounds of its formulas, no deadlock. Ranks are dealt to
// nodes at random. STEADFOLD_FULL=1: all combinations.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <set>

#include "order/distribution.hpp"
#include "plan/choice.hpp"
#include "schedule/served.hpp"
#include "support/by_hand.hpp"
#include "support/inputs.hpp"
#include "support/sanitized.hpp"
#include "support/simulated_job.hpp"

namespace steadfold::test::sweep_test {
namespace {

using schedule::Collective;

constexpr std::uint64_t thinning = sanitized ? 8 : 1;  // sanitizers are slow, and look for other faults

bool full() { return std::getenv("STEADFOLD_FULL") != nullptr; }

/// Layouts that faults hide in.
struct NamedDeal {
  const char* name;
  Deal deal;
  LayoutKind layout;
};

std::vector<Count> with_empty_ranks(std::mt19937_64& random, Rank p) {
  std::vector<Count> counts(static_cast<std::size_t>(p));
  for (Count& count : counts) count = random() % 3 == 0 ? 1 + random() % 40 : 0;
  counts[random() % counts.size()] += 9;
  if (p > 1) counts[0] = 0;
  return counts;
}

std::vector<Count> fewer_than_ranks(std::mt19937_64& random, Rank p) {
  std::vector<Count> counts(static_cast<std::size_t>(p));
  for (Rank i = 0; i < (p + 1) / 2; ++i) counts[random() % counts.size()] = 1;
  return counts;
}

Deal shuffled_deal(std::mt19937_64& random, Rank p, Count n) {
  Deal deal(static_cast<std::size_t>(p));
  for (Index begin = 0; begin < n;) {
    const Interval piece{begin, std::min(n, begin + 1 + random() % 25)};
    deal[random() % deal.size()].push_back(piece);
    begin = piece.end;
  }
  for (auto& pieces : deal) std::shuffle(pieces.begin(), pieces.end(), random);
  return deal;
}

Deal block_cyclic_deal(Rank p, Count n, Count block) {
  Deal deal(static_cast<std::size_t>(p));
  for (Index begin = 0, i = 0; begin < n; begin += block, ++i)
    deal[i % deal.size()].push_back({begin, std::min(n, begin + block)});
  return deal;
}

std::vector<NamedDeal> deals(std::mt19937_64& random, Rank p) {
  const auto ranks = static_cast<Count>(p);
  std::vector<NamedDeal> all;
  const auto add = [&](const char* name, Deal deal, LayoutKind layout) {
    all.push_back({name, std::move(deal), layout});
  };
  const std::vector<Count> even = order::counts(order::Distribution::upper, 11 * ranks + 3, p);
  add("even", contiguous_deal(even), LayoutKind::rank_order);
  add("even, anywhere", contiguous_deal(even), LayoutKind::anywhere);
  add("empty ranks, 0 among them", contiguous_deal(with_empty_ranks(random, p)), LayoutKind::rank_order);
  add("N < p", contiguous_deal(fewer_than_ranks(random, p)), LayoutKind::intervals);
  add("N = 0", contiguous_deal(std::vector<Count>(ranks)), LayoutKind::rank_order);
  add("one row per rank", contiguous_deal(std::vector<Count>(ranks, 1)), LayoutKind::row_per_rank);
  add("shuffled", shuffled_deal(random, p, 20 + random() % 200), LayoutKind::intervals);
  add("block-cyclic", block_cyclic_deal(p, 40 + random() % (20 * ranks), 1 + random() % 9), LayoutKind::intervals);
  return all;
}

/// One layout's rows and everything that their results are compared with.
struct Input {
  NamedDeal named;
  Count columns;
  Count rows = 0;
  std::vector<double> elements;
  std::vector<Memory> memory;
  Memory tree;
  Memory exact;
  std::array<Memory, 3> binned;  // of 2, 3 and 4 bins

  Input(NamedDeal given, Count width, std::mt19937_64& random) : named(std::move(given)), columns(width) {
    for (const auto& intervals : named.deal) rows += rows_of(intervals);
    elements = summands(random, rows * columns);
    for (const auto& intervals : named.deal) memory.push_back(memory_of(elements, columns, intervals));
    std::vector<double> by_tree;
    std::vector<double> exactly;
    std::array<std::vector<double>, 3> by_bins;
    for (Count column = 0; column < columns; ++column) {
      by_tree.push_back(tree_sum(column_of(elements, columns, column)));
      exactly.push_back(exact_sum(column_of(elements, columns, column)));
      for (std::size_t i = 0; i < by_bins.size(); ++i)
        by_bins[i].push_back(binned_sum(column_of(elements, columns, column), static_cast<int>(i) + 2));
    }
    std::ranges::transform(by_bins, binned.begin(), [](const auto& sums) { return bytes_of(sums); });
    tree = bytes_of(by_tree);
    exact = bytes_of(exactly);
  }
};

/// An algorithm of the registry as it is asked for, by its name or one with parameters.
struct Asked {
  const schedule::Algorithm* algorithm;
  std::string name;
  Method method;
  Rank root;
  std::uint32_t segments;
  std::uint32_t bins = 0;
  arithmetic::Sweep sweep = arithmetic::Sweep::single_sweep;
};

bool serves(const Asked& asked) {
  const auto collective = call::reduction_to(asked.root);
  return says_it_serves(*asked.algorithm, collective, std::max(asked.root, 0),
                        call::properties_of(asked.method).merging, schedule::OperatorKind::commutative);
}

bool in_rank_order(const Deal& deal) {
  Index end = 0;
  for (const auto& intervals : deal) {
    for (const Interval interval : intervals) {
      if (!interval.empty() && interval.begin != end) return false;
      end = std::max(end, interval.end);
    }
  }
  return true;
}

/// No segment is without a column.
void expect_costs(const SimulatedJob& job, const Agreement& agreed, const Asked& asked, Count columns) {
  if (asked.algorithm->messages == nullptr) return;
  schedule::Context context = plan::context_of(agreed);
  context.segments =
      asked.algorithm->segments_up_to(static_cast<std::uint32_t>(std::min<Count>(asked.segments, columns)), context);
  const bool twice = asked.sweep == arithmetic::Sweep::double_sweep;
  const schedule::Algorithm& first = *schedule::find("recursive_doubling");
  const schedule::Context of_first{.rank_count = job.rank_count()};
  EXPECT_EQ(job.messages(), asked.algorithm->messages(context) + (twice ? first.messages(of_first) : 0)) << "messages";
  const Count rounds = job.rounds() - (twice ? first.rounds(of_first) : 0);
  EXPECT_TRUE(asked.algorithm->allows_rounds(rounds, context)) << rounds << " rounds";
}

void expect_values(const Outcome& outcome, const Agreement& agreed, const Input& input, const Asked& asked) {
  if (asked.method == Method::plain) {
    const Rank taker = std::max(asked.root, 0);
    expect_result(outcome, asked.root, plain_sums_by_hand(agreed, asked.segments, input.memory, taker));
  } else if (asked.method == Method::binned) {
    expect_result(outcome, asked.root, input.binned[asked.bins - 2]);
  } else {
    expect_result(outcome, asked.root, asked.method == Method::tree ? input.tree : input.exact);
  }
}

void run_one(const Input& input, const Asked& asked, std::uint64_t seed) {
  const Call common{.method = asked.method,
                    .columns = input.columns,
                    .root = asked.root,
                    .collective = call::reduction_to(asked.root),
                    .schedule = asked.name,
                    .element_count = seed % 2 == 0 ? input.rows : arithmetic::unknown_count,
                    .layout = input.named.layout,
                    .parameters = {.bins = asked.bins, .sweep = asked.sweep}};
  const std::vector<Call> calls = calls_for(common, input.named.deal);
  const auto p = static_cast<Rank>(calls.size());
  std::mt19937_64 random(seed);
  const Nodes nodes = random_nodes(random, p, 1 + static_cast<Rank>(random() % static_cast<Count>(p)));
  const Concluded agreed = concluded(calls, "", seed % 4 == 0 ? nullptr : nodes);
  if (asked.algorithm->layouts == schedule::Layouts::rank_order && !in_rank_order(input.named.deal)) {
    ASSERT_EQ(agreed.status, Status::unsupported) << agreed.text;
    return;
  }
  ASSERT_TRUE(agreed.agreement) << agreed.text;
  ASSERT_EQ(agreed.agreement->members[0].element_count, input.rows);
  SimulatedRanks ranks(p, seed, seed % 3 == 0 ? Sends::synchronous : Sends::buffered);
  SimulatedJob job(ranks, *agreed.agreement, calls, asked.segments);
  job.trace(true);
  const std::vector<Memory> copy = input.memory;
  for (int again = 0; again < (seed % 8 == 0 ? 2 : 1); ++again) {
    const Outcome outcome = run(ranks, job, input.memory, input.columns * sizeof(double), asked.segments);
    expect_values(outcome, *agreed.agreement, input, asked);
    expect_costs(job, *agreed.agreement, asked, input.columns);
  }
  EXPECT_EQ(input.memory, copy) << "the input was written";
}

std::vector<Rank> roots_of(Rank p) {
  const std::set<Rank> roots = {all_ranks, 0, p / 3, p / 2, p - 1};
  return {roots.begin(), roots.end()};
}

std::vector<Asked> everything_asked(Rank p) {
  std::vector<Asked> all;
  for (const schedule::Algorithm& algorithm : schedule::registry()) {
    for (const std::string& name : names_of(algorithm)) {
      for (const Method method : {Method::tree, Method::exact, Method::plain, Method::binned}) {
        for (const Rank root : roots_of(p)) {
          for (const std::uint32_t segments : {1u, 2u, 3u}) {
            const Asked asked{&algorithm, name, method, root, segments};
            if (serves(asked)) all.push_back(asked);
          }
        }
      }
    }
  }
  return all;
}

/// One in this many of the combinations of few ranks, of some, and of many, which hold no other cases than fewer.
std::uint64_t thinned(Rank p) { return full() || p <= 4 ? 1 : p <= 8 ? 3 : 24; }

/// One in `one_in` of the combinations, others for each seed.
void sweep(Rank p, std::uint64_t first_seed, std::uint64_t one_in) {
  std::mt19937_64 random(first_seed);
  std::uint64_t seed = first_seed;
  for (NamedDeal& named : deals(random, p)) {
    for (const Count columns : {1u, 3u}) {
      const Input input(named, columns, random);
      for (Asked asked : everything_asked(p)) {
        ++seed;
        if (random() % one_in != 0) continue;
        if (asked.method == Method::binned) {
          asked.bins = 2 + static_cast<std::uint32_t>(random() % 3);
          asked.sweep = static_cast<arithmetic::Sweep>(asked.algorithm->adds_words ? 1 : random() % 2);
        }
        SCOPED_TRACE(testing::Message() << asked.name << ", " << call::name_of(asked.method) << ", p " << p << ", root "
                                        << asked.root << ", layout " << named.name << ", N " << input.rows
                                        << ", columns " << columns << ", segments " << asked.segments << ", seed "
                                        << seed << " of the sweep from " << first_seed);
        run_one(input, asked, seed);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

class Sweep : public testing::TestWithParam<Rank> {};

TEST_P(Sweep, OfEveryCombination) {
  for (std::uint64_t seed = 1; seed <= (full() ? 20 : 1); ++seed) {
    sweep(GetParam(), 100000 * seed, thinned(GetParam()) * thinning);
    if (testing::Test::HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Sweep,
                         testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 24, 31,
                                         32, 33, 48, 63, 64));

TEST(WideSweep, OfManyRankCounts) {
  for (Rank p = 21; p <= 140; p += full() ? 1 : 9) {
    sweep(p, static_cast<std::uint64_t>(p), (full() ? 10 : 200) * thinning);
    if (testing::Test::HasFailure()) return;
  }
}

/// The control: on these data the bits of plain follow the number of ranks, those of the others do not.
TEST(Control, PlainBitsChangeWithTheNumberOfRanks) {
  std::mt19937_64 random(1);
  const std::vector<double> elements = summands(random, 1000);
  for (const Method method : {Method::plain, Method::tree, Method::exact, Method::binned}) {
    std::set<std::string> found;
    for (const Rank p : {1, 2, 3, 4, 5, 7, 8, 16, 31}) {
      const Deal deal = contiguous_deal(order::counts(order::Distribution::upper, elements.size(), p));
      const auto calls = calls_for({.method = method, .layout = LayoutKind::rank_order}, deal);
      std::vector<Memory> memory;
      for (const auto& intervals : deal) memory.push_back(memory_of(elements, 1, intervals));
      SimulatedRanks ranks(p, 1);
      SimulatedJob job(ranks, concluded(calls).agreement.value(), calls);
      const Outcome outcome = run(ranks, job, memory, sizeof(double));
      expect_result(outcome, all_ranks, outcome.results[0].bytes());
      found.insert(hex(outcome.results[0].bytes()));
    }
    EXPECT_EQ(found.size() > 1, method == Method::plain) << call::name_of(method) << ": " << found.size();
  }
}

}  // namespace
}  // namespace steadfold::test::sweep_test
