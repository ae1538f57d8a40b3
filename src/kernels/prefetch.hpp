// Software prefetching. The loads of one core alone do not use the whole bandwidth of the memory.
// lab/notes/kernels.md has the measurements.
#pragma once

#include <cstddef>

#include "kernels/target.hpp"

namespace steadfold::kernels {

inline constexpr std::size_t bytes_ahead = 11 * 1024;

/// Prefetches the cache line that is some KiB beyond `place`, which may be beyond the elements. The non-temporal hint
/// is not used: it drops lines from the shared cache of some processors (Intel Xeon), and a second pass over the same
/// data then takes four times as long. The function is always inlined; otherwise GCC finds that it has no effects, and
/// drops its calls.
[[gnu::always_inline]] inline void ask_ahead(const void* place, Prefetch where) noexcept {
  const void* const line = static_cast<const char*>(place) + bytes_ahead;
  if (where == Prefetch::near) __builtin_prefetch(line, 0, 3);
  if (where == Prefetch::far) __builtin_prefetch(line, 0, 2);
}

}  // namespace steadfold::kernels
