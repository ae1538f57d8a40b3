// The measuring loop, and the facts about the machine that go with every figure.
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "../tools/mpi_library.hpp"
#include "bench.hpp"
#include "steadfold/steadfold.h"

namespace steadfold::bench {
namespace {

constexpr double sample_seconds = 2e-3;  // long against the clock, short against a time slice

double seconds_of(const Candidate& candidate, std::size_t calls) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < calls; ++i) candidate.run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Calls a sample, the same on every rank.
std::size_t calls_for(const Candidate& candidate, const Together& together) {
  candidate.run();
  for (std::size_t calls = 1;; calls *= 4) {
    together.barrier();
    const double seconds = together.slowest(seconds_of(candidate, calls));
    if (seconds >= sample_seconds / 4)
      return std::max<std::size_t>(1, static_cast<std::size_t>(sample_seconds / seconds * static_cast<double>(calls)));
  }
}

Timing timing_of(std::vector<double>& samples) {
  std::sort(samples.begin(), samples.end());
  const std::size_t n = samples.size();
  return {samples[n / 2], samples[n / 4], samples[3 * n / 4]};
}

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

}  // namespace

std::vector<Timing> interleave(std::span<const Candidate> candidates, int rounds, const Together& together) {
  std::vector<std::size_t> calls;
  for (const Candidate& candidate : candidates) calls.push_back(calls_for(candidate, together));
  std::vector<std::vector<double>> samples(candidates.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const std::size_t which = (i + static_cast<std::size_t>(round)) % candidates.size();
      together.barrier();
      const double seconds = together.slowest(seconds_of(candidates[which], calls[which]));
      samples[which].push_back(seconds / static_cast<double>(calls[which]));
    }
  }
  std::vector<Timing> timings;
  for (auto& of_candidate : samples) timings.push_back(timing_of(of_candidate));
  return timings;
}

Json environment() {
  utsname system{};
  uname(&system);
  std::time_t now = std::time(nullptr);
  char date[32] = "";
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  return {{"date", date},
          {"cpu", cpu_name()},
          {"cores", std::thread::hardware_concurrency()},
          {"system", std::string(system.sysname) + " " + system.release},
          {"compiler", __VERSION__},
          {"mpi", command::mpi_library().version},
          {"steadfold", sf_version()}};
}

}  // namespace steadfold::bench
