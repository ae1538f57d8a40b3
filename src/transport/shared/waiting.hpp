// How a rank waits for memory that others write.
// Cost: as Backoff; if processes share the memory, also a call of the MPI library now and then.
#pragma once

#include "transport/backoff.hpp"
#include "transport/shared/common_memory.hpp"

namespace steadfold::transport {

/// A rank that may not call the MPI library may sleep. All others never sleep, and let the MPI library make progress:
/// another rank may reach the reduction only after it gets a message that this rank's program has started and not
/// waited for.
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
  static constexpr std::uint32_t tests_per_progress = 64;  // a few microseconds apart

  CommonMemory* memory_;  // null, except if processes share it and this rank may call MPI
  Backoff backoff_;
};

}  // namespace steadfold::transport
