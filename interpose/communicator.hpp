// What the interposer knows of a communicator, kept on it as an attribute: handles are used again, attributes end with
// their communicator. Found out by each rank alone, without a message.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>

#include "rows.hpp"

namespace steadfold::interpose {

/// Which call of which communicator: the same in every run in which each communicator's calls have the same order.
struct CallName {
  std::uint32_t communicator;
  std::uint32_t number;
};

struct Communicator {
  MPI_Comm handle = MPI_COMM_NULL;
  int rank = 0;
  int size = 0;
  Treatment treatment = Treatment::tree;        // else why its calls are passed on
  std::uint32_t identity = 0;                   // for a trace: its processes, and which of those with the same ones
  std::atomic<std::uint32_t>* calls = nullptr;  // likewise: that were named so far
  bool is_kept = false;                         // on the communicator

  /// Names the next call. Threads do not reduce on one communicator at once.
  CallName next_call() const noexcept {
    return {identity, calls == nullptr ? 0 : calls->fetch_add(1, std::memory_order_relaxed)};
  }
};

Communicator communicator_of(MPI_Comm comm);
/// Whether other processes of MPI spawned this one. Ranks alone do not tell its files from theirs. First called in
/// MPI_Init: a program may disconnect from its parents later.
bool is_spawned();
/// MPI is about to be finalized: from then on the MPI library is asked again whether it runs.
void note_end() noexcept;

}  // namespace steadfold::interpose
