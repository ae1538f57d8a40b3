// The plain partial: one vector of values, combined in the order that the schedule gives. MPI libraries reduce in the
// same way, so this partial is the baseline of comparisons.
// Rank order: kept only if the schedule keeps it. Cost: a merge is one pass over the columns; bytes: 32 + the values.
// Source: MPI 4.0, section 6.9. No bits are promised, unless the order does not change the operator's result.
#pragma once

#include <memory>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

/// Makes the kind of partial for vectors of `columns` elements, combined with `op`. `op` is not copied: it must outlive
/// the kind and its builders.
std::unique_ptr<PartialKind> make_plain(const Operator& op, Count columns);

/// Writes the plain partial of `rows` rows with the combined `values` (not read if there are no rows), for builders of
/// other elements. Returns its size.
Bytes write_plain(std::span<std::byte> out, Count rows, std::span<const std::byte> values) noexcept;

}  // namespace steadfold::arithmetic
