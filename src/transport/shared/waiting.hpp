// How a rank waits for memory that others write.
// Cost: that of Backoff; if the memory is shared by processes, a call of the MPI library now and then.
#pragma once

#include "transport/backoff.hpp"
#include "transport/shared/common_memory.hpp"

namespace steadfold::transport {

/// Who may not call the MPI library may sleep. All others never do, and let the library make progress: another rank may
/// come to the reduction only once a message of this one's has gone out, which the program has started and not waited
/// for.
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
  static constexpr std::uint32_t tests_per_progress = 64;  // some microseconds

  CommonMemory* memory_;  // if it is shared by processes, and this rank drives
  Backoff backoff_;
};

}  // namespace steadfold::transport
