// The instruction sets that kernels are built for, and the one that runs.
// Rank order: not concerned. Cost: `chosen` is a load after the first call. Source: ours; Highway names the sets.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace steadfold::kernels {

/// `scalar` is the reference: it is always there, and every other one equals it bit for bit.
enum class Target : std::uint32_t { scalar, sse4, avx2, avx512, neon, sve };

std::string_view name_of(Target target) noexcept;

/// What was built and runs on this machine, from the plainest to the best; `scalar` is the first.
std::span<const Target> available() noexcept;

/// What STEADFOLD_TARGET names, else the best. `scalar` where it names one that is not available: see `forced`.
Target chosen() noexcept;

/// What STEADFOLD_TARGET says; empty where it is not set.
std::string_view forced() noexcept;
/// Whether STEADFOLD_TARGET is unset or names a target that is available.
bool forced_is_available() noexcept;

}  // namespace steadfold::kernels
