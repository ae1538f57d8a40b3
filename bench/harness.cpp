#include "harness.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>

#include "program/shuffle.hpp"

namespace steadfold::bench {
namespace {

// Seconds of a sample: much longer than a tick of the clock, much shorter than a time slice.
constexpr double sample_seconds = 2e-3;

double seconds_of(const Candidate& candidate, std::size_t calls) {
  const auto begin = std::chrono::steady_clock::now();
  candidate.run(calls);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The largest time, number of sent bytes and number of tests over all ranks.
struct Sample {
  double seconds = 0;
  double bytes = 0;
  double tests = 0;
};

Sample sample(const Candidate& candidate, std::size_t calls, const Together& together) {
  const auto sent = [&] { return together.bytes_sent ? together.bytes_sent() : 0; };
  candidate.prepare();
  together.barrier();
  const auto tested = [&] { return candidate.tests ? candidate.tests() : 0; };
  const double before = sent();
  const double tests = tested();
  Sample sample{.seconds = together.greatest(seconds_of(candidate, calls))};
  if (together.bytes_sent) sample.bytes = together.greatest(sent() - before);
  if (candidate.tests) sample.tests = together.greatest(tested() - tests);
  candidate.finish();
  return sample;
}

/// Returns the number of calls that make a sample, the same number on every rank.
std::size_t calls_for(const Candidate& candidate, const Together& together) {
  sample(candidate, 1, together);
  for (std::size_t calls = 1;; calls *= 4) {
    const bool enough = sample(candidate, calls, together).seconds >= sample_seconds / 4;
    if (!enough) continue;
    // Sampled again, because the first sample may have been disturbed.
    const double seconds = sample(candidate, calls, together).seconds;
    if (seconds >= sample_seconds / 4)
      return std::max<std::size_t>(1, static_cast<std::size_t>(sample_seconds / seconds * static_cast<double>(calls)));
  }
}

}  // namespace

std::vector<Samples> interleave(std::span<const Candidate> candidates, int rounds, const Together& together) {
  std::vector<Samples> samples;
  for (const Candidate& candidate : candidates) samples.push_back({.calls = calls_for(candidate, together)});
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(1);
  for (int round = 0; round < rounds; ++round) {
    command::shuffle(order, random);
    for (const std::size_t which : order) {
      Samples& mine = samples[which];
      const Sample next = sample(candidates[which], mine.calls, together);
      const auto calls = static_cast<double>(mine.calls);
      mine.seconds.push_back(next.seconds / calls);
      if (together.bytes_sent) mine.wire_bytes.push_back(next.bytes / calls);
      if (candidates[which].tests) mine.tests.push_back(next.tests / calls);
    }
  }
  return samples;
}

}  // namespace steadfold::bench
