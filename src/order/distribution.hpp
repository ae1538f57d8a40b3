// Rules that distribute N elements over p ranks in rank order: each rule gives the element count of every rank.
// Cost: O(1) for closed forms, O(p) for a list; `balanced` computes up to 60 lists.
// Source: Stelz 2022, eq. 1.3, 1.4, 3.8 and Algorithm 3. `balanced` is new.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "order/starts.hpp"

namespace steadfold::order {

enum class Distribution { lower, upper, power2, optimized, balanced };

/// Sets `distribution` to the rule of that name. If there is no rule of this name, returns false and sets nothing.
bool distribution_named(std::string_view name, Distribution& distribution) noexcept;

/// The default deviation (alpha in eq. 3.9 of Stelz 2022, a fraction of N/p), from table 3.3 of Stelz 2022.
inline constexpr double usual_deviation = 0.2;

/// Returns the element count of every rank; the sum is `element_count`. Only `optimized` uses `deviation`.
std::vector<Count> counts(Distribution distribution, Count element_count, Rank rank_count,
                          double deviation = usual_deviation);

/// Returns the element counts in closed form, for `lower`, `upper` and `power2`; `nullopt` for other rules.
std::optional<TwoShares> closed_form(Distribution distribution, Count element_count, Rank rank_count) noexcept;

/// Returns the index at which the elements of every rank begin.
std::vector<Index> starts_of(std::span<const Count> counts);

/// Returns the cost that `balanced` minimises, in seconds: the additions of the rank with most elements plus, for every
/// round of a binomial tree, the time to send and combine the nodes of that round's largest record.
double balance_seconds(std::span<const Count> counts);

/// Returns the deviation at which `optimized` costs least. Tries 0, 0.2, and the powers of two from 1 down to the first
/// that moves no start. If two deviations cost the same, returns the smaller.
double balanced_deviation(Count element_count, Rank rank_count);

}  // namespace steadfold::order
