// Structs that callers fill and that begin with their size: a caller may have been compiled with an older release,
// which had fewer fields, or with a newer one. Cost: a comparison where the releases agree, else a copy. Source: ours;
// as Linux's clone3 takes its arguments.
#pragma once

#include <cstddef>

#include "steadfold/steadfold.h"

namespace steadfold::capi {

/// The caller's struct with all fields of this release: itself, or a copy of it in `room` with defaults where it ends.
/// Throws Failure if no release had so short a struct, or if fields are set that this release does not know.
const sf_call& whole(const sf_call& given, sf_call& room);
const sf_arrays& whole(const sf_arrays& given, sf_arrays& room);

/// The call that stands behind this one in the caller's array.
inline const sf_call* next(const sf_call* call) noexcept {
  return reinterpret_cast<const sf_call*>(reinterpret_cast<const std::byte*>(call) + call->size);
}

}  // namespace steadfold::capi
