// Partials of the rows that a mask selects: a partial of another kind, and the number of all rows, selected or not.
// Rank order: that of the kind, which must not need indices. Cost: one pass of all rows through the first-level cache,
// and the kind's cost for the selected rows. Bytes: 8 more than the kind's.
#pragma once

#include <memory>

#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

/// Makes the kind of partial. `Block.mask` selects rows. The elements and factors of other rows are never read, so even
/// a NaN or an infinity there has no effect. These rows count in the number of all rows. If no row is selected, the
/// result is the result of no rows.
std::unique_ptr<PartialKind> make_masked(std::unique_ptr<PartialKind> kind, Bytes element_bytes, Count columns);

}  // namespace steadfold::arithmetic
