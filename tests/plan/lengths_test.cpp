// MPI's shape at the lengths where blocks and segments end: none of a rank's own, one, one less and one more, and what
// does not divide. By every algorithm, its examples of parameters, every method that it serves, to all ranks and to the
// last, under shuffled delivery: the oracle's bits on every rank. STEADFOLD_FULL=1: all combinations.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "support/by_hand.hpp"
#include "support/inputs.hpp"
#include "support/simulated_job.hpp"

namespace steadfold::test::lengths_test {
namespace {

using schedule::Collective;

constexpr std::uint32_t bins = 3;

/// Rows of all ranks and what they come to.
struct Vectors {
  Count columns;
  std::vector<Memory> memory;
  Memory tree, exact, binned;

  Vectors(Rank p, Count columns_of_each, std::mt19937_64& random) : columns(columns_of_each) {
    const std::vector<double> rows = summands(random, static_cast<Count>(p) * columns);
    for (Index rank = 0; rank < static_cast<Index>(p); ++rank)
      memory.push_back(memory_of(rows, columns, {{rank, rank + 1}}));
    std::vector<double> by_tree, exactly, by_bins;
    for (Count column = 0; column < columns; ++column) {
      const std::vector<double> values = column_of(rows, columns, column);
      by_tree.push_back(tree_sum(values));
      exactly.push_back(exact_sum(values));
      by_bins.push_back(binned_sum(values, static_cast<int>(bins)));
    }
    tree = bytes_of(by_tree);
    exact = bytes_of(exactly);
    binned = bytes_of(by_bins);
  }

  const Memory& of(Method method) const {
    return method == Method::tree ? tree : method == Method::exact ? exact : binned;
  }
};

void reduce_by(const std::string& name, Method method, Rank root, const Vectors& vectors, std::uint64_t seed) {
  const Call call{.method = method,
                  .columns = vectors.columns,
                  .root = root,
                  .collective = call::reduction_to(root),
                  .schedule = name,
                  .layout = LayoutKind::row_per_rank,
                  .rows = 1,
                  .parameters = {.bins = method == Method::binned ? bins : 0,
                                 .sweep = method == Method::binned && schedule::parse(name).algorithm->adds_words
                                              ? arithmetic::Sweep::double_sweep  // without it there are no words
                                              : arithmetic::Sweep::single_sweep}};
  const std::vector<Call> calls(vectors.memory.size(), call);
  const Concluded agreed = concluded(calls);
  ASSERT_TRUE(agreed.agreement) << agreed.text;
  SimulatedRanks ranks(static_cast<Rank>(calls.size()), seed, seed % 3 == 0 ? Sends::synchronous : Sends::buffered);
  SimulatedJob job(ranks, *agreed.agreement, calls, 0);
  const Outcome outcome = run(ranks, job, vectors.memory, vectors.columns * sizeof(double),
                              static_cast<std::uint32_t>(vectors.columns) + 8);
  if (method == Method::plain) {
    expect_result(outcome, root, plain_sums_by_hand(*agreed.agreement, 0, vectors.memory, std::max(root, 0)));
  } else {
    expect_result(outcome, root, vectors.of(method));
  }
}

bool is_full() { return std::getenv("STEADFOLD_FULL") != nullptr; }

class Lengths : public testing::TestWithParam<Rank> {};

TEST_P(Lengths, OfBlocksAndSegments) {
  const Rank p = GetParam();
  const auto ranks = static_cast<Count>(p);
  std::uint64_t seed = 7000 * ranks;
  std::mt19937_64 random(seed);
  const std::uint64_t one_in = is_full() ? 1 : 1 + ranks / 2;
  for (const Count columns : std::set<Count>{1, std::max(ranks, Count{2}) - 1, ranks, ranks + 1, 7 * ranks + 3, 1000}) {
    const Vectors vectors(p, columns, random);
    for (const schedule::Algorithm& algorithm : schedule::registry()) {
      for (const std::string& name : names_of(algorithm)) {
        for (const Method method : {Method::tree, Method::exact, Method::binned, Method::plain}) {
          for (const Rank root : {all_ranks, p - 1}) {
            const auto collective = call::reduction_to(root);
            ++seed;
            if (random() % one_in != 0 ||
                schedule::refusal(schedule::parse(name), collective, std::max(root, 0),
                                  call::properties_of(method).merging, schedule::OperatorKind::commutative))
              continue;
            SCOPED_TRACE(testing::Message() << name << " by " << call::name_of(method) << ", p " << p << ", root "
                                            << root << ", columns " << columns << ", seed " << seed);
            reduce_by(name, method, root, vectors, seed);
            if (HasFailure()) return;
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Lengths, testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 24, 33, 64));

}  // namespace
}  // namespace steadfold::test::lengths_test
