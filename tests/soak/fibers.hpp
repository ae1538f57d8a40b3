// Ranks of one process that take turns in one thread. A seed gives their order, so a run can be repeated message by
// message. A rank runs until it waits for another rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace steadfold::soak {

class Fibers {
 public:
  /// Runs body(rank) on every rank. Each stack has `stack_bytes` bytes.
  Fibers(std::size_t count, std::uint64_t seed, std::function<void(std::size_t)> body);
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  /// Returns true if all ranks have ended, and false if for very long all of them only waited. Rethrows an exception of
  /// a rank.
  bool run();

  /// Called by a rank that waits: lets the other ranks run.
  void wait();
  /// Called by a rank that has made progress.
  void progress() { waits_ = 0; }

 private:
  struct Fiber;
  static void enter();

  std::unique_ptr<Fiber[]> fibers_;
  std::size_t count_;
  std::uint64_t state_;
  std::function<void(std::size_t)> body_;
  std::size_t running_ = 0;
  std::uint64_t waits_ = 0;  // waits of all ranks since the last progress
};

}  // namespace steadfold::soak
