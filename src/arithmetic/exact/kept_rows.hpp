// Partials of sums over a few wide rows: the rows themselves, which a merge puts side by side and a finish adds up.
// They are shorter than partials of digits or bins, and nothing is computed before the end.
// Rank order: none. Cost: a merge copies; a finish takes what row_sums.hpp does.
#pragma once

#include <memory>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"
#include "kernels/cascade.hpp"

namespace steadfold::arithmetic {

/// The most rows over all ranks. Where columns are cut among ranks, a rank sends two rows' columns in all then, by
/// `halving_doubling`, where it would send 2.5 in digits of `exact`. Where whole partials travel it sends more.
inline constexpr Count most_kept_rows = 16;
static_assert(most_kept_rows <= kernels::most_cascaded);

/// Sums of f64 or f32 in the same type, in bits those of `make_exact`, or, with a `bin_count`, of `make_binned`.
/// Partials of fewer than two rows cannot be finished, nor those of more than `most_kept_rows`.
std::unique_ptr<PartialKind> make_kept_rows(Type type, int bin_count, Count columns);

}  // namespace steadfold::arithmetic
