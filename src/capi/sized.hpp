// Structs that callers fill and that begin with their size. A caller may have been compiled with an older release,
// which had fewer fields, or with a newer one.
// Cost: one comparison if the releases agree, else a copy. Source: Linux's clone3, which takes its arguments this way.
#pragma once

#include <cstddef>
#include <cstdint>

#include "steadfold/steadfold.h"

namespace steadfold::capi {

/// Returns a copy of the caller's struct in `room`, completed with defaults. Throws Failure if the struct is shorter
/// than in any release, or if fields are set that this release does not know.
const sf_call& completed(const sf_call& given, sf_call& room);
const sf_arrays& completed(const sf_arrays& given, sf_arrays& room);

/// Whether fields are set that only a newer release knows.
inline bool has_unknown(const sf_call& call) noexcept {
  std::uint32_t set = 0;
  for (const std::uint32_t each : call.reserved) set |= each;
  return set != 0;
}
inline bool has_unknown(const sf_arrays& /*arrays*/) noexcept { return false; }

/// Returns the caller's struct with all fields of this release. Usually this is the caller's struct itself.
template <class Struct>
const Struct& whole(const Struct& given, Struct& room) {
  return given.size == sizeof(Struct) && !has_unknown(given) ? given : completed(given, room);
}

/// Returns the next call in the caller's array.
inline const sf_call* next(const sf_call* call) noexcept {
  return reinterpret_cast<const sf_call*>(reinterpret_cast<const std::byte*>(call) + call->size);
}

}  // namespace steadfold::capi
