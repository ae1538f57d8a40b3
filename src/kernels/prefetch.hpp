// Lines of memory that are asked for before they are needed, since one core's loads alone do not keep memory busy.
// lab/notes/kernels.md has the measurements.
#pragma once

#include <cstddef>

#include "kernels/target.hpp"

namespace steadfold::kernels {

inline constexpr std::size_t bytes_ahead = 11 * 1024;

/// Asks for the line that stands some KiB beyond `place`, which may be beyond the elements. Never by the hint "not to
/// be kept", which drops lines from the shared cache of some processors (Intel Xeon): a second pass over the same data
/// then takes four times as long. Always inlined, since GCC takes a function that does nothing else for one without
/// effects, and drops its calls.
[[gnu::always_inline]] inline void ask_ahead(const void* place, Prefetch where) noexcept {
  const void* const line = static_cast<const char*>(place) + bytes_ahead;
  if (where == Prefetch::near) __builtin_prefetch(line, 0, 3);
  if (where == Prefetch::far) __builtin_prefetch(line, 0, 2);
}

}  // namespace steadfold::kernels
