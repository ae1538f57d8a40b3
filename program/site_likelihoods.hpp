// Computes numbers that resemble per-site log-likelihoods, from their index: negative, most of them small, over three
// orders of magnitude. Each rank computes its own numbers. Cost: about 2 ns per number. Source: SplitMix64.
#pragma once

#include <cstdint>

namespace steadfold::command::studies {

constexpr double site_likelihood(std::uint64_t index) noexcept {
  std::uint64_t word = (index + 1) * 0x9E3779B97F4A7C15u;
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9u;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EBu;
  const double uniform = static_cast<double>((word ^ (word >> 31)) >> 11) * 0x1p-53;
  return -0.05 - 60 * uniform * uniform * uniform;
}

}  // namespace steadfold::command::studies
