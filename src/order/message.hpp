// The header of every message and every slot: a status, the message's logical time, and the call's digest.
// Cost: 16 bytes per message.
#pragma once

#include <cstdint>

namespace steadfold {

/// What went wrong, in ascending severity: merging two partials keeps the larger status. The numbers are those of
/// sf_status in steadfold.h.
enum class Status : std::uint32_t {
  ok = 0,
  empty = 1,             // nothing to reduce, and the operator has no neutral element
  gap = 2,               // elements of 0..N-1 that no rank brought
  overlap = 3,           // an element that two ranks brought
  operator_failed = 4,   // a user operator reported failure or threw
  mismatch = 5,          // ranks made different calls
  invalid_argument = 6,  // an argument that no call can use
  unsupported = 7,       // a combination that no registry row allows
  transport_failed = 8,  // the transport reported an error, a message did not fit
  internal = 9,
};

/// A damaged message may hold any number; an unknown one means that the transport failed.
constexpr Status known(Status status) noexcept {
  return status <= Status::internal ? status : Status::transport_failed;
}

constexpr Status worse(Status a, Status b) noexcept { return a < b ? b : a; }

/// Opens every slot's bytes. A message whose status is not `ok` may consist of the header alone.
struct Header {
  Status status = Status::ok;
  std::uint32_t round = 0;   // when the message was sent, counted in messages on the longest chain before it
  std::uint64_t digest = 0;  // of call, method, operator, type and width: equal on all ranks or the status says so
};
static_assert(sizeof(Header) == 16);

}  // namespace steadfold
