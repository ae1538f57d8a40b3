// Where threads of one process meet that measure together.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "bench/harness.hpp"

namespace steadfold::bench {

/// Where threads meet between samples: they spin, since a sample begins when all are there.
class Meeting {
 public:
  explicit Meeting(unsigned threads) : Meeting(threads, threads > std::thread::hardware_concurrency()) {}
  Meeting(unsigned threads, bool shares_cores) : threads_(threads), shares_cores_(shares_cores) {}

  void wait() {
    const std::uint64_t round = round_.load();
    if (arrived_.fetch_add(1) + 1 == threads_) {
      arrived_.store(0);
      round_.store(round + 1);
      return;
    }
    while (round_.load() == round)
      if (shares_cores_) sched_yield();
  }
  Together together() {
    return {.barrier = [this] { wait(); }, .greatest = [this](double mine) { return greatest(mine); }};
  }

 private:
  double greatest(double mine) {
    wait();
    double seen = greatest_.load();
    while (mine > seen && !greatest_.compare_exchange_weak(seen, mine)) {
    }
    wait();
    const double found = greatest_.load();
    wait();
    greatest_.store(0);
    return found;
  }

  unsigned threads_;
  bool shares_cores_;
  std::atomic<unsigned> arrived_ = 0;
  std::atomic<std::uint64_t> round_ = 0;
  std::atomic<double> greatest_ = 0;
};

}  // namespace steadfold::bench
