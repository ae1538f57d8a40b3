// The instruction sets that kernels are built for, and the one that runs.
// Cost: `chosen` is one load after the first call. Source: ours; Highway names the sets.
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

}  // namespace steadfold::kernels
