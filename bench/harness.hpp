// The measuring loop: it measures candidates in turn, in many short samples. Source: Gruber & Freinberger and Hoefler &
// Belli 2015 describe honest benchmarking.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace steadfold::bench {

/// A measured function. `prepare` and `finish` run before and after every sample and are not timed.
struct Candidate {
  std::string name;
  std::function<void(std::size_t calls)> run;  // makes `calls` calls
  std::function<void()> prepare = [] {};
  std::function<void()> finish = [] {};
  // Returns the number of tests of started calls so far; null: tests are not counted.
  std::function<double()> tests = nullptr;
};

/// Makes the compiler compute a value every time, and assume that memory has changed afterwards.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

/// Makes a loop over `call`, compiled together with it, so that there is no indirect call per iteration.
template <class Call>
std::function<void(std::size_t)> calls_of(Call call) {
  return [call](std::size_t calls) {
    for (std::size_t i = 0; i < calls; ++i) call();
  };
}

/// The samples of one candidate: seconds per call, round after round, each the mean of `calls` calls. `wire_bytes` and
/// `tests` are also per call, if they are counted.
struct Samples {
  std::size_t calls = 0;
  std::vector<double> seconds;
  std::vector<double> wire_bytes = {};
  std::vector<double> tests = {};
};

/// The way in which the ranks of a job measure together. A single process needs only the defaults.
struct Together {
  std::function<void()> barrier = [] {};
  // Returns the largest number over all ranks.
  std::function<double(double)> greatest = [](double mine) { return mine; };
  // Returns the number of bytes that this rank's machine has sent so far.
  std::function<double()> bytes_sent = nullptr;
};

/// Times every candidate once per round. Each sample is long enough for the clock. The order of candidates differs from
/// round to round, so that no candidate always follows the same neighbour. The order is the same on all ranks and in
/// all runs.
std::vector<Samples> interleave(std::span<const Candidate> candidates, int rounds, const Together& together = {});

}  // namespace steadfold::bench
