// The plain partial: one vector of values, combined in whatever order the schedule brings; the control, as MPI does it.
// Rank order: kept only where the schedule keeps it. Cost: a merge is one pass over the columns; bytes: 32 + the
// values. Source: MPI 4.0, 6.9. Nothing is promised of its bits, unless no order can change the operator's.
#pragma once

#include <memory>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

/// Vectors of `columns` elements under `op`, which is not copied: it must outlive the kind and its builders.
std::unique_ptr<PartialKind> make_plain(const Operator& op, Count columns);

/// Writes the plain partial of `rows` rows that came to `values` (not looked at where there are none), for builders of
/// other elements; returns its size.
Bytes write_plain(std::span<std::byte> out, Count rows, std::span<const std::byte> values) noexcept;

}  // namespace steadfold::arithmetic
