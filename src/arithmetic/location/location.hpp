// The least or greatest value of a column and the index of the first row that has it.
// Rank order: none, the order of (value, index) is total. Cost: see located.hpp; 16 bytes per column, as plain.
// Source: MPI 4.0, 6.9.4 (MINLOC, MAXLOC); IEEE 754-2019 9.6 for the order of values.
#pragma once

#include <memory>
#include <vector>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

/// Results are pairs of 16 bytes: the value at byte 0, the 64-bit index of its row at byte 8. A NaN wins and comes out
/// canonical; -0 is below +0; of equal values the lowest index is given. `Block.mask`, which may be null, selects rows;
/// others are never looked at. No rows, or none selected: status empty. `operation` is min_location or max_location,
/// `type` a number type.
std::unique_ptr<PartialKind> make_location(Operation operation, Type type, Count columns);

/// What stands for the result of no rows, where there are results of others: a NaN, or 0 of integers, and the highest
/// index.
std::vector<std::byte> location_of_none(Type type);

}  // namespace steadfold::arithmetic
