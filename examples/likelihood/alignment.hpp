// A DNA alignment simulated along the true tree under the Jukes-Cantor model. Every draw is a function of (seed, site,
// branch) alone, so each rank makes exactly its own sites and the alignment does not depend on how many ranks there
// are.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tree.hpp"

namespace likelihood {

/// The nucleotides of all taxa at one site, 0..3.
using Site = std::array<std::uint8_t, taxon_count>;

/// Sites begin..end-1 of the alignment.
std::vector<Site> simulate(std::uint64_t begin, std::uint64_t end);

}  // namespace likelihood
