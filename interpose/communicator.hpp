// The interposer's facts about a communicator, stored as an attribute of the communicator: MPI reuses handles, but
// deletes attributes with their communicator. Each rank finds the facts without a message.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>

#include "rows.hpp"

namespace steadfold::interpose {

/// The name of a call of a communicator. The same call has the same name in every run in which each communicator's
/// calls have the same order.
struct CallName {
  std::uint32_t communicator;
  std::uint32_t number;
};

struct Communicator {
  MPI_Comm handle = MPI_COMM_NULL;
  int rank = 0;
  int size = 0;
  // How calls are handled, or the reason why they are passed on to the MPI library.
  Treatment treatment = Treatment::by_method;
  // For a trace: number of the communicator, from its processes and a count, see identity_of.
  std::uint32_t identity = 0;
  std::atomic<std::uint32_t>* calls = nullptr;  // for a trace: the number of calls named so far
  bool is_kept = false;                         // whether these facts are stored on the communicator

  /// Returns the name of the next call. Threads must not reduce on one communicator at the same time.
  CallName next_call() const noexcept {
    return {identity, calls == nullptr ? 0 : calls->fetch_add(1, std::memory_order_relaxed)};
  }
};

Communicator communicator_of(MPI_Comm comm);
/// Whether other MPI processes spawned this process. Its files need this fact, since its rank may also be a parent's
/// rank. The first call is made in MPI_Init, because a program may disconnect from its parents later.
bool is_spawned();
/// Says that MPI will be finalised. Afterwards every look-up asks the MPI library whether MPI is running.
void note_end() noexcept;

}  // namespace steadfold::interpose
