#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

namespace steadfold::bench {
namespace {

constexpr int resamples = 1000;
constexpr std::uint64_t seed = 20161126;

/// Returns a random number in 0 ... count - 1. Unlike the standard's distributions, it is the same with every compiler.
std::size_t draw(std::mt19937_64& random, std::size_t count) { return static_cast<std::size_t>(random() % count); }

/// Calls `visit(launch, round)` for as many rounds as there are, drawn with replacement. Two rounds of one launch are
/// more alike than rounds of two launches, so launches are drawn first, then rounds within them.
template <class Visit>
void resample(const Launches& launches, std::mt19937_64& random, Visit visit) {
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const std::size_t launch = draw(random, launches.size());
    const std::size_t rounds = launches[launch].size();
    for (std::size_t round = 0; round < rounds; ++round) visit(launch, draw(random, rounds));
  }
}

/// Returns the interval in the middle of the statistics: as many are below it as above it.
Interval middle_of(const std::vector<double>& statistics, double confidence) {
  const double outside = (1 - confidence) / 2;
  return {quantile(statistics, outside), quantile(statistics, 1 - outside)};
}

}  // namespace

double quantile(std::vector<double> samples, double at) {
  const double position = at * static_cast<double>(samples.size() - 1);
  const auto below = samples.begin() + static_cast<std::ptrdiff_t>(std::floor(position));
  std::nth_element(samples.begin(), below, samples.end());
  if (below + 1 == samples.end()) return *below;
  const double next = *std::min_element(below + 1, samples.end());
  return *below + (position - std::floor(position)) * (next - *below);
}

Summary summary_of(const Launches& launches, double confidence) {
  std::vector<double> all;
  for (const auto& launch : launches) all.insert(all.end(), launch.begin(), launch.end());
  std::mt19937_64 random(seed);
  std::vector<double> medians;
  std::vector<double> drawn;
  for (int i = 0; i < resamples; ++i) {
    drawn.clear();
    resample(launches, random,
             [&](std::size_t launch, std::size_t round) { drawn.push_back(launches[launch][round]); });
    medians.push_back(quantile(drawn, 0.5));
  }
  return {quantile(all, 0.5), {quantile(all, 0.25), quantile(all, 0.75)}, middle_of(medians, confidence)};
}

Interval interval_of_ratio(const Launches& candidate, const Launches& rival, double confidence) {
  std::mt19937_64 random(seed);
  std::vector<double> ratios;
  std::vector<double> mine;
  std::vector<double> its;
  for (int i = 0; i < resamples; ++i) {
    mine.clear();
    its.clear();
    resample(candidate, random, [&](std::size_t launch, std::size_t round) {
      mine.push_back(candidate[launch][round]);
      its.push_back(rival[launch][round]);
    });
    ratios.push_back(quantile(mine, 0.5) / quantile(its, 0.5));
  }
  return middle_of(ratios, confidence);
}

}  // namespace steadfold::bench
