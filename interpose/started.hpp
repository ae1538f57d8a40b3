// A reduction that a program started with a non-blocking or persistent call. The program's request is the MPI library's
// request of the collective operation that brings the rows together on the program's communicator. So the MPI library
// makes progress as usual. The rows are reduced when the request has ended. Memory until then: p rows of n bytes (on
// the root only for reduce, twice for scans), at most `most_started` bytes.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

#include "movement.hpp"
#include "records.hpp"

namespace steadfold::interpose {

/// Whether the rows of a call may be kept until its request has ended. The result is the same on all ranks.
bool may_start(const Call& call, const Communicator& comm) noexcept;

class Started {
 public:
  Started(Call call, const Communicator& comm);
  ~Started();
  Started(const Started&) = delete;
  Started& operator=(const Started&) = delete;

  /// Copies this rank's contribution. Call this function directly before the call that starts the request.
  void contribute();
  // Starts the collective operation. `start` and `prepare` return the MPI library's error code. The started reduction
  // must outlive the request.
  int start(MPI_Request* request);
  /// Makes a persistent request.
  int prepare(MPI_Info info, MPI_Request* request);
  /// Reduces the rows. Call this function after the request has ended. Throws Fault.
  void finish();

 private:
  void reduce();
  void deal();
  std::size_t input_bytes() const noexcept {
    return call_.elements.bytes() * static_cast<std::size_t>(call_.input_count());
  }

  Call call_;
  Communicator comm_;
  Records records_;                     // used for scans
  std::unique_ptr<RecordType> record_;  // used for scans
  Dealt sent_parts_, row_parts_;        // used for an all-to-all
  std::unique_ptr<std::byte[]> memory_;
  const std::byte* sent_ = nullptr;  // the caller's buffer, or a copy of it in `memory_`
  std::byte* copy_ = nullptr;
  std::byte* rows_ = nullptr;
  MPI_Datatype kept_type_ = MPI_DATATYPE_NULL;  // a type that stays valid, because the program may free its type
  CallName name_{};                             // used for a trace
  std::uint64_t input_ = 0;                     // used for a trace
};

}  // namespace steadfold::interpose
