// The header of every message and every slot: a status, the message's logical time, and the call's digest.
// Cost: 16 bytes per message.
#pragma once

#include <cstdint>

namespace steadfold {

/// The status of a partial, in ascending severity. Merging two partials keeps the larger status. The numbers are equal
/// to the numbers of sf_status in steadfold.h.
enum class Status : std::uint32_t {
  ok = 0,
  empty = 1,             // there is nothing to reduce, and the operator has no neutral element
  gap = 2,               // no rank has some elements of 0..N-1
  overlap = 3,           // two ranks have the same element
  operator_failed = 4,   // a user operator reported failure or threw an exception
  mismatch = 5,          // the ranks made different calls
  invalid_argument = 6,  // an argument cannot be used by any call
  unsupported = 7,       // no algorithm or method allows this combination
  transport_failed = 8,  // the transport reported an error, or a message did not fit
  internal = 9,
};

/// Returns the status, or transport_failed if its number is unknown: a damaged message may have any number.
constexpr Status known(Status status) noexcept {
  return status <= Status::internal ? status : Status::transport_failed;
}

constexpr Status worse(Status a, Status b) noexcept { return a < b ? b : a; }

/// The first bytes of every slot. A message whose status is not `ok` may contain only the header.
struct Header {
  Status status = Status::ok;
  std::uint32_t round = 0;  // number of messages in the longest chain before this message
  // Digest of call, method, operator, type and width; equal on all ranks, otherwise the status is `mismatch`.
  std::uint64_t digest = 0;
};
static_assert(sizeof(Header) == 16);

}  // namespace steadfold
