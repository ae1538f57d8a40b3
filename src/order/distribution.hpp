// Rules that spread N elements over p ranks in rank order: how many each rank holds.
// Rank order: kept. Cost: O(1) for closed forms, O(p) for a list; `balanced` up to 60 lists.
// Source: [S0] eq. 1.3, 1.4, 3.8 and Algorithm 3; `balanced` is ours.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "order/starts.hpp"

namespace steadfold::order {

enum class Distribution { lower, upper, power2, optimized, balanced };

/// The rule of that name, or nothing.
bool distribution_named(std::string_view name, Distribution& distribution) noexcept;

/// The deviation (alpha of [S0] eq. 3.9, a share of N/p) at which [S0] shows its table 3.3.
inline constexpr double usual_deviation = 0.2;

/// The element count of every rank; their sum is `element_count`. `deviation` counts for `optimized` only.
std::vector<Count> counts(Distribution distribution, Count element_count, Rank rank_count,
                          double deviation = usual_deviation);

/// Without a list: `lower`, `upper` and `power2`; nothing for the others.
std::optional<TwoShares> closed_form(Distribution distribution, Count element_count, Rank rank_count) noexcept;

/// Where the elements of every rank begin.
std::vector<Index> starts_of(std::span<const Count> counts);

/// What `balanced` makes least, in seconds: the additions of the rank that holds most, then in each round of a binomial
/// tree the largest record under way, its nodes sent and combined.
double balance_seconds(std::span<const Count> counts);

/// The deviation at which `optimized` costs least: of 0, 0.2, and the powers of two from 1 down to where no start
/// moves. Of equal ones the smallest.
double balanced_deviation(Count element_count, Rank rank_count);

}  // namespace steadfold::order
