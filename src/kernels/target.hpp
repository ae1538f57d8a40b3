// The instruction sets for which kernels are built, and the instruction set in use.
// Cost: `chosen` is one load after the first call. The sets have Highway's names.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace steadfold::kernels {

/// `scalar` is the reference. It is always available, and every other target equals it bit for bit.
enum class Target : std::uint32_t { scalar, sse4, avx2, avx512, neon, sve };

std::string_view name_of(Target target) noexcept;

/// The targets that are built and that this machine can run, in ascending order of speed. The first is `scalar`.
std::span<const Target> available() noexcept;

/// The target that STEADFOLD_TARGET names. If the variable is not set, the fastest available target; if it names
/// another value, `scalar` (see `forced`).
Target chosen() noexcept;

/// The value of STEADFOLD_TARGET; empty if it is not set.
std::string_view forced() noexcept;
/// Whether STEADFOLD_TARGET is unset or names a target that is available.
bool forced_is_available() noexcept;

/// Where kernels prefetch memory to: nowhere, the first-level cache, or the second-level cache. lab/notes/kernels.md
/// has the measurements for each processor.
enum class Prefetch : std::uint32_t { off, near, far };

std::string_view name_of(Prefetch where) noexcept;

/// The value of STEADFOLD_PREFETCH (order/settings.hpp refuses unknown values). If it is not set, the best value for
/// this processor. Only a benchmark changes it.
extern Prefetch prefetch;

}  // namespace steadfold::kernels
