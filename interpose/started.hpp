// A reduction that a program started, by a non-blocking or a persistent call. Its request is the MPI library's own, of
// the collective operation that brings the rows together on the program's communicator: so the library makes progress
// as it always does. The rows are reduced when the request has ended. Memory: p rows of n bytes until then, for reduce
// on its root only, for scans twice; at most `most_started` bytes.
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

  /// Takes this rank's contribution; the call that starts it follows.
  void contribute();
  // These return what the MPI library returned. The started reduction must outlive the request.
  int start(MPI_Request* request);
  /// Makes a persistent request.
  int prepare(MPI_Info info, MPI_Request* request);
  /// The request has ended: reduces the rows. Throws Fault.
  void finish();

 private:
  void reduce();
  void deal();
  std::size_t input_bytes() const noexcept {
    return call_.elements.bytes() * static_cast<std::size_t>(call_.input_count());
  }

  Call call_;
  Communicator comm_;
  Records records_;                     // of scans
  std::unique_ptr<RecordType> record_;  // likewise
  Dealt sent_parts_, row_parts_;        // of an all-to-all
  std::unique_ptr<std::byte[]> memory_;
  const std::byte* sent_ = nullptr;  // the caller's own buffer, or a copy of it in `memory_`
  std::byte* copy_ = nullptr;
  std::byte* rows_ = nullptr;
  MPI_Datatype kept_type_ = MPI_DATATYPE_NULL;  // programs may free theirs
  CallName name_{};                             // for a trace
  std::uint64_t input_ = 0;                     // likewise
};

}  // namespace steadfold::interpose
