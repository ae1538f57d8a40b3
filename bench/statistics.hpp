// Statistics of samples: medians, quartiles, and how far a median can be trusted.
// Source: Efron & Tibshirani 1993, the percentile bootstrap; [S1] and Hoefler & Belli 2015 on honest benchmarking.
#pragma once

#include <span>
#include <vector>

namespace steadfold::bench {

struct Interval {
  double low = 0;
  double high = 0;
};

/// Samples of one candidate, in seconds per call, round after round of every launch.
using Launches = std::vector<std::vector<double>>;

struct Summary {
  double median = 0;
  Interval quartiles;
  Interval interval;  // holds the median of 95 in 100 other runs like this one
};

/// The value below which a share `at` of the samples lies, interpolated between neighbours. Needs a sample.
double quantile(std::vector<double> samples, double at);

Summary summary_of(const Launches& launches);

/// An interval that holds the ratio of two candidates' medians in 95 of 100 other runs like this one. Samples of one
/// round belong together. Both must have equally many launches and rounds.
Interval interval_of_ratio(const Launches& candidate, const Launches& rival);

}  // namespace steadfold::bench
