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

/// Whether kernels ask for memory before they need it. Not on AMD's processors, whose own prefetching keeps memory
/// busy: on an EPYC (Zen 4) asking made the tree over 1e7 doubles take 1.8 times as long, and other sums 1.1 times.
extern const bool prefetches;

}  // namespace steadfold::kernels
