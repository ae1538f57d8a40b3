// Ranks of one process that take turns in one thread, in an order that follows from a seed, so that a run of them can
// be repeated message by message. A rank goes on until it waits for another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace steadfold::soak {

class Fibers {
 public:
  /// body(rank) on every rank; the stacks take `stack_bytes` each.
  Fibers(std::size_t count, std::uint64_t seed, std::function<void(std::size_t)> body);
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  /// True when all have come to their ends; false when for very long none of them had anything but waiting to do.
  /// Rethrows what a rank threw.
  bool run();

  /// From within a rank: lets others go on.
  void wait();
  /// Says that this rank does not wait in vain.
  void progress() { waits_ = 0; }

 private:
  struct Fiber;
  static void enter();

  std::unique_ptr<Fiber[]> fibers_;
  std::size_t count_;
  std::uint64_t state_;
  std::function<void(std::size_t)> body_;
  std::size_t running_ = 0;
  std::uint64_t waits_ = 0;  // since the last progress, of all ranks
};

}  // namespace steadfold::soak
