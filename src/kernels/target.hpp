// The instruction sets for which kernels are built, and the instruction set in use. Cost: `chosen` is one load after
// the first call. The instruction sets have Highway's names.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace steadfold::kernels {

/// The instruction sets (targets). `scalar` is the reference; it is always available, and every other target gives the
/// same bits.
enum class Target : std::uint32_t { scalar, sse4, avx2, avx512, neon, sve };

std::string_view name_of(Target target) noexcept;

/// Returns the targets that are built and that this machine can run, in ascending order of speed. The first is
/// `scalar`.
std::span<const Target> available() noexcept;

/// Returns the target that STEADFOLD_TARGET names. If the variable is not set, returns the fastest available target; if
/// it names another value, `scalar` (see `forced`).
Target chosen() noexcept;

/// Returns the value of STEADFOLD_TARGET; empty if it is not set.
std::string_view forced() noexcept;
/// Whether STEADFOLD_TARGET is unset or names a target that is available.
bool forced_is_available() noexcept;

/// Where kernels prefetch memory to: nowhere, the first-level cache, or the second-level cache. lab/notes/kernels.md
/// has the measurements for each processor.
enum class Prefetch : std::uint32_t { off, near, far };

std::string_view name_of(Prefetch where) noexcept;

/// The value of STEADFOLD_PREFETCH (order/settings.hpp refuses unknown values). If it is not set, the best value for
/// this processor. Only a benchmark changes this variable.
extern Prefetch prefetch;

}  // namespace steadfold::kernels
