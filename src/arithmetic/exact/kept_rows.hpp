// Partials of sums over a few wide rows. The partials are the rows themselves: a merge puts them side by side, and a
// finish adds them up. The partials are shorter than partials of digits or bins, and nothing is computed before the
// end.
// Rank order: none. Cost: a merge copies; a finish costs as much as the functions of row_sums.hpp.
#pragma once

#include <memory>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"
#include "kernels/cascade.hpp"

namespace steadfold::arithmetic {

/// The largest number of rows over all ranks for which rows are kept. If columns are divided among ranks, then with
/// `halving_doubling` a rank sends the bytes of two rows in all; digits of `exact` would take the bytes of 2.5 rows. If
/// whole partials are sent, kept rows take more bytes than digits.
inline constexpr Count most_kept_rows = 16;
static_assert(most_kept_rows <= kernels::most_cascaded);

/// Makes the kind of partial for sums of f64 or f32 in the same type. The bits are the same as with `make_exact`, or,
/// with a `bin_count`, as with `make_binned`. Partials of fewer than two rows, or of more than `most_kept_rows` rows,
/// cannot be finished.
std::unique_ptr<PartialKind> make_kept_rows(Type type, int bin_count, Count columns);

}  // namespace steadfold::arithmetic
