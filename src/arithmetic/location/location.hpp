// The least or greatest value of a column, and the index of the first row that has it.
// Rank order: none, because the order of (value, index) is total. Cost: see located.hpp. Bytes: as a plain partial with
// 16 bytes per column.
// Source: MPI 4.0, section 6.9.4 (MINLOC, MAXLOC); IEEE 754-2019, section 9.6, for the order of values.
#pragma once

#include <memory>
#include <vector>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

/// Makes the kind of partial. Results are pairs of 16 bytes: the value at byte 0, the 64-bit index of its row at byte
/// 8. If an element is NaN, the result is the canonical NaN; -0 is less than +0; the lowest index of equal values is
/// given. `Block.mask`, which may be null, selects rows; other rows are never read. If no rows are selected, the status
/// is empty. `operation` is min_location or max_location, `type` is a number type.
std::unique_ptr<PartialKind> make_location(Operation operation, Type type, Count columns);

/// Returns the result of a column without rows, if other columns have results: a NaN, or 0 for integers, and the
/// highest index.
std::vector<std::byte> location_of_none(Type type);

}  // namespace steadfold::arithmetic
