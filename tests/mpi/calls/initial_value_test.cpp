// An initial value, over ranks and in one process: it is combined once with the value of the tree, as the left operand,
// whatever the layout, the schedule and the kind of call. Seeds are printed.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/operators.hpp"
#include "mpi/ranks.hpp"
#include "mpi/reference.hpp"
#include "steadfold/bundle.hpp"
#include "steadfold/started.hpp"
#include "support/lanes.hpp"

namespace steadfold::tests::initial_value_test {
namespace {

class InitialValueTest : public testing::Test {
 protected:
  Ranks world;
  Random random{seed_of("initial_value_test", 4016002)};
};

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// Affine maps, whose composition does not commute.
struct Affine {
  double slope;
  double shift;
  friend bool operator==(const Affine&, const Affine&) = default;
};
Affine compose(const Affine& a, const Affine& b) noexcept { return {a.slope * b.slope, a.slope * b.shift + a.shift}; }

TEST_F(InitialValueTest, IsLeftOfTheTreeOnceInEveryLayout) {
  int differences = 0;  // from the tree over the initial value and the elements
  for (const std::size_t n : {1, 2, 17, 300, 601}) {
    std::vector<double> x(n);  // exponents so close that every addition rounds
    for (double& each : x) each = number<double>(random, -6, 6);
    const double initial = number<double>(random, -6, 6);
    std::vector<double> all = {initial};
    all.insert(all.end(), x.begin(), x.end());
    differences += reference::of_lanes(all, 1, add) != add(initial, reference::of_lanes(x, 1, add));
    for (const std::uint32_t lanes : {1U, 16U}) {
      const Method method = tree({.lanes = lanes});
      const double wanted = add(initial, reference::of_lanes(x, lanes, add));
      EXPECT_TRUE(is(reduce_from(initial, x, plus, {.method = method}), wanted)) << "in one process";
      for (const NamedOwnership& layout : sorts_of_layouts(n, world.count(), random)) {
        const std::vector<double> mine = pick(x, layout.ownership[world.index()]);
        for (const std::string& schedule : schedules_of(method, false)) {
          const Options options{.method = method, .layout = layout_on(world, layout.ownership), .schedule = schedule};
          ASSERT_TRUE(is(reduce_from(initial, mine, plus, world.comm, options), wanted))
              << n << " elements, " << layout.name << " by " << text_of(options);
        }
      }
    }
  }
  EXPECT_GT(differences, 0) << "control: an initial value among the elements gives the same bits";
}

TEST_F(InitialValueTest, MayChangeFromCallToCallAndFromRunToRun) {
  const std::vector<double> x = numbers<double>(50, random);
  const double whole = tree_of(x, add);
  const Ownership ownership = in_rank_order(random_counts(x.size(), world.count(), random));
  const std::vector<double> mine = pick(x, ownership[world.index()]);
  for (const char* schedule : {"", "binomial"}) {
    for (int round = 0; round < 20; ++round) {
      const double initial = numbers<double>(1, random)[0];
      ASSERT_TRUE(is(reduce_from(initial, mine, plus, world.comm, {.schedule = schedule}), add(initial, whole)));
      ASSERT_TRUE(is(sum(mine, world.comm, {.method = tree(), .schedule = schedule}), whole));
    }
  }
  Plan<double> plan(with_initial(2.5, plus), mine.size(), world.comm);
  Plan<double> of_floats(with_initial(1, plus), mine.size(), world.comm);
  for (int run = 0; run < 3; ++run) {
    EXPECT_TRUE(is(plan.run(mine), add(2.5, whole)));
    EXPECT_TRUE(is(of_floats.run(mine), add(1.0, whole)));
  }
}

TEST_F(InitialValueTest, OfOperatorsThatDoNotCommuteIsLeft) {
  std::vector<Affine> x;
  for (const double each : numbers<double>(40, random)) x.push_back({each > 0 ? 1.25 : -0.75, each});
  const Affine initial{3.0, 0.1};
  const Affine wanted = compose(initial, tree_of(x, compose));
  const Ownership ownership = in_rank_order(random_counts(x.size(), world.count(), random));
  const std::vector<Affine> mine = pick(x, ownership[world.index()]);
  EXPECT_EQ(reduce_from(initial, mine, compose, world.comm), wanted);
  EXPECT_EQ(reduce_from(initial, x, compose), wanted);
  EXPECT_EQ(reduce_from(initial, std::vector<Affine>(), compose, world.comm), initial);
  // Every rank fails alike, or the operator runs on no rank.
  const auto throws = [](const Affine& a, const Affine& b) -> Affine {
    if (a.slope == 3.0) throw std::runtime_error("the initial value");
    return compose(a, b);
  };
  EXPECT_THROW(reduce_from(initial, mine, throws, world.comm), std::runtime_error);
  EXPECT_EQ(reduce_from(initial, mine, compose, world.comm), wanted) << "after a failure";
}

/// Unused bytes of a number, and the padding of a structure, are no part of an initial value.
TEST_F(InitialValueTest, HasNoUnusedBytes) {
  struct Counted {
    double value;
    char count;
  };
  const auto add_counted = [](const Counted& a, const Counted& b) noexcept {
    return Counted{a.value + b.value, static_cast<char>(a.count + b.count)};
  };
  unsigned char memory[sizeof(Counted)];
  unsigned char memory_of_number[sizeof(long double)];
  std::fill(std::begin(memory), std::end(memory), static_cast<unsigned char>(world.rank + 1));
  std::fill(std::begin(memory_of_number), std::end(memory_of_number), static_cast<unsigned char>(world.rank + 1));
  auto* const initial = new (memory) Counted;
  initial->value = 1;
  initial->count = 1;
  auto* const number = new (memory_of_number) long double;
  *number = 0.5L;
#if defined(__clang__)
  if (world.rank == 0) std::printf("structures with padding are left out: this compiler cannot clear the padding\n");
  static_cast<void>(add_counted);
  static_cast<void>(initial);
#else
  const std::vector<Counted> mine = {{2, 1}};
  const Counted found = reduce_from(*initial, mine, add_counted, world.comm);
  EXPECT_EQ(found.value, 1 + 2.0 * world.size);
  EXPECT_EQ(found.count, 1 + world.size);
#endif
  const std::vector<long double> ones = {1};
  EXPECT_EQ(reduce_from(*number, ones, plus, world.comm), 0.5L + world.size);
  sf_call call = sf_call_default();
  call.type = call.result_type = SF_LONG_DOUBLE;
  call.layout = SF_RANK_ORDER;
  call.rows = 1;
  call.initial = number;
  long double result = 0;
  EXPECT_EQ(sf_reduce(&call, ones.data(), nullptr, &result, world.comm), SF_OK) << sf_error_text();
  EXPECT_EQ(result, 0.5L + world.size);
}

/// Without rows the result is the initial value itself, even if its sum with 0 differs.
TEST_F(InitialValueTest, IsTheResultWithoutRows) {
  const std::vector<double> none;
  for (const double initial : {-0.0, 0.0, 1.5, -std::numeric_limits<double>::infinity(), no_number}) {
    EXPECT_TRUE(is(reduce_from(initial, none, plus, world.comm), initial)) << initial;
    // Ranks that know the indices of their rows could finish in the handshake.
    EXPECT_TRUE(is(reduce_from(initial, none, plus, world.comm, {.layout = Layout::intervals({})}), initial))
        << initial;
    EXPECT_TRUE(is(reduce_from(initial, none, times, world.comm, {.schedule = "flat"}), initial)) << initial;
    EXPECT_TRUE(is(reduce_from(initial, none, minimum, world.comm), initial)) << initial;
    EXPECT_TRUE(is(reduce_from(initial, none, plus), initial)) << initial;
    EXPECT_TRUE(is(reduce_from(initial, none, maximum), initial)) << initial;
    Plan<double> plan(with_initial(initial, minimum), 0, world.comm);
    EXPECT_TRUE(is(plan.run(none), initial)) << initial;
  }
  EXPECT_TRUE(is(reduce_from(-0.0, std::vector<double>(world.rank == 0 ? 1 : 0, 0.0), plus, world.comm), 0.0));
}

/// One initial value serves all columns. In a scan, rank r gets it with the rows up to its own.
TEST_F(InitialValueTest, OfVectorsAndScans) {
  constexpr std::size_t columns = 5;
  std::vector<std::vector<double>> vectors;
  for (int r = 0; r < world.size; ++r) vectors.push_back(numbers<double>(columns, random));
  const auto of_first = [&](std::size_t ranks, std::size_t i) {
    std::vector<double> some;
    for (std::size_t r = 0; r < ranks; ++r) some.push_back(vectors[r][i]);
    return some.empty() ? 0.25 : add(0.25, tree_of(some, add));
  };
  const std::vector<double>& mine = vectors[world.index()];
  std::vector<double> buffer = mine;
  allreduce(buffer, with_initial(0.25, plus), world.comm);
  for (std::size_t i = 0; i < columns; ++i) EXPECT_TRUE(is(buffer[i], of_first(world.count(), i))) << i;
  sf_call call = sf_call_default();
  call.layout = SF_ROW_PER_RANK;
  call.method = SF_TREE;
  call.rows = 1;
  call.columns = columns;
  const double initial = 0.25;
  call.initial = &initial;
  sf_plan* plan = nullptr;
  sf_group* group = nullptr;
  ASSERT_EQ(sf_group_of(world.comm, &group), SF_OK);
  for (const bool is_exclusive : {false, true}) {
    call.collective = is_exclusive ? SF_EXSCAN : SF_SCAN;
    ASSERT_EQ(sf_group_bind(&call, 1, group, &plan), SF_OK) << sf_error_text();
    for (const bool is_planned : {false, true}) {
      std::vector<double> found(columns, -1.0);
      ASSERT_EQ(is_planned ? sf_plan_run(plan, mine.data(), nullptr, found.data())
                           : sf_reduce(&call, mine.data(), nullptr, found.data(), world.comm),
                SF_OK)
          << sf_error_text();
      for (std::size_t i = 0; i < columns; ++i)
        EXPECT_TRUE(is(found[i], of_first(world.index() + (is_exclusive ? 0 : 1), i))) << is_exclusive << i;
    }
    sf_plan_free(plan);
  }
  call.collective = SF_REDUCE_SCATTER;
  std::vector<std::uint64_t> blocks(world.count(), 0);
  blocks.back() = 2;
  blocks.front() += 3;
  call.blocks = blocks.data();
  call.block_count = blocks.size();
  std::size_t first = 0;
  for (std::size_t r = 0; r < world.index(); ++r) first += blocks[r];
  ASSERT_EQ(sf_group_bind(&call, 1, group, &plan), SF_OK) << sf_error_text();
  for (const bool is_planned : {false, true}) {
    std::vector<double> block(columns, -1.0);
    ASSERT_EQ(is_planned ? sf_plan_run(plan, mine.data(), nullptr, block.data())
                         : sf_reduce(&call, mine.data(), nullptr, block.data(), world.comm),
              SF_OK)
        << sf_error_text();
    for (std::size_t i = 0; i < columns; ++i) {
      const bool is_own = i < blocks[world.index()];
      EXPECT_TRUE(is(block[i], is_own ? of_first(world.count(), first + i) : -1.0)) << i;
    }
  }
  sf_plan_free(plan);
}

/// Each member of a bundle has an initial value; a started call keeps a copy. Complex numbers have two
/// parts.
TEST_F(InitialValueTest, OfBundlesAndStartedCalls) {
  using Complex = std::complex<double>;
  const std::vector<double> x = numbers<double>(30, random);
  const Ownership ownership = in_rank_order(random_counts(x.size(), world.count(), random));
  const std::vector<double> mine = pick(x, ownership[world.index()]);
  const std::vector<double> none;
  Bundle bundle;
  auto first = bundle.reduce(mine, with_initial(1.5, plus), {.method = tree()});
  auto second = bundle.reduce(mine, plus, {.method = tree()});
  auto third = bundle.reduce(none, with_initial(-7, maximum));
  BundlePlan plan = bundle.bind(world.comm);
  plan.run();
  EXPECT_TRUE(is(first.value(), add(1.5, tree_of(x, add))));
  EXPECT_TRUE(is(second.value(), tree_of(x, add)));
  EXPECT_TRUE(is(third.value(), -7.0));
  std::vector<Complex> z;
  for (const double each : x) z.emplace_back(each, -2 * each);
  const std::vector<Complex> my_z = pick(z, ownership[world.index()]);
  auto started = start(with_initial(Complex(1, -1), plus), my_z, world.comm);
  EXPECT_EQ(started.get(), Complex(1, -1) + sum(z, {.method = tree()}));
}

TEST_F(InitialValueTest, ThatDiffersOrCannotBeCombinedIsRefusedEverywhere) {
  const std::vector<double> x = {1, 2};
  const auto text_of_error = [](const auto& call) -> std::string {
    try {
      call();
      return "no error";
    } catch (const Error& error) {
      return error.what();
    }
  };
  const auto expect = [&](const std::string& text, const auto& call) {
    const std::string found = text_of_error(call);
    EXPECT_NE(found.find(text), std::string::npos) << found;
  };
  for (int odd = 0; odd < world.size && world.size > 1; ++odd) {
    const double initial = world.rank == odd ? 1.0 : 2.0;
    expect("different initial values", [&] { reduce_from(initial, x, plus, world.comm); });
    expect("different initial values", [&] { Plan<double>(with_initial(initial, plus), 2, world.comm); });
    expect("an initial value against none",
           [&] { world.rank == odd ? sum(x, world.comm, {.method = tree()}) : reduce_from(2.0, x, plus, world.comm); });
  }
  for (const Method& method : {Method(exact()), Method(binned()), Method(plain())})
    expect("an initial value with method", [&] { reduce_from(1.0, x, plus, world.comm, {.method = method}); });
  expect("an initial value of norm2", [&] { reduce_from(1.0, x, norm2, world.comm, {.method = tree()}); });
  expect("an initial value of norm2", [&] { reduce_from(1.0, x, norm2, {.method = tree()}); });
  const std::vector<int> labels = {0, 1};
  expect("an initial value with groups", [&] {
    ArrayPlan(with_initial(1.0, plus), Array<double>(x.data(), {2}),
              {.labels = Array<int>(labels.data(), {2}), .groups = 2}, world.comm, {.method = tree()});
  });
  EXPECT_TRUE(is(reduce_from(1.0, x, plus, world.comm), add(1.0, sum(x, world.comm, {.method = tree()}))));
}

/// The result may be written over the initial value.
TEST_F(InitialValueTest, MayHaveTheMemoryOfTheResult) {
  const double x[] = {0.1, 0.2, 0.3};
  sf_call call = sf_call_default();
  call.rows = 3;
  double value = 10;
  call.initial = &value;
  ASSERT_EQ(sf_reduce_local(&call, x, nullptr, &value), SF_OK) << sf_error_text();
  EXPECT_TRUE(is(value, 10 + ((0.1 + 0.2) + 0.3)));
  call.layout = SF_RANK_ORDER;
  call.rows = world.rank == 0 ? 3 : 0;
  value = 10;
  ASSERT_EQ(sf_reduce(&call, x, nullptr, &value, world.comm), SF_OK) << sf_error_text();
  EXPECT_TRUE(is(value, 10 + ((0.1 + 0.2) + 0.3)));
}

}  // namespace
}  // namespace steadfold::tests::initial_value_test
