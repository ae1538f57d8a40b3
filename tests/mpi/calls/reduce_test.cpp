// Distributed elements: sums, dot products, norms and reductions with any operator, over every layout, schedule and
// root, against references of this directory.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/calls/every_schedule.hpp"
#include "mpi/operators.hpp"
#include "mpi/outcome.hpp"
#include "mpi/ranks.hpp"
#include "mpi/reference.hpp"
#include "support/dealt.hpp"

namespace steadfold::tests::reduce_test {
namespace {

class ReduceTest : public testing::Test {
 protected:
  Ranks world;
  Random random{seed_of("reduce_test", 20240229)};

  /// Sizes around everything that could matter: none, one, fewer than ranks, block lengths, powers of two.
  std::vector<std::size_t> sizes() const {
    const std::size_t p = world.count();
    return {0, 1, 2, p - 1, p, p + 1, 64, 65, 2049};
  }
};

// --- sums of numbers -------------------------------------------------------------------------------------------------

template <class T>
void expect_sums(const Ranks& ranks, const std::vector<T>& all, const NamedOwnership& layout, bool every_root) {
  const std::vector<T> mine = pick(all, layout.ownership[ranks.index()]);
  const std::vector<T> before = mine;
  const std::string what = std::to_string(all.size()) + " elements, " + layout.name;
  const auto call = [&](const Options& options) { return sum(mine, ranks.comm, options); };
  const auto expect = [&](const T& wanted, const Options& options) {
    if (every_root)
      expect_at_every_root(ranks, wanted, options, what, call);
    else
      expect_by_every_schedule(ranks, wanted, options, what, call);
  };

  const Layout known = layout_on(ranks, layout.ownership);
  expect(all.empty() ? T{0} : tree_of(all, add), {.method = tree(), .layout = known});
  if constexpr (std::floating_point<T>) {
    const T exactly = reference::exact_sum(std::span<const T>(all));
    expect(exactly, {.method = exact(), .layout = known});
    expect(exactly, {.method = exact()});
    static std::size_t turn = 0;  // the same on every rank
    const Binned how{.bins = 2 + static_cast<std::uint32_t>(turn % 3),
                     .sweep = turn % 2 == 0 ? SF_DOUBLE_SWEEP : SF_SINGLE_SWEEP};
    turn += 1;
    expect(reference::binned_sum(std::span<const T>(all), static_cast<int>(how.bins)), {.method = binned(how)});
    expect(exactly, {});
  } else {
    expect(all.empty() ? T{0} : tree_of(all, add), {});
  }
  EXPECT_TRUE(are(mine, before)) << "the input changed, " << what;
}

template <class T>
void expect_sums_of_all_sizes(const Ranks& ranks, const std::vector<std::size_t>& sizes, Random& random) {
  for (const std::size_t n : sizes) {
    const std::vector<T> all = elements<T>(n, random);
    for (const auto& layout : sorts_of_layouts(n, ranks.count(), random)) expect_sums(ranks, all, layout, false);
  }
}

TEST_F(ReduceTest, SumsDoubles) { expect_sums_of_all_sizes<double>(world, sizes(), random); }
TEST_F(ReduceTest, SumsFloats) { expect_sums_of_all_sizes<float>(world, {0, 1, world.count(), 777}, random); }
TEST_F(ReduceTest, SumsSignedIntegers) {
  expect_sums_of_all_sizes<std::int32_t>(world, {0, 777}, random);
  expect_sums_of_all_sizes<std::int64_t>(world, {1, 777}, random);
}
TEST_F(ReduceTest, SumsUnsignedIntegers) {
  expect_sums_of_all_sizes<std::uint32_t>(world, {1, 777}, random);
  expect_sums_of_all_sizes<std::uint64_t>(world, {0, 777}, random);
}

TEST_F(ReduceTest, SumsOverTheWholeRange) {
  for (const std::size_t n : {std::size_t{3}, std::size_t{1500}}) {
    const auto doubles = wide_numbers<double>(n, random);
    const auto floats = wide_numbers<float>(n, random);
    for (const auto& layout : sorts_of_layouts(n, world.count(), random)) {
      expect_sums(world, doubles, layout, false);
      expect_sums(world, floats, layout, false);
    }
  }
}

TEST_F(ReduceTest, SumsForEveryRoot) {
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, world.count() - 1, std::size_t{200}}) {
    const std::vector<double> all = elements<double>(n, random);
    const std::size_t pieces = std::min<std::size_t>(n, 20);
    expect_sums(world, all, {"shuffled", shuffled(n, world.count(), pieces, true, random)}, true);
  }
  const std::vector<std::int64_t> all = elements<std::int64_t>(100, random);
  expect_sums(world, all, {"random", in_rank_order(random_counts(100, world.count(), random))}, true);
}

/// Rank order is the tree's layout where none is given, however it is asked for.
TEST_F(ReduceTest, ATreeWithoutALayoutStandsInRankOrder) {
  for (const std::size_t n : sizes()) {
    const std::vector<double> all = elements<double>(n, random);
    const Ownership ownership = in_rank_order(random_counts(n, world.count(), random));
    const std::vector<double> mine = pick(all, ownership[world.index()]);
    const double wanted = n == 0 ? 0.0 : tree_of(all, add);
    const auto call = [&](const Options& options) { return sum(mine, world.comm, options); };
    expect_by_every_schedule(world, wanted, {.method = tree()}, "no layout", call);
    const Layout contiguous = Layout::contiguous(mine.size(), world.comm);
    expect_by_every_schedule(world, wanted, {.method = tree(), .layout = contiguous}, "contiguous", call);
    if (n == 0) continue;
    EXPECT_TRUE(is(reduce(mine, subtract, world.comm), tree_of(all, subtract))) << n;
    EXPECT_TRUE(is(reduce(mine, subtract, world.comm, {.layout = contiguous}), tree_of(all, subtract))) << n;
  }
}

/// Rules say what lists of intervals say.
TEST_F(ReduceTest, ATreeOverARuleIsThatOfTheLists) {
  const std::uint64_t ranks = world.count();
  for (const std::size_t n : {std::size_t{0}, world.count() - 1, std::size_t{301}}) {
    const std::vector<double> all = elements<double>(7 * n, random);
    const double wanted = n == 0 ? 0.0 : tree_of(all, add);
    const test::Dealt cyclic{{{.extent = 7 * n, .ranks = ranks, .block = 3, .first = ranks - 1}}};
    const test::Dealt blocks{{{.extent = 7, .ranks = ranks % 2 == 0 ? 2u : 1u}, {.extent = n, .ranks = ranks}}};
    const int grid[] = {ranks % 2 == 0 ? 2 : 1, 0};
    for (test::Dealt rule : {cyclic, blocks}) {
      const bool is_cyclic = rule.axes.size() == 1;
      if (!is_cyclic) rule.axes[1].ranks /= rule.axes[0].ranks;
      const Ownership ownership = rule.lists<Interval>();
      const std::vector<double> mine = pick(all, ownership[world.index()]);
      const Layout layout =
          is_cyclic ? Layout::block_cyclic(7 * n, 3, ranks - 1) : Layout::blocks({std::size_t{7}, n}, grid);
      const auto call = [&](const Options& options) { return sum(mine, world.comm, options); };
      expect_by_every_schedule(world, wanted, {.method = tree(), .layout = layout}, rule.text(), call);
      const Options listed{.method = tree(), .layout = layout_on(world, ownership)};
      EXPECT_TRUE(is(sum(mine, world.comm, listed), wanted)) << rule.text();
    }
  }
}

// --- dot products and norms ------------------------------------------------------------------------------------------

template <class T>
void expect_products(const Ranks& ranks, std::size_t n, bool wide, Random& random) {
  const auto make = [&] { return wide ? wide_numbers<T>(n, random) : numbers<T>(n, random); };
  const std::vector<T> x = make();
  const std::vector<T> y = make();
  const T product = reference::exact_dot(std::span<const T>(x), std::span<const T>(y));
  const T norm = reference::exact_norm2(std::span<const T>(x));
  for (const auto& layout : sorts_of_layouts(n, ranks.count(), random)) {
    const std::vector<T> my_x = pick(x, layout.ownership[ranks.index()]);
    const std::vector<T> my_y = pick(y, layout.ownership[ranks.index()]);
    const std::string what = std::to_string(n) + " elements, " + layout.name;
    const auto dot_of = [&](const Options& options) { return dot(my_x, my_y, ranks.comm, options); };
    const auto norm_of = [&](const Options& options) { return norm2(my_x, ranks.comm, options); };
    expect_by_every_schedule(ranks, product, {.method = exact()}, "dot of " + what, dot_of);
    expect_by_every_schedule(ranks, norm, {.method = exact(), .layout = layout_on(ranks, layout.ownership)},
                             "norm of " + what, norm_of);
    if (layout.name != "shuffled") continue;
    expect_at_every_root(ranks, product, {}, "dot of " + what, dot_of);
    expect_at_every_root(ranks, norm, {}, "norm of " + what, norm_of);
  }
}

TEST_F(ReduceTest, MultipliesDoubles) {
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, world.count(), std::size_t{500}})
    expect_products<double>(world, n, n % 2 == 0, random);
}
TEST_F(ReduceTest, MultipliesFloats) {
  expect_products<float>(world, 300, false, random);
  expect_products<float>(world, 301, true, random);
}

// --- any operator ----------------------------------------------------------------------------------------------------

/// `op` as the library takes it, `reference_op` as the reference does.
template <class T, class Op, class ReferenceOp>
void expect_reductions(const Ranks& ranks, const std::vector<T>& all, const Op& op, const ReferenceOp& reference_op,
                       Random& random, Method method = {}) {
  const T wanted = tree_of(all, reference_op);
  for (const auto& layout : sorts_of_layouts(all.size(), ranks.count(), random)) {
    const std::vector<T> mine = pick(all, layout.ownership[ranks.index()]);
    const std::vector<T> before = mine;
    const Options options{.method = method, .layout = layout_on(ranks, layout.ownership)};
    const std::string what = std::to_string(all.size()) + " elements, " + layout.name;
    const auto call = [&](const Options& by) { return reduce(mine, op, ranks.comm, by); };
    expect_by_every_schedule(ranks, wanted, options, what, call);
    if (layout.name == "random" || layout.name == "shuffled, rank 0 empty")
      expect_at_every_root(ranks, wanted, options, what, call);
    EXPECT_TRUE(are(mine, before)) << "the input changed, " << what;
  }
}

template <class T, class Op, class ReferenceOp>
void expect_reductions_of_sizes(const Ranks& ranks, const std::vector<std::size_t>& sizes, const Op& op,
                                const ReferenceOp& reference_op, Random& random, Method method = {}) {
  for (const std::size_t n : sizes)
    if (n > 0) expect_reductions(ranks, elements<T>(n, random), op, reference_op, random, method);
}

TEST_F(ReduceTest, BracketsLettersAsTheTreeDoes) {
  expect_reductions_of_sizes<Text>(world, {1, 2, 3, 5, world.count(), 20}, join, join, random);
}
TEST_F(ReduceTest, MultipliesMatrices) {
  expect_reductions_of_sizes<Matrix>(world, {world.count() - 1, 130}, matrix_product, matrix_product, random);
}
TEST_F(ReduceTest, Subtracts) { expect_reductions_of_sizes<double>(world, {2, 1000}, subtract, subtract, random); }
TEST_F(ReduceTest, TakesElementsOfAnySize) {
  expect_reductions_of_sizes<Mixed<unsigned char, 1>>(world, {99}, mix, mix, random);
  expect_reductions_of_sizes<Mixed<unsigned char, 3>>(world, {99}, mix, mix, random);
  expect_reductions_of_sizes<Mixed<std::uint32_t, 5>>(world, {99}, mix, mix, random);
  expect_reductions_of_sizes<Mixed<std::uint32_t, 300>>(world, {world.count() + 2}, mix, mix, random);
}
TEST_F(ReduceTest, TakesOperatorsOnArrays) {
  expect_reductions_of_sizes<Hash>(world, {1, 300}, MixArrays(), mix_hashes, random);
}

TEST_F(ReduceTest, GivesOperatorsTheirOwnState) {
  for (const std::uint64_t factor : {std::uint64_t{3}, std::uint64_t{11}}) {  // the same shape of call, another context
    std::size_t calls = 0;
    const auto op = [factor, &calls](const Hash& l, const Hash& r) {
      calls += 1;
      return Hash{{factor * l.words[0] + r.words[0]}};
    };
    const std::vector<Hash> all = elements<Hash>(50, random);
    const Hash wanted = tree_of(all, op);
    calls = 0;
    const Ownership ownership = in_rank_order(even_counts(50, world.count(), true));
    EXPECT_TRUE(is(reduce(pick(all, ownership[world.index()]), op, world.comm), wanted)) << factor;
    EXPECT_GT(calls, 0u);
  }
}

template <class T>
void expect_built_in_reductions(const Ranks& ranks, Random& random) {
  const std::vector<std::size_t> sizes = {ranks.count() - 1, 300};
  expect_reductions_of_sizes<T>(ranks, sizes, minimum, lesser, random);
  expect_reductions_of_sizes<T>(ranks, sizes, maximum, greater, random, tree());
  expect_reductions_of_sizes<T>(ranks, {300}, times, multiply, random);
  expect_reductions_of_sizes<T>(ranks, {60}, plus, add, random, tree());
}

TEST_F(ReduceTest, TakesBuiltInOperatorsOnDoubles) { expect_built_in_reductions<double>(world, random); }
TEST_F(ReduceTest, TakesBuiltInOperatorsOnFloats) { expect_built_in_reductions<float>(world, random); }
TEST_F(ReduceTest, TakesBuiltInOperatorsOnIntegers) {
  expect_built_in_reductions<std::int32_t>(world, random);
  expect_built_in_reductions<std::uint64_t>(world, random);
}

// --- hostile values --------------------------------------------------------------------------------------------------

void expect_value_or_empty(const Ranks& ranks, const std::vector<double>& all, const std::vector<double>& mine,
                           const Options& options, bool least) {
  double found = 0;
  const Outcome outcome = outcome_of(
      [&] { found = least ? reduce(mine, minimum, ranks.comm, options) : reduce(mine, maximum, ranks.comm, options); });
  if (all.empty()) {
    EXPECT_EQ(outcome.status, SF_EMPTY) << outcome.text;
  } else {
    EXPECT_FALSE(outcome.failed()) << outcome.text;
    EXPECT_TRUE(is(found, least ? tree_of(all, lesser) : tree_of(all, greater))) << text_of(options);
  }
}

void expect_hostile(const Ranks& ranks, const Hostile& input, const NamedOwnership& layout) {
  SCOPED_TRACE(input.name + ", " + layout.name);
  const std::vector<double> mine = pick(input.x, layout.ownership[ranks.index()]);
  const auto call = [&](const Options& options) { return sum(mine, ranks.comm, options); };
  const Layout known = layout_on(ranks, layout.ownership);
  const double by_tree = input.x.empty() ? 0.0 : tree_of(input.x, add);
  const double exactly = reference::exact_sum(std::span<const double>(input.x));
  expect_by_every_schedule(ranks, by_tree, {.method = tree(), .layout = known}, "tree", call);
  expect_by_every_schedule(ranks, exactly, {.method = exact()}, "exact", call);
  const double by_bins = reference::binned_sum(std::span<const double>(input.x), 3);
  expect_by_every_schedule(ranks, by_bins, {.method = binned()}, "binned", call);
  const std::string schedule = next_of(schedules_of({}, false));
  expect_value_or_empty(ranks, input.x, mine, {.layout = known, .schedule = schedule}, true);
  expect_value_or_empty(ranks, input.x, mine, {.method = tree(), .layout = known, .schedule = schedule}, false);
  const double norm = reference::exact_norm2(std::span<const double>(input.x));
  EXPECT_TRUE(is(norm2(mine, ranks.comm), norm));
}

TEST_F(ReduceTest, KeepsItsWordOnHostileValues) {
  for (const Hostile& input : hostile_inputs()) {
    const std::size_t n = input.x.size();
    expect_hostile(world, input, {"lower", in_rank_order(even_counts(n, world.count(), true))});
    expect_hostile(world, input, {"upper", in_rank_order(even_counts(n, world.count(), false))});
    expect_hostile(world, input, {"shuffled", shuffled(n, world.count(), std::min<std::size_t>(n, 9), true, random)});
  }
}

TEST_F(ReduceTest, EmptyIsAnErrorForOperatorsWithoutANeutralElement) {
  const std::vector<Matrix> none;
  for (const std::string& schedule : schedules_of({}, false)) {
    const auto with_matrices = [&] { reduce(none, matrix_product, world.comm, {.schedule = schedule}); };
    EXPECT_EQ(outcome_of(with_matrices).status, SF_EMPTY) << schedule;
    const auto with_numbers = [&] { reduce(std::vector<float>(), maximum, world.comm, {.schedule = schedule}); };
    EXPECT_EQ(outcome_of(with_numbers).status, SF_EMPTY) << schedule;
    const Options options{.schedule = schedule};
    EXPECT_TRUE(is(reduce(std::vector<double>(), times, world.comm, options), 1.0)) << schedule;
    EXPECT_TRUE(is(reduce(std::vector<int>(), plus, world.comm, options), 0)) << schedule;
  }
}

// --- what is kept between calls --------------------------------------------------------------------------------------

/// Every element an interval of its own, dealt out like cards.
TEST_F(ReduceTest, SumsCyclicLayouts) {
  const std::size_t n = 3000;
  Ownership ownership(world.count());
  for (std::size_t i = 0; i < n; ++i) ownership[i % world.count()].push_back({i, i + 1});
  expect_sums(world, elements<double>(n, random), {"cyclic", ownership}, false);
  for (auto& intervals : ownership) std::shuffle(intervals.begin(), intervals.end(), random);
  expect_sums(world, elements<double>(n, random), {"cyclic, shuffled", ownership}, false);
}

/// Each rank goes through sizes in a rhythm of its own, so that ranks remember different calls.
TEST_F(ReduceTest, RanksMayRememberDifferentCalls) {
  for (int round = 0; round < 40; ++round) {
    std::vector<std::size_t> counts;
    for (std::size_t r = 0; r < world.count(); ++r)
      counts.push_back(10 + static_cast<std::size_t>(round) / (r + 1) % 3);
    const Ownership ownership = in_rank_order(counts);
    std::size_t n = 0;
    for (const std::size_t count : counts) n += count;
    const std::vector<double> all = elements<double>(n, random);
    const std::vector<double> mine = pick(all, ownership[world.index()]);
    EXPECT_TRUE(is(reduce(mine, subtract, world.comm), tree_of(all, subtract))) << "round " << round;
    EXPECT_TRUE(is(sum(mine, world.comm, {.method = tree(), .schedule = "flat"}), tree_of(all, add))) << round;
    EXPECT_TRUE(is(sum(mine, world.comm), reference::exact_sum(std::span<const double>(all)))) << round;
  }
}

/// Calls that differ in nothing but the layout, one after the other.
TEST_F(ReduceTest, LayoutsOfOneSizeAreNotMixedUp) {
  const std::size_t n = 12 * world.count();
  for (int round = 0; round < 30; ++round) {
    Ownership ownership = in_rank_order(even_counts(n, world.count(), true));
    std::rotate(ownership.begin(), ownership.begin() + round % world.size, ownership.end());
    if (round % 3 == 0)
      ownership[0] = {{ownership[0][0].begin + 6, ownership[0][0].end},
                      {ownership[0][0].begin, ownership[0][0].begin + 6}};
    const std::vector<double> all = elements<double>(n, random);
    const std::vector<double> mine = pick(all, ownership[world.index()]);
    for (const std::string schedule : {"", "linear"}) {
      const Options options{.layout = layout_on(world, ownership), .schedule = schedule};
      EXPECT_TRUE(is(reduce(mine, subtract, world.comm, options), tree_of(all, subtract))) << round << schedule;
    }
  }
}

/// More shapes than are kept, twice.
TEST_F(ReduceTest, ManyShapesComeAndGo) {
  const std::vector<double> own = elements<double>(90, random);
  for (int round = 0; round < 2; ++round) {
    for (std::size_t columns = 1; columns <= 90; ++columns) {
      std::vector<double> buffer(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(columns));
      allreduce(std::span{buffer}, plus, world.comm, {.schedule = columns % 3 == 0 ? "flat" : ""});
      const std::vector<double> column(world.count(), own[columns - 1]);
      EXPECT_TRUE(is(buffer.back(), tree_of(column, add))) << columns;
    }
  }
}

// --- the control -----------------------------------------------------------------------------------------------------

/// A local loop and MPI's own sum.
double naive_sum(const std::vector<double>& mine, MPI_Comm comm) {
  double local = 0;
  for (const double x : mine) local += x;
  double result = 0;
  MPI_Allreduce(&local, &result, 1, MPI_DOUBLE, MPI_SUM, comm);
  return result;
}

/// On every number of ranks up to all of them: the naive bits vary, ours do not.
TEST_F(ReduceTest, TheBitsDoNotDependOnTheNumberOfRanksWhereNaiveOnesDo) {
  const std::vector<double> all = elements<double>(5000, random);
  const double by_tree = tree_of(all, add);
  const double exactly = reference::exact_sum(std::span<const double>(all));
  std::set<std::string> naive;
  for (int ranks = 1; ranks <= world.size; ++ranks) {
    const Ranks part =
        Ranks::split(world.rank < ranks ? 0 : 1, world.rank);  // the others sum as well, among themselves
    const Ownership ownership = in_rank_order(even_counts(all.size(), part.count(), true));
    const std::vector<double> mine = pick(all, ownership[part.index()]);
    const Layout layout = Layout::contiguous(mine.size(), part.comm);
    EXPECT_TRUE(is(sum(mine, part.comm), exactly)) << ranks;
    EXPECT_TRUE(is(sum(mine, part.comm, {.method = tree(), .layout = layout}), by_tree)) << ranks;
    double bits = naive_sum(mine, part.comm);
    MPI_Bcast(&bits, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);  // rank 0 is among the first `ranks`
    naive.insert(hex(bits));
  }
  if (world.size > 1) {
    EXPECT_GT(naive.size(), 1u) << "the control does not vary: these data prove nothing";
  }
}

// --- threads ---------------------------------------------------------------------------------------------------------

/// Every rank has as many threads as it likes: one-shot calls in the opening and by cached plans, bound plans, bundles
/// of members with other numbers.
TEST_F(ReduceTest, ThreadsOnEveryRank) {
  for (const std::size_t n : sizes()) {
    const std::vector<double> x = elements<double>(n, random);
    const std::vector<Matrix> matrices = elements<Matrix>(n, random);
    for (const auto& layout : sorts_of_layouts(n, world.count(), random)) {
      const auto& mine = layout.ownership[world.index()];
      Options options{.method = tree(), .layout = layout_on(world, layout.ownership)};
      for (const unsigned threads : {2U, 1U, 5U}) {
        options.threads = threads + static_cast<unsigned>(world.rank) % 2;
        const double wanted = n == 0 ? 0.0 : tree_of(x, add);
        EXPECT_TRUE(is(sum(pick(x, mine), world.comm, options), wanted)) << n << ", " << layout.name;
        EXPECT_TRUE(is(sum(pick(x, mine), world.comm, {.threads = options.threads}),
                       reference::exact_sum(std::span<const double>(x))));
        Plan<double> plan(plus, pick(x, mine).size(), world.comm, options);
        EXPECT_TRUE(is(plan.run(pick(x, mine)), wanted)) << n << ", " << layout.name;
        if (n == 0) continue;
        EXPECT_TRUE(
            is(reduce(pick(matrices, mine), matrix_product, world.comm, options), tree_of(matrices, matrix_product)))
            << n << ", " << layout.name;
      }
    }
  }
}

}  // namespace
}  // namespace steadfold::tests::reduce_test
