// What samples say: medians, quartiles, and how far a median can be trusted.
// Source: Efron & Tibshirani 1993, the percentile bootstrap; [S1] and Hoefler & Belli 2015 on honest benchmarking.
#pragma once

#include <span>
#include <vector>

namespace steadfold::bench {

struct Interval {
  double low = 0;
  double high = 0;
};

/// Samples of one candidate, in seconds a call: round after round of every launch.
using Launches = std::vector<std::vector<double>>;

struct Summary {
  double median = 0;
  Interval quartiles;
  Interval interval;  // that holds the median of other runs like this one 95 times out of 100
};

/// The value below which the share `at` of the samples lies, interpolated between neighbours. At least one sample.
double quantile(std::vector<double> samples, double at);

Summary summary_of(const Launches& launches);

/// The same interval for the ratio of two candidates' medians; samples of one round belong together. As many launches
/// and rounds of both.
Interval interval_of_ratio(const Launches& candidate, const Launches& rival);

}  // namespace steadfold::bench
