// Dot products, norms and means with method tree: the terms are rounded to the type of the result and combined in the
// tree over their indices. The oracle writes this expression and shares nothing with src/. The control: most correctly
// rounded results differ from it.
#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/operators.hpp"
#include "mpi/outcome.hpp"
#include "mpi/ranks.hpp"
#include "support/lanes.hpp"

namespace steadfold::tests::tree_terms_test {
namespace {

/// Products of complex numbers by the definition: every operation is rounded.
template <class T>
T product(const T& x, const T& y) {
  return x * y;
}
template <class T>
std::complex<T> product(const std::complex<T>& x, const std::complex<T>& y) {
  const T ac = x.real() * y.real(), bd = x.imag() * y.imag(), ad = x.real() * y.imag(), bc = x.imag() * y.real();
  return {ac - bd, ad + bc};
}
template <class T>
T conjugated(const T& x) {
  return x;
}
template <class T>
std::complex<T> conjugated(const std::complex<T>& x) {
  return {x.real(), -x.imag()};
}
template <class T>
T square(const T& x) {
  return x * x;
}
template <class T>
T square(const std::complex<T>& x) {
  const T re = x.real() * x.real(), im = x.imag() * x.imag();
  return re + im;
}
/// The quotient is rounded once: an extended number holds it exactly enough for these numbers of elements.
template <class T>
T quotient(const T& sum, std::size_t count) {
  return static_cast<T>(static_cast<long double>(sum) / static_cast<long double>(count));
}
template <class T>
std::complex<T> quotient(const std::complex<T>& sum, std::size_t count) {
  return {quotient(sum.real(), count), quotient(sum.imag(), count)};
}

/// The tree with some number of lanes over the terms 0, ..., count - 1.
template <class Term>
auto tree_over(std::size_t count, std::size_t lanes, const Term& term) {
  std::vector<std::decay_t<decltype(term(std::size_t{}))>> terms;
  for (std::size_t i = 0; i < count; ++i) terms.push_back(term(i));
  return reference::of_lanes(terms, lanes, add);
}

template <class T>
std::vector<T> hostile(std::size_t n, Random& random) {
  if constexpr (std::is_floating_point_v<T>) {
    return numbers<T>(n, random);
  } else {
    std::vector<T> x;
    const auto real = numbers<typename T::value_type>(n, random),
               imaginary = numbers<typename T::value_type>(n, random);
    for (std::size_t i = 0; i < n; ++i) x.emplace_back(real[i], imaginary[i]);
    return x;
  }
}

class TreeTermsTest : public testing::Test {
 protected:
  /// Calls `compare(options, lanes, intervals of this rank, its elements of x, the same of y)` for lanes, layouts,
  /// schedules and threads.
  template <class T, class Compare>
  void in_every_way(const std::vector<T>& x, const std::vector<T>& y, const Compare& compare) {
    constexpr std::array<std::uint32_t, 3> lane_counts = {1, 3, 16};
    std::size_t turn = draw(random, lane_counts.size());
    for (const NamedOwnership& layout : sorts_of_layouts(x.size(), world.count(), random)) {
      const std::uint32_t lanes = lane_counts[turn++ % lane_counts.size()];
      const Method method = tree({.lanes = lanes});
      const auto& mine = layout.ownership[world.index()];
      const Options options{.method = method,
                            .layout = layout_on(world, layout.ownership),
                            .schedule = next_of(schedules_of(method, false)),
                            .threads = 1 + static_cast<unsigned>(draw(random, 3))};
      SCOPED_TRACE(std::to_string(x.size()) + " elements, " + layout.name + " by " + text_of(options));
      compare(options, lanes, mine, pick(x, mine), pick(y, mine));
    }
  }

  template <class T>
  void expect_trees(std::size_t n) {
    const std::vector<T> x = hostile<T>(n, random), y = hostile<T>(n, random);
    const T exact_dot = dot(x, y), exact_mean = mean(x);
    in_every_way(
        x, y, [&](const Options& options, std::size_t lanes, const auto& /*mine*/, const auto& a, const auto& b) {
          const auto products = tree_over(n, lanes, [&](std::size_t i) { return product(x[i], y[i]); });
          const auto conjugates = tree_over(n, lanes, [&](std::size_t i) { return product(conjugated(x[i]), y[i]); });
          const auto squares = tree_over(n, lanes, [&](std::size_t i) { return square(x[i]); });
          const auto elements = tree_over(n, lanes, [&](std::size_t i) { return x[i]; });
          EXPECT_TRUE(is(dot(a, b, world.comm, options), products)) << "dot";
          EXPECT_TRUE(is(dotc(a, b, world.comm, options), conjugates)) << "dotc";
          EXPECT_TRUE(is(sum_squares(a, world.comm, options), squares)) << "sum of squares";
          EXPECT_TRUE(is(norm2(a, world.comm, options), std::sqrt(squares))) << "norm2";
          EXPECT_TRUE(is(mean(a, world.comm, options), quotient(elements, n))) << "mean";
          differences += !same_bits(exact_dot, products) + !same_bits(exact_mean, quotient(elements, n));
        });
  }

  Ranks world;
  Random random{seed_of("tree_terms_test", 2711)};
  int differences = 0;  // from the correctly rounded results
};

TEST_F(TreeTermsTest, OfHostileNumbersGiveTheExpression) {
  for (const std::size_t n : {1, 3, 601}) expect_trees<double>(n);
  expect_trees<float>(100);
  expect_trees<std::complex<double>>(65);
  expect_trees<std::complex<float>>(300);
  EXPECT_GT(differences, 20) << "the correctly rounded results have the same bits";
}

/// Elements are widened before they are multiplied.
TEST_F(TreeTermsTest, OfWiderResultsGiveTheExpression) {
  const std::size_t n = 777;
  const std::vector<float> x = numbers<float>(n, random), y = numbers<float>(n, random);
  in_every_way(x, y,
               [&](const Options& /*options*/, std::size_t lanes, const auto& mine, const auto& a, const auto& b) {
                 const auto expect = [&](sf_operation operation, const void* second, double wanted) {
                   sf_call call = sf_call_default();
                   call.operation = operation;
                   call.method = SF_TREE;
                   call.lanes = static_cast<std::uint32_t>(lanes);
                   call.type = SF_F32;
                   call.result_type = SF_F64;
                   call.layout = SF_INTERVALS;
                   call.intervals = mine.data();
                   call.interval_count = mine.size();
                   call.rows = a.size();
                   double found = -1;
                   ASSERT_EQ(sf_reduce(&call, a.data(), second, &found, world.comm), SF_OK) << sf_error_text();
                   EXPECT_TRUE(is(found, wanted)) << "operation " << operation;
                 };
                 const auto wide = [](float number) { return static_cast<double>(number); };
                 const double squares = tree_over(n, lanes, [&](std::size_t i) { return wide(x[i]) * wide(x[i]); });
                 expect(SF_DOT, b.data(), tree_over(n, lanes, [&](std::size_t i) { return wide(x[i]) * wide(y[i]); }));
                 expect(SF_SUM_SQUARES, nullptr, squares);
                 expect(SF_NORM2, nullptr, std::sqrt(squares));
                 expect(SF_MEAN, nullptr, quotient(tree_over(n, lanes, [&](std::size_t i) { return wide(x[i]); }), n));
               });
}

TEST_F(TreeTermsTest, OfNoElements) {
  const std::vector<double> none;
  const Options by_tree{.method = tree(), .layout = Layout::contiguous(0, world.comm)};
  EXPECT_TRUE(is(dot(none, none, world.comm, by_tree), 0.0));
  EXPECT_TRUE(is(norm2(none, world.comm, by_tree), 0.0));
  const Outcome outcome = outcome_of([&] { (void)mean(none, world.comm, by_tree); });
  EXPECT_EQ(outcome.status, SF_EMPTY) << outcome.text;
}

/// The squares of large numbers overflow, and the squares of tiny numbers are 0.
TEST_F(TreeTermsTest, NormsMayOverflow) {
  const std::vector<double> large(3, 0x1p600), tiny(3, 0x1p-600);
  const Options by_tree{.method = tree(), .layout = Layout::contiguous(3, world.comm)};
  EXPECT_EQ(norm2(large, world.comm, by_tree), std::numeric_limits<double>::infinity());
  EXPECT_EQ(norm2(tiny, world.comm, by_tree), 0.0);
  EXPECT_LT(norm2(large, world.comm), std::numeric_limits<double>::infinity());
}

template <class Call>
void expect_refused(const Call& call, const std::string& words) {
  const Outcome outcome = outcome_of(call);
  EXPECT_EQ(outcome.status, SF_UNSUPPORTED) << outcome.text;
  EXPECT_NE(outcome.text.find(words), std::string::npos) << outcome.text;
}

TEST_F(TreeTermsTest, RefuseWhatTheTreeHasNoPlaceFor) {
  const std::vector<double> x(4, 1.5);
  const Options by_tree{.method = tree(), .layout = Layout::contiguous(4, world.comm)};
  expect_refused([&] { (void)weighted_mean(x, x, world.comm, by_tree); }, "rounds once, at the end");
  expect_refused([&] { (void)covariance(x, x, world.comm, by_tree); }, "rounds once, at the end");
  expect_refused([&] { (void)dot(x, x, world.comm, {.method = plain()}); }, "rounds once, at the end");
  sf_call call = sf_call_default();
  call.operation = SF_MEAN;
  call.method = SF_TREE;
  call.rows = 4;
  double result = 0;
  for (const sf_type type : {SF_I32, SF_LONG_DOUBLE}) {
    call.type = call.result_type = type;
    const std::vector<long double> any(4);
    EXPECT_EQ(sf_reduce(&call, any.data(), nullptr, &result, world.comm), SF_UNSUPPORTED);
    EXPECT_NE(std::string(sf_error_text()).find("convert the elements"), std::string::npos) << sf_error_text();
  }
}

}  // namespace
}  // namespace steadfold::tests::tree_terms_test
