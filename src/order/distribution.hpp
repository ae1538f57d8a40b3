// Rules that spread N elements over p ranks in rank order: how many each rank holds.
// Rank order: kept. Cost: O(p). Source: [S0] eq. 1.3, 1.4, 3.8 and Algorithm 3.
#pragma once

#include <string_view>
#include <vector>

#include "order/index.hpp"

namespace steadfold::order {

enum class Distribution { lower, upper, power2, optimized };

/// The rule of that name, or nothing.
bool distribution_named(std::string_view name, Distribution& distribution) noexcept;

/// The element count of every rank; their sum is `element_count`. `deviation` (alpha of [S0] eq. 3.9, a share of N/p)
/// counts for `optimized` only.
std::vector<Count> counts(Distribution distribution, Count element_count, Rank rank_count, double deviation = 0.2);

}  // namespace steadfold::order
