// How a rank waits for memory that other ranks write. Cost: that of Backoff. If processes share the memory, the MPI
// library is also called now and then.
#pragma once

#include "transport/backoff.hpp"
#include "transport/shared/common_memory.hpp"

namespace steadfold::transport {

/// A waiting rank that may not call the MPI library may sleep. All other ranks never sleep, and let the MPI library
/// make progress: another rank may reach the reduction only after it gets a message that this rank's program has
/// started and not waited for.
class Waiting {
 public:
  explicit Waiting(const Neighbourhood& among) noexcept
      : memory_(among.memory->is_one_process() || !among.drives ? nullptr : among.memory.get()),
        backoff_(among.shares_cores, memory_ == nullptr ? Backoff::Sleeps::after_long : Backoff::Sleeps::never) {}

  void found_something() noexcept { backoff_.found_something(); }
  void found_nothing() noexcept {
    backoff_.found_nothing();
    if (memory_ != nullptr && backoff_.idle_tests() % tests_per_progress == 0) memory_->make_progress();
  }

 private:
  // Number of tests between calls of the MPI library, which are then a few microseconds apart.
  static constexpr std::uint32_t tests_per_progress = 64;

  CommonMemory* memory_;  // the memory that processes share, if this rank may call MPI while it waits; otherwise null
  Backoff backoff_;
};

}  // namespace steadfold::transport
