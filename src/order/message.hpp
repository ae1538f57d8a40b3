// The header of every message and every slot: a status, the message's logical time, and the call's digest.
// Cost: 16 bytes per message.
#pragma once

#include <cstdint>

namespace steadfold {

/// The status of a partial, in ascending severity. Merging two partials keeps the larger status. The numbers are equal
/// to the numbers of sf_status in steadfold.h.
enum class Status : std::uint32_t {
  ok = 0,
  empty = 1,             // nothing to reduce, and the operator has no neutral element
  gap = 2,               // elements of 0..N-1 that no rank has
  overlap = 3,           // an element that two ranks have
  operator_failed = 4,   // a user operator reported failure or threw
  mismatch = 5,          // ranks made different calls
  invalid_argument = 6,  // an argument that no call can use
  unsupported = 7,       // a combination that no registry row allows
  transport_failed = 8,  // the transport reported an error, or a message did not fit
  internal = 9,
};

/// Maps unknown numbers to transport_failed: a damaged message may hold any number.
constexpr Status known(Status status) noexcept {
  return status <= Status::internal ? status : Status::transport_failed;
}

constexpr Status worse(Status a, Status b) noexcept { return a < b ? b : a; }

/// The first bytes of every slot. A message whose status is not `ok` may contain only the header.
struct Header {
  Status status = Status::ok;
  std::uint32_t round = 0;   // messages in the longest chain before this message
  std::uint64_t digest = 0;  // of call, method, operator, type and width; equal on all ranks, or `mismatch`
};
static_assert(sizeof(Header) == 16);

}  // namespace steadfold
