// The measuring loop: candidates in turn, many short samples.
// Source: [S1] and Hoefler & Belli 2015 on honest benchmarking.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace steadfold::bench {

/// `prepare` and `finish` stand around every sample, outside of its time.
struct Candidate {
  std::string name;
  std::function<void(std::size_t calls)> run;  // so many calls
  std::function<void()> prepare = [] {};
  std::function<void()> finish = [] {};
};

/// Makes the compiler compute a value, each time anew: memory counts as changed afterwards.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

/// The loop of a candidate whose one call is `call`, compiled together with it: no indirect call stands between two.
template <class Call>
std::function<void(std::size_t)> calls_of(Call call) {
  return [call](std::size_t calls) {
    for (std::size_t i = 0; i < calls; ++i) call();
  };
}

/// Seconds a call, round after round, each the mean of so many calls. `wire_bytes` likewise, where they are counted.
struct Samples {
  std::size_t calls = 0;
  std::vector<double> seconds;
  std::vector<double> wire_bytes = {};
};

/// How the ranks of a job measure together; a single process needs none of it.
struct Together {
  std::function<void()> barrier = [] {};
  std::function<double(double)> greatest = [](double mine) { return mine; };  // of all ranks' numbers
  std::function<double()> bytes_sent = nullptr;                               // by this rank's machine, until now
};

/// Times every candidate once a round, each sample long enough for the clock. Every round has an order of its own, the
/// same on all ranks and in all runs, so that none always follows the same neighbour.
std::vector<Samples> interleave(std::span<const Candidate> candidates, int rounds, const Together& together = {});

}  // namespace steadfold::bench
