// Partials of sums over a few wide rows. The partials are the rows themselves: a merge puts them side by side, and a
// finish adds them up. They are shorter than partials of digits or bins, and nothing is computed before the end.
// Rank order: none. Cost: a merge copies; a finish costs as much as row_sums.hpp.
#pragma once

#include <memory>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"
#include "kernels/cascade.hpp"

namespace steadfold::arithmetic {

/// The most rows over all ranks. If columns are divided among ranks, then with `halving_doubling` a rank sends the
/// bytes of two rows in all; digits of `exact` would take the bytes of 2.5 rows. If whole partials travel, kept rows
/// take more bytes than digits.
inline constexpr Count most_kept_rows = 16;
static_assert(most_kept_rows <= kernels::most_cascaded);

/// Sums of f64 or f32 in the same type, with the bits of `make_exact`, or, with a `bin_count`, of `make_binned`.
/// Partials of fewer than two rows, or of more than `most_kept_rows` rows, cannot be finished.
std::unique_ptr<PartialKind> make_kept_rows(Type type, int bin_count, Count columns);

}  // namespace steadfold::arithmetic
