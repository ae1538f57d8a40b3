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

/// Sets `distribution` to the rule of that name. False, and nothing set, if there is no such rule.
bool distribution_named(std::string_view name, Distribution& distribution) noexcept;

/// The deviation (alpha in [S0] eq. 3.9, a fraction of N/p) that [S0] uses for its table 3.3.
inline constexpr double usual_deviation = 0.2;

/// The element count of every rank; the sum is `element_count`. Only `optimized` uses `deviation`.
std::vector<Count> counts(Distribution distribution, Count element_count, Rank rank_count,
                          double deviation = usual_deviation);

/// The shares as a closed form, for `lower`, `upper` and `power2`; `nullopt` for the others.
std::optional<TwoShares> closed_form(Distribution distribution, Count element_count, Rank rank_count) noexcept;

/// Where the elements of every rank begin.
std::vector<Index> starts_of(std::span<const Count> counts);

/// The cost that `balanced` minimises, in seconds: the additions of the rank with most elements and, for every round of
/// a binomial tree, sending and combining the nodes of that round's largest record.
double balance_seconds(std::span<const Count> counts);

/// The deviation at which `optimized` costs least, among 0, 0.2, and the powers of two from 1 down to where no start
/// moves. The smallest wins a tie.
double balanced_deviation(Count element_count, Rank rank_count);

}  // namespace steadfold::order
