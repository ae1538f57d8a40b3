// What programs without MPI do to add up one vector per thread: rivals of teams.
// Source: [S2] for the setting; OpenMP's reduction, and C++'s atomics and barrier.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bench/harness.hpp"
#include "transport/hardware.hpp"

namespace steadfold::bench {

/// The core of that number among those that the system may give this process, modulo how many there are. Those with
/// numbers next to each other share most, so one socket comes after the other.
const transport::Core& core_of_thread(unsigned number);

/// Runs `body(thread)` on so many threads, thread t pinned to the core of the number `first_core` + t: those of OpenMP
/// if there are any, so that its reduction is one among them. Thread 0 is the calling one.
void on_pinned_threads(unsigned threads, unsigned first_core, const std::function<void(unsigned)>& body);

/// The sum of a loop that OpenMP deals to so many threads in equal parts; nothing if the compiler has no OpenMP.
std::optional<double> openmp_sum(int threads, std::span<const double> numbers);

/// What the rivals share.
class ThreadRivals {
 public:
  static constexpr std::size_t most_copied = 10000;  // elements: OpenMP's threads have their copies on the stack

  /// Of vectors of `count` doubles.
  ThreadRivals(unsigned threads, std::size_t count);
  ~ThreadRivals();
  ThreadRivals(const ThreadRivals&) = delete;
  ThreadRivals& operator=(const ThreadRivals&) = delete;

  /// One thread's candidates, in the same order on all: "bare exchange" (every thread copies the vectors of all others
  /// and adds nothing), and, for up to `most_copied` elements, "openmp" (if the compiler has it) and "atomics" (with
  /// barriers). Threads must be those of `on_pinned_threads`. `mine` and `result` must outlive them.
  std::vector<Candidate> of_thread(unsigned thread, std::span<const double> mine, std::span<double> result);

 private:
  class Exchange;
  class Atomics;
  class OpenMp;
  [[maybe_unused]] std::size_t count_;  // without OpenMP
  std::unique_ptr<Exchange> exchange_;
  std::unique_ptr<Atomics> atomics_;
  std::unique_ptr<OpenMp> openmp_;
};

}  // namespace steadfold::bench
