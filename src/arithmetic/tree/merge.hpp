// Merging two tree records whose intervals are known before they come, as those of a plan are: all that depends on the
// intervals is worked out once.
// Rank order: the lower interval's nodes stand on the left. Cost: a comparison of two heads, and one operation per pair
// of siblings.
#pragma once

#include <memory>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

/// For records of rows of `columns` elements under `op`, which must outlive it. `digest` is the one in their headers.
/// Null unless each of the two covers one interval, the two touch, and the operator is one of those that fold, which
/// never fail.
std::unique_ptr<PreparedMerge> prepare_tree_merge(const Operator& op, Count columns, std::uint64_t digest,
                                                  const order::IntervalSet& left, const order::IntervalSet& right);

}  // namespace steadfold::arithmetic
