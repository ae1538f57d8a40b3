#include "bench/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace steadfold::bench::statistics_test {
namespace {

TEST(Quantiles, LieBetweenNeighbours) {
  EXPECT_EQ(quantile({7}, 0.5), 7);
  EXPECT_EQ(quantile({5, 1, 4, 2, 3}, 0.5), 3);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_EQ(quantile({5, 1, 4, 2, 3}, 0.25), 2);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0.75), 3.25);
  EXPECT_EQ(quantile({2, 1}, 0), 1);
  EXPECT_EQ(quantile({2, 1}, 1), 2);
}

TEST(Summaries, OfOneValueAreThatValue) {
  const Summary summary = summary_of({{3, 3, 3}, {3, 3, 3}});
  for (const double value :
       {summary.median, summary.quartiles.low, summary.quartiles.high, summary.interval.low, summary.interval.high})
    EXPECT_EQ(value, 3);
}

/// How likely a resample of the values 1..n has a median of at most k: at least half of n draws are at most k.
double chance_of_median_up_to(int k, int n) {
  const double p = static_cast<double>(k) / n;
  double chance = 0;
  for (int hits = (n + 1) / 2; hits <= n; ++hits)
    chance += std::exp(std::lgamma(n + 1) - std::lgamma(hits + 1) - std::lgamma(n - hits + 1)) * std::pow(p, hits) *
              std::pow(1 - p, n - hits);
  return chance;
}

TEST(Intervals, AreThoseOfTheResampledMediansDistribution) {
  for (const int n : {9, 15, 31, 101}) {
    std::vector<double> values(static_cast<std::size_t>(n));
    std::iota(values.begin(), values.end(), 1.0);
    std::shuffle(values.begin(), values.end(), std::mt19937_64(7));
    const Interval interval = summary_of({values}).interval;
    const double luck = 4 * std::sqrt(0.025 / 1000);  // of a thousand resamples
    EXPECT_GE(chance_of_median_up_to(static_cast<int>(std::ceil(interval.low)), n), 0.025 - luck) << n;
    EXPECT_LE(chance_of_median_up_to(static_cast<int>(std::floor(interval.low)) - 1, n), 0.025 + luck) << n;
    EXPECT_GE(chance_of_median_up_to(static_cast<int>(std::ceil(interval.high)), n), 0.975 - luck) << n;
    EXPECT_LE(chance_of_median_up_to(static_cast<int>(std::floor(interval.high)) - 1, n), 0.975 + luck) << n;
    EXPECT_LT(interval.low, summary_of({values}).median);
    EXPECT_GT(interval.high, summary_of({values}).median);
  }
}

TEST(Intervals, AreWiderTheMoreTheyHold) {
  std::vector<double> values(31);
  std::iota(values.begin(), values.end(), 1.0);
  std::shuffle(values.begin(), values.end(), std::mt19937_64(7));
  double width = 0;
  for (const double confidence : {0.8, 0.85, 0.9, 0.95, 0.99}) {  // [S1] table 1
    const Interval interval = summary_of({values}, confidence).interval;
    const double outside = (1 - confidence) / 2;
    const double luck = 4 * std::sqrt(outside / 1000);
    EXPECT_GE(chance_of_median_up_to(static_cast<int>(std::ceil(interval.low)), 31), outside - luck) << confidence;
    EXPECT_LE(chance_of_median_up_to(static_cast<int>(std::floor(interval.low)) - 1, 31), outside + luck) << confidence;
    EXPECT_GE(interval.high - interval.low, width);
    width = interval.high - interval.low;
  }
  Launches rival = {values};
  std::reverse(rival[0].begin(), rival[0].end());
  const Interval narrow = interval_of_ratio({values}, rival, 0.8);
  const Interval wide = interval_of_ratio({values}, rival, 0.99);
  EXPECT_LT(wide.low, narrow.low);
  EXPECT_GT(wide.high, narrow.high);
}

TEST(Intervals, HoldTheTrueMedianAboutAsOftenAsTheySay) {
  std::mt19937_64 random(11);
  std::lognormal_distribution<double> distribution(0, 1);  // its median is 1
  int held = 0;
  constexpr int trials = 300;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> samples(25);
    for (double& sample : samples) sample = distribution(random);
    const Interval interval = summary_of({samples}).interval;
    held += interval.low <= 1 && 1 <= interval.high;
  }
  EXPECT_GT(held, trials * 90 / 100);
  EXPECT_LT(held, trials);
}

/// A machine whose speed wanders says little of a median, and much of a ratio.
TEST(Intervals, OfRatiosCompareRoundsWithThemselves) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> speed(1, 3);
  Launches rival(2);
  Launches candidate(2);
  for (std::size_t launch = 0; launch < 2; ++launch) {
    for (int round = 0; round < 20; ++round) {
      rival[launch].push_back(speed(random));
      candidate[launch].push_back(2 * rival[launch].back());
    }
  }
  const Interval ratio = interval_of_ratio(candidate, rival);
  EXPECT_EQ(ratio.low, 2);
  EXPECT_EQ(ratio.high, 2);
  const Summary summary = summary_of(candidate);
  EXPECT_GT(summary.interval.high - summary.interval.low, 0.2);
}

/// Twenty rounds each of two launches are not forty rounds.
TEST(Intervals, KnowThatLaunchesDiffer) {
  Launches launches(2);
  for (int round = 0; round < 20; ++round) {
    launches[0].push_back(1 + 0.001 * round);
    launches[1].push_back(2 + 0.001 * round);
  }
  const Interval interval = summary_of(launches).interval;
  EXPECT_LT(interval.low, 1.02);
  EXPECT_GE(interval.high, 2);
}

TEST(Intervals, AreTheSameEveryTime) {
  const Launches samples = {{3, 1, 4, 1, 5, 9, 2, 6}, {5, 3, 5, 8, 9, 7, 9, 3}};
  const Summary first = summary_of(samples);
  const Summary second = summary_of(samples);
  EXPECT_EQ(first.interval.low, second.interval.low);
  EXPECT_EQ(first.interval.high, second.interval.high);
}

}  // namespace
}  // namespace steadfold::bench::statistics_test
