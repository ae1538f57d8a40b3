// A reduction that a program started with a non-blocking or persistent call. Its request is the MPI library's own
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

/// Whether the rows of a call may be kept until its request has ended. The same on all ranks.
bool may_start(const Call& call, const Communicator& comm) noexcept;

class Started {
 public:
  Started(Call call, const Communicator& comm);
  ~Started();
  Started(const Started&) = delete;
  Started& operator=(const Started&) = delete;

  /// Copies this rank's contribution. Call it directly before the call that starts the request.
  void contribute();
  // These return the MPI library's code. The started reduction must outlive the request.
  int start(MPI_Request* request);
  /// Makes a persistent request.
  int prepare(MPI_Info info, MPI_Request* request);
  /// Reduces the rows. Call it when the request has ended. Throws Fault.
  void finish();

 private:
  void reduce();
  void deal();
  std::size_t input_bytes() const noexcept {
    return call_.elements.bytes() * static_cast<std::size_t>(call_.input_count());
  }

  Call call_;
  Communicator comm_;
  Records records_;                     // for scans
  std::unique_ptr<RecordType> record_;  // for scans
  Dealt sent_parts_, row_parts_;        // for an all-to-all
  std::unique_ptr<std::byte[]> memory_;
  const std::byte* sent_ = nullptr;  // the caller's own buffer, or a copy of it in `memory_`
  std::byte* copy_ = nullptr;
  std::byte* rows_ = nullptr;
  MPI_Datatype kept_type_ = MPI_DATATYPE_NULL;  // the program may free its own type
  CallName name_{};                             // only for a trace
  std::uint64_t input_ = 0;                     // only for a trace
};

}  // namespace steadfold::interpose
