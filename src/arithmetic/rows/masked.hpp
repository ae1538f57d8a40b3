// Partials of the rows that a mask selects: those of another kind, and the number of all rows, left out or not.
// Rank order: that of the kind, which must need no indices. Cost: one pass through the first-level cache before the
// kind's own, over all rows; the kind sees selected ones alone. Bytes: 8 more than the kind's.
#pragma once

#include <memory>

#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

/// `Block.mask` selects rows. Rows, and their factors, that are left out are
/// never looked at, so no value of theirs counts, NaN or infinity; they count as rows that were brought. If no row is
/// selected, the result is that of no rows.
std::unique_ptr<PartialKind> make_masked(std::unique_ptr<PartialKind> kind, Bytes element_bytes, Count columns);

}  // namespace steadfold::arithmetic
