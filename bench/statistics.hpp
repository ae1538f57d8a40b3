// Statistics of samples: medians, quartiles, and how far a median can be trusted. Source: Efron & Tibshirani 1993, the
// percentile bootstrap; Gruber & Freinberger, and Hoefler & Belli 2015, on honest benchmarking.
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

/// The usual confidence level of intervals. Source: table 1 of Gruber & Freinberger, who use 0.95, too, but compute
/// intervals from standard deviations and the z-value 1.96.
inline constexpr double usual_confidence = 0.95;

struct Summary {
  double median = 0;
  Interval quartiles;
  Interval interval;  // confidence interval of the median
};

/// Returns the quantile of the samples at `at` (0 to 1), interpolated between neighbours. There must be at least one
/// sample.
double quantile(std::vector<double> samples, double at);

Summary summary_of(const Launches& launches, double confidence = usual_confidence);

/// Returns a confidence interval for the ratio of the medians of two candidates. Samples of one round belong together.
/// Both candidates must have the same number of launches and rounds.
Interval interval_of_ratio(const Launches& candidate, const Launches& rival, double confidence = usual_confidence);

}  // namespace steadfold::bench
