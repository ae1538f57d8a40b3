// Merges two tree records whose intervals are known in advance, as in a plan. Everything that depends on the intervals
// is computed once.
// Rank order: the nodes of the lower interval are on the left. Cost: a comparison of two heads, and one operation per
// pair of siblings.
#pragma once

#include <memory>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

/// Prepares the merge of records of rows of `columns` elements, combined with `op`, which must outlive the result.
/// `digest` is the digest in their headers. Returns null unless each of the two sets is one interval, the two intervals
/// touch, and the operator has fold functions (these operators never fail).
std::unique_ptr<PreparedMerge> prepare_tree_merge(const Operator& op, Count columns, std::uint64_t digest,
                                                  const order::IntervalSet& left, const order::IntervalSet& right);

}  // namespace steadfold::arithmetic
