// Real threads, random delays: what tests of protocols between threads have in common. Every run says its seed. Under
// the thread sanitizer, and without STEADFOLD_FULL, with fewer operations.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/sanitized.hpp"
#include "transport/shared/flags.hpp"

namespace steadfold::transport::threads_stress {

inline const std::uint64_t fewer = test::sanitized ? 10 : std::getenv("STEADFOLD_FULL") ? 1 : 5;

inline constexpr auto most_patience = std::chrono::seconds(60);  // of one wait: a lock-out

inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t hash = (a + 1) * 0x9e3779b97f4a7c15 + b;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return hash ^ (hash >> 31);
}

/// A message that fills its line, so that a torn or stale one shows.
struct Line {
  std::array<std::uint64_t, 7> words{};
};
static_assert(sizeof(Box<MachineMemory, Line>) == cache_line);

inline void fill(Line& line, std::uint64_t of) {
  for (std::size_t i = 0; i < line.words.size(); ++i) line.words[i] = mixed(of, i);
}
inline bool holds(const Line& line, std::uint64_t of) {
  bool all = true;
  for (std::size_t i = 0; i < line.words.size(); ++i) all = all && line.words[i] == mixed(of, i);
  return all;
}

/// A sum that fills its line.
struct LineSum {
  Line line;
  void merge(const Line& other) {
    for (std::size_t i = 0; i < line.words.size(); ++i) line.words[i] += other.words[i];
  }
  void write(Line& other) const { other = line; }
  void read(const Line& other) { line = other; }
};

inline std::uint64_t part(std::uint64_t operation, std::size_t worker) { return 16 * operation + worker; }
inline bool holds_sum(const Line& line, std::uint64_t operation, std::size_t workers) {
  LineSum expected;
  for (std::size_t worker = 0; worker < workers; ++worker) {
    Line each;
    fill(each, part(operation, worker));
    expected.merge(each);
  }
  return line.words == expected.line.words;
}

/// What one thread has to do with chance and time.
class Thread {
 public:
  Thread(std::uint64_t seed, std::size_t worker) : state_(mixed(seed, worker)) {}

  /// Mostly nothing, sometimes a while, seldom a turn of others.
  void delay() {
    state_ = mixed(state_, 1);
    if (state_ % 64 != 0) return;
    for (std::uint64_t i = state_ >> 8 & 255; i > 0; --i) std::atomic_signal_fence(std::memory_order_seq_cst);
    if (state_ % 8192 == 0) std::this_thread::yield();
  }
  /// Throws after `most_patience`.
  template <class Look>
  auto await(Look look) {
    delay();
    auto found = look();
    std::chrono::steady_clock::time_point began;
    for (std::uint64_t tries = 1; !found; found = look(), ++tries) {
      if (tries % 32 != 0) continue;
      std::this_thread::yield();
      if (tries == 32) began = std::chrono::steady_clock::now();
      if (tries % 32768 == 0 && std::chrono::steady_clock::now() - began > most_patience) {
        throw std::runtime_error("locked out");
      }
    }
    delay();
    return found;
  }
  void require(bool holds) { faults_ += holds ? 0 : 1; }
  std::uint64_t faults() const { return faults_; }

 private:
  std::uint64_t state_;
  std::uint64_t faults_ = 0;
};

/// body(worker, thread) in as many threads; says how many operations per second there were.
inline void run(const std::string& what, std::uint64_t seed, std::size_t workers, std::uint64_t operations,
                const std::function<void(std::size_t, Thread&)>& body) {
  std::vector<std::string> ends(workers);
  const auto began = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> threads;
    for (std::size_t worker = 0; worker < workers; ++worker) {
      threads.emplace_back([&, worker] {
        Thread thread(seed, worker);
        try {
          body(worker, thread);
          ends[worker] = std::to_string(thread.faults()) + " faults";
        } catch (const std::exception& error) {
          ends[worker] = error.what();
        }
      });
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::cout << "  " << what << ", seed " << seed << ": " << operations << " operations in " << took.count() << " s\n";
  EXPECT_EQ(ends, std::vector<std::string>(workers, "0 faults")) << what << ", seed " << seed;
}

}  // namespace steadfold::transport::threads_stress
