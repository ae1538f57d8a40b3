// The rank counts at which schedules with ports are proved: all up to 128, and of those to 512 every eleventh and the
// neighbours of multiples of powers of n + 1, where rounds and digits change. STEADFOLD_FULL=1: all.
#pragma once

#include <cstdlib>
#include <vector>

#include "schedule/registry.hpp"

namespace steadfold::schedule {

inline std::vector<Rank> rank_counts_to_512(int ports) {
  std::vector<Rank> all;
  const Rank base = static_cast<Rank>(ports) + 1;
  Rank power = base;  // the largest that is not above `ranks`
  for (Rank ranks = 1; ranks <= 512; ++ranks) {
    if (power * base <= ranks) power *= base;
    const Rank beyond = (ranks + 1) % power;  // 0, 1, 2: a multiple of the power, or beside one
    const bool is_near = power > 16 && beyond <= 2;
    if (ranks <= 128 || is_near || ranks % 11 == 0 || std::getenv("STEADFOLD_FULL") != nullptr) all.push_back(ranks);
  }
  return all;
}

}  // namespace steadfold::schedule
