// The instruction sets that kernels are built for, and the one that runs.
// Cost: `chosen` is one load after the first call. Highway names the sets.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace steadfold::kernels {

/// `scalar` is the reference: it is always there, and every other one equals it bit for bit.
enum class Target : std::uint32_t { scalar, sse4, avx2, avx512, neon, sve };

std::string_view name_of(Target target) noexcept;

/// The targets that were built and run on this machine, from the plainest to the best; the first is `scalar`.
std::span<const Target> available() noexcept;

/// The target that STEADFOLD_TARGET names, else the best. `scalar` if the one named is not available: see `forced`.
Target chosen() noexcept;

/// The value of STEADFOLD_TARGET; empty if it is not set.
std::string_view forced() noexcept;
/// Whether STEADFOLD_TARGET is unset or names a target that is available.
bool forced_is_available() noexcept;

/// Where kernels ask for memory to be brought before they need it: nowhere, into the first-level cache, or into the
/// second-level one. lab/notes/kernels.md says what was measured on which processor.
enum class Prefetch : std::uint32_t { off, near, far };

std::string_view name_of(Prefetch where) noexcept;

/// What STEADFOLD_PREFETCH names (order/settings.hpp refuses all else), else what is best on this processor. Only a
/// benchmark changes it.
extern Prefetch prefetch;

}  // namespace steadfold::kernels
