// The states of DuckDB's aggregate functions: rows in many states, which are merged in random order and moved as bytes,
// have the bits of one accumulator of all rows. Merging does not change its source. Seeds are printed.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iostream>
#include <iterator>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "duckdb/aggregates.hpp"
#include "support/hostile_terms.hpp"

namespace steadfold::test::aggregate_states_test {
namespace {

using namespace steadfold::duckdb;
using arithmetic::Accumulator;

std::uint64_t bits(double number) { return std::bit_cast<std::uint64_t>(number); }

template <int factors>
double sum_of(const std::vector<double>& x, const std::vector<double>& y) {
  Accumulator<double, factors> all(kernels::Target::scalar);
  all.add_rows(reinterpret_cast<const std::byte*>(x.data()), reinterpret_cast<const std::byte*>(y.data()), x.size(),
               sizeof(double));
  return all.template rounded<double>();
}

/// The results of rows that are spread over states: some one by one, some in blocks.
template <class State>
class Spread {
 public:
  Spread(std::mt19937_64& random, const std::vector<double>& x, const std::vector<double>& y) : states_(9) {
    for (std::size_t i = 0; i < x.size();) {
      State& state = states_[random() % states_.size()];
      const std::size_t rows = std::min<std::size_t>(random() % 3 == 0 ? 1 + random() % 50 : 1, x.size() - i);
      if (rows == 1)
        state.add(x[i], y[i], owner_);
      else
        state.add_rows(&x[i], &y[i], rows, owner_);
      i += rows;
    }
  }

  /// Merges the states in random order, and moves them.
  std::optional<double> merged(std::mt19937_64& random) {
    while (states_.size() > 1) {
      std::ranges::shuffle(states_, random);
      State& target = states_[states_.size() - 2];
      const auto before = states_.back().finish();
      target.merge(states_.back(), owner_);
      const auto after = states_.back().finish();
      EXPECT_EQ(before.has_value(), after.has_value());
      EXPECT_EQ(bits(before.value_or(0)), bits(after.value_or(0))) << "merging has changed its source";
      states_.back().give_back(owner_);
      states_.pop_back();
      std::vector<State> moved(states_.size());
      std::memcpy(moved.data(), states_.data(), states_.size() * sizeof(State));
      states_ = moved;
    }
    return states_[0].finish();
  }

 private:
  Accumulators owner_;  // of states that are never given back, too
  std::vector<State> states_;
};

template <class State>
double merged(std::mt19937_64& random, const std::vector<double>& x, const std::vector<double>& y) {
  return Spread<State>(random, x, y).merged(random).value_or(std::numeric_limits<double>::quiet_NaN());
}

TEST(AggregateStates, HaveTheBitsOfOneAccumulator) {
  std::mt19937_64 random(31);
  HostileTerms<double> terms(31);
  std::cout << "seed 31\n";
  for (int round = 0; round < 30; ++round)
    for (const Trouble trouble : troubles) {
      const auto x = terms.of(1 + random() % 400, trouble);
      const auto y = terms.of(x.size(), troubles[random() % std::size(troubles)]);
      EXPECT_EQ(bits(merged<Sum<1>>(random, x, y)), bits(sum_of<1>(x, y))) << "sum in round " << round;
      EXPECT_EQ(bits(merged<Sum<2>>(random, x, y)), bits(sum_of<2>(x, y))) << "dot product in round " << round;
    }
}

/// The exact sum of elements, or of the products of two columns, by the reference.
template <int factors>
arithmetic::ExactSum exact_sum_of(const std::vector<double>& x, const std::vector<double>& y) {
  Accumulator<double, factors> all(kernels::Target::scalar);
  all.add_rows(reinterpret_cast<const std::byte*>(x.data()), reinterpret_cast<const std::byte*>(y.data()), x.size(),
               sizeof(double));
  arithmetic::ExactSum sum{.flags = all.special(), .rows = x.size()};
  all.digit_range(sum.range);
  return sum;
}

TEST(AggregateStates, HaveTheMomentsOfScalarAccumulators) {
  std::mt19937_64 random(32);
  HostileTerms<double> terms(32);
  std::cout << "seed 32\n";
  constexpr int lowest = lowest_exponent_of_products;
  for (int round = 0; round < 10; ++round)
    for (const Trouble trouble : troubles) {
      const auto x = terms.of(2 + random() % 200, trouble);
      const auto y = terms.of(x.size(), trouble);
      const auto sum_of_x = exact_sum_of<1>(x, x);
      const auto sum_of_y = exact_sum_of<1>(y, y);
      const auto squares_of_x = exact_sum_of<2>(x, x);
      const auto squares_of_y = exact_sum_of<2>(y, y);
      EXPECT_EQ(bits(merged<SampleVariance<false>>(random, x, y)),
                bits(arithmetic::rounded_covariance<double>(squares_of_x, sum_of_x, sum_of_x, 1, lowest)));
      EXPECT_EQ(bits(merged<SampleVariance<true>>(random, x, y)),
                bits(arithmetic::rounded_deviation<double>(squares_of_x, sum_of_x, 1, lowest)));
      EXPECT_EQ(bits(merged<Correlation>(random, x, y)),
                bits(arithmetic::rounded_correlation<double>(
                    {exact_sum_of<2>(x, y), sum_of_x, sum_of_y, squares_of_x, squares_of_y})));
      Accumulator<double, 1> all(kernels::Target::scalar);
      all.add_rows(reinterpret_cast<const std::byte*>(x.data()), nullptr, x.size(), sizeof(double));
      EXPECT_EQ(bits(merged<Average>(random, x, y)), bits(all.rounded_mean<double>()));
    }
}

TEST(AggregateStates, TakeAccumulatorsBackWithoutTheirTerms) {
  Accumulators owner;
  auto& first = owner.take<1>();
  first.add_scaled(5, 0);
  owner.give_back<1>(first);
  auto& again = owner.take<1>();
  EXPECT_EQ(&again, &first);
  EXPECT_EQ(again.rounded<double>(), 0.0);
  EXPECT_NE(&owner.take<1>(), &again);
}

TEST(AggregateStates, AreRoundedOnce) {
  std::mt19937_64 random(33);
  EXPECT_EQ(merged<Average>(random, {1e308, 1e308, 1e308}, {0, 0, 0}), 1e308);
  EXPECT_EQ(merged<SampleVariance<false>>(random, {1e9, 1e9 + 1, 1e9 + 2}, {0, 0, 0}), 1.0);
  EXPECT_EQ(merged<SampleVariance<true>>(random, {1e200, -1e200}, {0, 0}), std::sqrt(2.0) * 1e200);
  EXPECT_EQ(merged<Correlation>(random, {1, 2, 3}, {3, 2, 4}), 0.5);
}

TEST(AggregateStates, KnowTheirRows) {
  EXPECT_FALSE(Sum<1>{}.finish());
  EXPECT_FALSE(Sum<2>{}.finish());
  EXPECT_FALSE(Average{}.finish());
  EXPECT_FALSE(Correlation{}.finish());
  Accumulators owner;
  SampleVariance<false> one;
  one.add(1, 0, owner);
  EXPECT_FALSE(one.finish());
  std::mt19937_64 random(34);
  for (const std::vector<double>& zeros : {std::vector<double>{-0.0}, std::vector<double>(300, -0.0)}) {
    EXPECT_EQ(bits(merged<Sum<1>>(random, zeros, zeros)), bits(-0.0));
    EXPECT_EQ(bits(merged<Average>(random, zeros, zeros)), bits(-0.0));
    EXPECT_EQ(bits(merged<Sum<2>>(random, zeros, std::vector<double>(zeros.size(), 5.0))), bits(-0.0));
    EXPECT_EQ(bits(merged<Sum<2>>(random, zeros, zeros)), bits(0.0));
  }
}

TEST(AggregateStates, KeepInfinitiesAndNans) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::mt19937_64 random(35);
  const std::vector<double> ones(40, 1.0);
  for (const double special : {infinity, -infinity, nan, 5e-324, 0.0, -0.0})
    for (const double other : {infinity, 5e-324, 0.0, -2.0}) {
      std::vector<double> x = ones;
      std::vector<double> y = ones;
      x[17] = special;
      y[17] = other;
      EXPECT_EQ(bits(merged<Sum<1>>(random, x, y)), bits(sum_of<1>(x, y)));
      EXPECT_EQ(bits(merged<Sum<2>>(random, x, y)), bits(sum_of<2>(x, y))) << special << " times " << other;
    }
}

}  // namespace
}  // namespace steadfold::test::aggregate_states_test
