// The measuring loop: candidates in turn, many short samples.
// Source: [S1] and Hoefler & Belli 2015 on honest benchmarking.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace steadfold::bench {

/// A measured function. `prepare` and `finish` run before and after every sample and are not timed.
struct Candidate {
  std::string name;
  std::function<void(std::size_t calls)> run;  // makes that many calls
  std::function<void()> prepare = [] {};
  std::function<void()> finish = [] {};
  std::function<double()> tests = nullptr;  // returns the number of tests of started calls so far; null: not counted
};

/// Makes the compiler compute a value every time, and assume that memory has changed afterwards.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

/// A loop over `call`, compiled together with it, so that there is no indirect call per iteration.
template <class Call>
std::function<void(std::size_t)> calls_of(Call call) {
  return [call](std::size_t calls) {
    for (std::size_t i = 0; i < calls; ++i) call();
  };
}

/// Seconds per call, round after round, each the mean of `calls` calls. `wire_bytes` and `tests` likewise, if they are
/// counted.
struct Samples {
  std::size_t calls = 0;
  std::vector<double> seconds;
  std::vector<double> wire_bytes = {};
  std::vector<double> tests = {};
};

/// How the ranks of a job measure together; a single process needs only the defaults.
struct Together {
  std::function<void()> barrier = [] {};
  std::function<double(double)> greatest = [](double mine) { return mine; };  // over all ranks
  std::function<double()> bytes_sent = nullptr;                               // so far, by this rank's machine
};

/// Times every candidate once per round, each sample long enough for the clock. The order differs from round to round,
/// so that no candidate always follows the same neighbour. It is the same on all ranks and in all runs.
std::vector<Samples> interleave(std::span<const Candidate> candidates, int rounds, const Together& together = {});

}  // namespace steadfold::bench
