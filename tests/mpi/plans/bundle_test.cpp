// Bundles over MPI: the bits of the calls by themselves, in the messages of one call; members of every kind, users'
// operators that throw, members without elements, ranks that disagree.
#include "steadfold/bundle.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/operators.hpp"
#include "mpi/outcome.hpp"
#include "mpi/ranks.hpp"
#include "mpi/reference.hpp"
#include "steadfold/diagnosis.hpp"

namespace steadfold::tests::bundle_test {
namespace {

class BundleTest : public testing::Test {
 protected:
  Ranks world;
  Random random{seed_of("bundle_test", 41201)};

  Ownership some_ownership(std::size_t n) { return shuffled(n, world.count(), 9, true, random); }
};

std::uint64_t total(const Ranks& ranks, std::uint64_t own) {
  std::uint64_t sum = 0;
  MPI_Allreduce(&own, &sum, 1, MPI_UINT64_T, MPI_SUM, ranks.comm);
  return sum;
}

/// The lowest index of the least element, NaNs aside: there are none.
template <class T>
Located<T> least(const std::vector<T>& x) {
  Located<T> best{x[0], 0};
  for (std::size_t i = 1; i < x.size(); ++i)
    if (x[i] < best.value) best = {x[i], i};
  return best;
}

TEST_F(BundleTest, GivesTheBitsOfTheCallsByThemselves) {
  const std::size_t n = 300;
  const Ownership ownership = some_ownership(n);
  const auto& mine = ownership[world.index()];
  const Layout layout = layout_on(world, ownership);
  for (int root = -1; root < world.size; root += 2) {
    for (const std::string& schedule : schedules_of({}, root >= 0)) {
      const std::vector<double> x = wide_numbers<double>(n, random);
      const std::vector<double> y = wide_numbers<double>(n, random);
      const std::vector<float> z = wide_numbers<float>(n, random);
      const std::vector<Hash> hashes = elements<Hash>(n, random);
      const std::vector<double> my_x = pick(x, mine);
      const std::vector<double> my_y = pick(y, mine);
      const std::vector<float> my_z = pick(z, mine);
      const std::vector<Hash> my_hashes = pick(hashes, mine);
      std::vector<std::uint8_t> mask(n);
      for (auto& byte : mask) byte = static_cast<std::uint8_t>(random() % 2);
      const std::vector<std::uint8_t> my_mask = pick(mask, mine);
      std::vector<std::int64_t> vector(5, world.rank + 1);

      Bundle bundle;
      const auto sum = bundle.sum(my_x);
      const auto product = bundle.dot(my_x, my_y);
      const auto norm = bundle.norm2(my_y);
      const auto absolute = bundle.abs_sum(my_y);
      const auto squares = bundle.sum_squares(my_z);
      const auto weighted = bundle.weighted_sum(my_x, my_y);
      const auto conjugated = bundle.dotc(my_x, my_y);
      const auto masked = bundle.masked_sum(my_x, my_mask);
      const auto by_tree = bundle.sum(my_y, {.method = tree(), .layout = layout});
      const auto greatest = bundle.max(my_z);
      const auto largest = bundle.norminf(my_z);
      const auto norm1 = bundle.norm1(my_y);
      const auto where = bundle.min_location(my_z, {.layout = layout, .require = sf::ranks | sf::layout});
      const auto mean_of_weighted = bundle.weighted_mean(my_x, my_y);
      const auto statistics = bundle.statistics(my_z, {.layout = layout});
      const auto mixed_up = bundle.reduce(my_hashes, mix_hashes, {.layout = layout});
      bundle.allreduce(std::span(vector), plus);
      BundleOptions options{.schedule = schedule};
      if (root >= 0) options.root = root;
      BundlePlan plan = bundle.bind(world.comm, options);
      plan.run();

      SCOPED_TRACE("schedule '" + schedule + "', root " + std::to_string(root));
      if (root >= 0 && root != world.rank) {
        EXPECT_TRUE(sum.value() != sum.value());
        continue;
      }
      EXPECT_TRUE(is(sum.value(), reference::exact_sum(std::span<const double>(x))));
      EXPECT_TRUE(is(product.value(), reference::exact_dot(std::span<const double>(x), std::span<const double>(y))));
      EXPECT_TRUE(is(norm.value(), reference::exact_norm2(std::span<const double>(y))));
      EXPECT_TRUE(is(absolute.value(), reference::exact_abs_sum(std::span<const double>(y))));
      EXPECT_TRUE(is(squares.value(), reference::exact_dot(std::span<const float>(z), std::span<const float>(z))));
      EXPECT_TRUE(is(weighted.value(), product.value()));
      EXPECT_TRUE(is(conjugated.value(), product.value()));
      EXPECT_TRUE(is(masked.value(),
                     reference::exact_masked_sum(std::span<const double>(x), std::span<const std::uint8_t>(mask))));
      EXPECT_TRUE(is(by_tree.value(), tree_of(y, add)));
      EXPECT_TRUE(is(greatest.value(), tree_of(z, greater)));
      EXPECT_TRUE(is(largest.value(), sf::norminf(z)));
      EXPECT_TRUE(is(norm1.value(), absolute.value()));
      EXPECT_TRUE(is(where.value().value, least(z).value));
      EXPECT_EQ(where.value().index, least(z).index);
      EXPECT_TRUE(is(mean_of_weighted.value(), weighted_mean(x, y)));
      const Statistics of_all = sf::statistics(z);
      const Statistics found = statistics.value();
      EXPECT_EQ(std::memcmp(&found, &of_all, sizeof found), 0);
      EXPECT_TRUE(is(mixed_up.value(), tree_of(hashes, mix_hashes)));
      EXPECT_EQ(vector, std::vector<std::int64_t>(5, world.size * (world.size + 1) / 2));
    }
  }
}

TEST_F(BundleTest, DiagnosesASumInOneMessage) {
  std::vector<double> x(3, world.rank % 2 == 0 ? 1e16 : -1e16);
  x[1] = 1;
  const auto found = diagnosis(x, world.comm);
  std::vector<double> all;
  for (int rank = 0; rank < world.size; ++rank) {
    const double large = rank % 2 == 0 ? 1e16 : -1e16;
    all.insert(all.end(), {large, 1, large});
  }
  EXPECT_TRUE(is(found.sum, sum(all, exact())));
  EXPECT_TRUE(is(found.absolute_sum, abs_sum(all)));
  EXPECT_EQ(found.count, all.size());
  EXPECT_GE(found.condition(), 1);
  if (world.size == 2) {
    EXPECT_EQ(found.sum, 2);
    EXPECT_NE(found.difference(), 0);
  }
}

TEST_F(BundleTest, RunsOftenOverTheSameMemory) {
  const std::size_t n = 64;
  const Ownership ownership = some_ownership(n);
  std::vector<double> mine = pick(wide_numbers<double>(n, random), ownership[world.index()]);
  Bundle bundle;
  const auto sum = bundle.sum(mine);
  const auto mean = bundle.mean(mine);
  BundlePlan plan = bundle.bind(world.comm);
  EXPECT_EQ(outcome_of([&] { (void)sum.value(); }).status, SF_INVALID_ARGUMENT) << "before the first run";
  for (int run = 0; run < 20; ++run) {
    const std::vector<double> x = wide_numbers<double>(n, random);
    const std::vector<double> own = pick(x, ownership[world.index()]);
    std::copy(own.begin(), own.end(), mine.begin());
    if (run % 2 == 0) {
      plan.run();
    } else {
      plan.start();
      while (!plan.test()) {
      }
    }
    const double expected = reference::exact_sum(std::span<const double>(x));
    EXPECT_TRUE(is(sum.value(), expected)) << run;
    EXPECT_TRUE(is(mean.value(), expected / 64)) << run;  // of 64 elements: the exponent alone changes
  }
}

TEST_F(BundleTest, SendsAsManyMessagesAsOneCall) {
  const std::vector<double> mine(10, 1.0 / 3);
  Bundle bundle;
  for (int field = 0; field < 30; ++field) bundle.sum(mine);
  BundlePlan plan = bundle.bind(world.comm);
  // By name: unasked, ranks of a node reduce one call without messages.
  Plan<double> one(plus, mine.size(), world.comm, {.schedule = "recursive_doubling"});
  plan.run();
  one.run(mine);
  EXPECT_EQ(total(world, plan.figures().messages), total(world, one.figures().messages));
}

TEST_F(BundleTest, WithoutElementsInAMemberKeepsTheOthers) {
  const std::vector<double> none;
  const std::vector<double> mine(3, world.rank + 1.0);
  Bundle bundle;
  const auto sum = bundle.sum(mine);
  const auto lost = bundle.min(none);
  const auto nothing = bundle.sum(none);
  BundlePlan plan = bundle.bind(world.comm);
  plan.run();
  EXPECT_TRUE(is(sum.value(), 1.5 * world.size * (world.size + 1)));
  EXPECT_TRUE(is(nothing.value(), 0.0));
  EXPECT_EQ(outcome_of([&] { (void)lost.value(); }).status, SF_EMPTY);
}

TEST_F(BundleTest, FailsOnAllRanksWhereAnOperatorThrows) {
  const std::vector<double> mine(4, 1.0);
  const int culprit = world.size / 2;
  bool throws = true;
  const auto op = [&](double a, double b) {
    if (throws && world.rank == culprit) throw Thrown{culprit};
    return a + b;
  };
  Bundle bundle;
  const auto sum = bundle.sum(mine);
  const auto custom = bundle.reduce(mine, op);
  BundlePlan plan = bundle.bind(world.comm);
  const Outcome outcome = outcome_of([&] { plan.run(); });
  EXPECT_TRUE(world.rank == culprit ? outcome.thrown_on == culprit : outcome.status == SF_OPERATOR_FAILED)
      << outcome.string();
  EXPECT_EQ(outcome_of([&] { (void)sum.value(); }).status, SF_OPERATOR_FAILED);
  throws = false;
  plan.run();
  EXPECT_TRUE(is(sum.value(), 4.0 * world.size));
  EXPECT_TRUE(is(custom.value(), 4.0 * world.size));
}

TEST_F(BundleTest, ThatIsNotTheSameOnAllRanksIsRefusedEverywhere) {
  const std::vector<double> mine(4, 1.0);
  const Bundle none;
  const Outcome refused = outcome_of([&] { none.bind(world.comm); });
  EXPECT_EQ(refused.status, SF_INVALID_ARGUMENT);
  EXPECT_NE(refused.text.find("no calls (the bundle is empty), add a call before you bind the bundle"),
            std::string::npos)
      << refused.text;
  if (world.size == 1) return;
  const bool is_last = world.rank == world.size - 1;
  const auto expect_refused = [&](sf_status status, const char* text, const auto& fill) {
    Bundle bundle;
    fill(bundle);
    const Outcome outcome = outcome_of([&] { bundle.bind(world.comm); });
    EXPECT_EQ(outcome.status, status) << text;
    EXPECT_NE(outcome.text.find(text), std::string::npos) << outcome.text;
    EXPECT_TRUE(is(sum(mine, world.comm), 4.0 * world.size)) << "the next call works";
  };
  expect_refused(SF_MISMATCH, "bundles of 2 against 1 calls", [&](Bundle& bundle) {
    bundle.sum(mine);
    if (!is_last) bundle.sum(mine);
  });
  expect_refused(SF_MISMATCH, "call 1: operator max against min", [&](Bundle& bundle) {
    bundle.sum(mine);
    if (is_last)
      bundle.min(mine);
    else
      bundle.max(mine);
  });
  expect_refused(SF_UNSUPPORTED, "call 1: the bits depend on", [&](Bundle& bundle) {
    bundle.sum(mine);
    bundle.sum(mine, {.method = plain(), .require = is_last ? sf::ranks : Guarantees{}});
  });
  expect_refused(SF_GAP, "call 1: the layout does not have every element exactly once", [&](Bundle& bundle) {
    bundle.sum(mine);
    const auto first = static_cast<std::uint64_t>(world.rank) * 5;
    bundle.sum(mine, {.layout = Layout::intervals({{first, first + 4}})});
  });
}

// --- ranges that change, or are gone ---------------------------------------------------------------------------------

/// On the culprit the text is `own`, elsewhere that of a rank that does not know; in one phase and in two.
void expect_failed_runs(BundlePlan& plan, bool is_culprit, const std::string& own) {
  const auto expect_text = [&](const Outcome& outcome) {
    EXPECT_EQ(outcome.status, SF_INVALID_ARGUMENT) << outcome.string();
    EXPECT_NE(outcome.text.find(is_culprit ? own : "on another rank"), std::string::npos) << outcome.text;
  };
  expect_text(outcome_of([&] { plan.run(); }));
  plan.start();
  expect_text(outcome_of([&] { plan.wait(); }));
  expect_text(outcome_of([&] { plan.wait(); }));
  plan.start();
  expect_text(outcome_of([&] {
    while (!plan.test()) {
    }
  }));
}

TEST_F(BundleTest, WithRangesOfDifferentSizesFailsInTheRunOnAllRanks) {
  const bool is_last = world.rank == world.size - 1;
  const std::vector<double> four(4, 1.0);
  std::vector<double> three(is_last ? 3 : 4, 1.0);
  std::vector<char> mask(is_last ? 5 : 4, 1);
  Bundle bundle;
  const auto product = bundle.dot(four, three);
  const auto selected = bundle.masked_sum(four, mask);
  BundlePlan plan = bundle.bind(world.comm);
  expect_failed_runs(plan, is_last,
                     "call 0: a second range of 3 elements (the first has 4), give two ranges of the same");
  EXPECT_EQ(outcome_of([&] { (void)product.value(); }).status, SF_INVALID_ARGUMENT);
  three.resize(4, 1.0);
  expect_failed_runs(plan, is_last,
                     "call 1: a second range of 5 elements (the first has 4), give two ranges of the same");
  mask.resize(4);
  plan.run();
  EXPECT_TRUE(is(product.value(), 4.0 * world.size));
  EXPECT_TRUE(is(selected.value(), 4.0 * world.size));
}

TEST_F(BundleTest, WithARangeThatGrewFailsInTheRunOnAllRanks) {
  for (const int culprit : {0, world.size - 1}) {
    for (const std::size_t bound : {std::size_t{0}, std::size_t{3}}) {  // one without rows has nothing to be read
      const std::size_t mine = world.rank == culprit ? bound : 3;
      std::vector<double> x(mine, 1.0);
      std::vector<double> vector(2, 1.0);
      Bundle bundle;
      bundle.sum(vector);
      const auto sum = bundle.sum(x);
      bundle.allreduce(vector, plus);
      BundlePlan plan = bundle.bind(world.comm);
      plan.run();
      const double total = 3.0 * (world.size - 1) + static_cast<double>(bound);
      EXPECT_TRUE(is(sum.value(), total));
      if (world.rank == culprit) x.push_back(1.0);
      expect_failed_runs(plan, world.rank == culprit,
                         "call 1: " + std::to_string(bound + 1) + " elements (the plan was bound for " +
                             std::to_string(bound) +
                             " on this rank), keep this number of elements or bind another plan");
      if (world.rank == culprit) x.pop_back();
      const std::vector<double> before = vector;
      if (world.rank == culprit) vector.resize(3);
      expect_failed_runs(plan, world.rank == culprit, "call 0: 3 elements (the plan was bound for 2 on this rank)");
      vector.resize(2);
      EXPECT_EQ(vector, before) << "nothing is written where nothing is reduced";
      plan.run();
      EXPECT_TRUE(is(sum.value(), total));
    }
  }
}

/// A vector that grew is somewhere else: every run, and every bind, asks it anew.
TEST_F(BundleTest, FollowsContainersThatMoveTheirElements) {
  std::vector<double> x(3, 1.0);
  std::vector<double> y(3, 2.0);
  std::vector<float> buffer(2, 1.0f);
  Bundle bundle;
  const auto sum = bundle.sum(x);
  const auto product = bundle.dot(x, y);
  bundle.allreduce(buffer, plus);
  x.resize(5000, 1.0);  // somewhere else
  y.resize(5000, 2.0);
  BundlePlan plan = bundle.bind(world.comm);
  plan.run();
  EXPECT_TRUE(is(sum.value(), 5000.0 * world.size));
  EXPECT_TRUE(is(product.value(), 10000.0 * world.size));
  EXPECT_EQ(buffer, std::vector<float>(2, static_cast<float>(world.size)));
  std::vector<double> other(5000, 3.0);
  x.swap(other);
  std::vector<float>(2, 2.0f).swap(buffer);
  plan.run();
  EXPECT_TRUE(is(sum.value(), 15000.0 * world.size));
  EXPECT_TRUE(is(product.value(), 30000.0 * world.size));
  EXPECT_EQ(buffer, std::vector<float>(2, static_cast<float>(2 * world.size)));
}

/// A span is kept as it was given: the object may go, its elements stay.
TEST_F(BundleTest, KeepsSpansOfItsOwn) {
  std::vector<double> x(4, 1.0);
  std::vector<std::int64_t> buffer(3, 1);
  Bundle bundle;
  const auto add_spans = [&] {
    const std::span<const double> some(x.data(), 3);
    auto result = std::pair(bundle.sum(some), bundle.sum(std::span(x).subspan(2)));
    bundle.allreduce(std::span(buffer), plus);
    return result;
  };
  const auto [first, rest] = add_spans();
  BundlePlan plan = bundle.bind(world.comm);
  plan.run();
  EXPECT_TRUE(is(first.value(), 3.0 * world.size));
  EXPECT_TRUE(is(rest.value(), 2.0 * world.size));
  EXPECT_EQ(buffer, std::vector<std::int64_t>(3, world.size));
}

template <class R>
concept CanBeAdded = requires(Bundle bundle, R&& x, std::vector<double> y) {
  bundle.sum(std::forward<R>(x));
  bundle.dot(std::forward<R>(x), y);
  bundle.dot(y, std::forward<R>(x));
  bundle.dotc(std::forward<R>(x), y);
  bundle.weighted_sum(y, std::forward<R>(x));
  bundle.norm2(std::forward<R>(x));
  bundle.reduce(std::forward<R>(x), plus);
  bundle.max_location(std::forward<R>(x));
};
// tests/api/diagnostics_test.py has what cannot be added.
static_assert(CanBeAdded<View<double>> && CanBeAdded<View<const double>&> && CanBeAdded<const View<double>>);
static_assert(CanBeAdded<std::vector<double>&> && CanBeAdded<const std::vector<double>&>);
static_assert(CanBeAdded<std::span<const double>> && CanBeAdded<double (&)[3]>);

TEST_F(BundleTest, HasNoValueWhileItRuns) {
  const std::vector<double> mine(3, 1.0);
  Bundle bundle;
  const auto sum = bundle.sum(mine);
  BundlePlan plan = bundle.bind(world.comm);
  const auto expect_none = [&](const char* text) {
    const Outcome outcome = outcome_of([&] { (void)sum.value(); });
    EXPECT_EQ(outcome.status, SF_INVALID_ARGUMENT);
    EXPECT_NE(outcome.text.find(text), std::string::npos) << outcome.string();
  };
  EXPECT_TRUE(plan.test());
  plan.wait();
  expect_none("no value yet (no plan of the bundle has run)");
  for (int run = 0; run < 3; ++run) {
    plan.start();
    expect_none("no value (a run was started and has not ended)");
    EXPECT_EQ(outcome_of([&] { plan.start(); }).status, SF_INVALID_ARGUMENT) << "started twice";
    EXPECT_EQ(outcome_of([&] { plan.run(); }).status, SF_INVALID_ARGUMENT) << "run while started";
    expect_none("no value (a run was started and has not ended)");
    plan.wait();
    EXPECT_TRUE(is(sum.value(), 3.0 * world.size));
    plan.wait();
    EXPECT_TRUE(plan.test());
    EXPECT_TRUE(is(sum.value(), 3.0 * world.size));
  }
}

TEST_F(BundleTest, InCReportsWhatIsWrongWithItsArguments) {
  sf_plan* plan = nullptr;
  sf_call call = sf_call_default();
  EXPECT_EQ(sf_bundle_bind(nullptr, 1, world.comm, &plan), SF_INVALID_ARGUMENT);
  ASSERT_EQ(sf_bundle_bind(&call, 1, world.comm, &plan), SF_OK);
  double result = 1;
  const sf_data data[2] = {{nullptr, nullptr, &result}, {nullptr, nullptr, &result}};
  EXPECT_EQ(sf_bundle_run(plan, data, 2), SF_INVALID_ARGUMENT);
  EXPECT_EQ(sf_bundle_run(plan, nullptr, 1), SF_INVALID_ARGUMENT);
  EXPECT_EQ(sf_bundle_run(plan, data, 1), SF_OK);
  EXPECT_TRUE(is(result, 0.0));
  EXPECT_EQ(sf_bundle_status(plan, 0), SF_OK);
  EXPECT_EQ(sf_bundle_status(plan, 1), SF_INVALID_ARGUMENT);
  sf_plan_free(plan);
  const sf_call apart[2] = {call, [&] {
                              sf_call rooted = call;
                              rooted.root = 0;
                              return rooted;
                            }()};
  EXPECT_EQ(sf_bundle_bind(apart, 2, world.comm, &plan), SF_INVALID_ARGUMENT);
  EXPECT_NE(std::string(sf_error_text()).find("call 1: a different root or schedule"), std::string::npos);
}

}  // namespace
}  // namespace steadfold::tests::bundle_test
