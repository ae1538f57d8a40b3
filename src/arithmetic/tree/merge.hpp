// Merges two tree records whose intervals are known in advance, as in a plan. Everything that depends on the intervals
// is computed once.
// Rank order: the nodes of lower intervals are on the left. Cost: a comparison of two heads, one operation per pair of
// siblings, and two copies of each value.
#pragma once

#include <memory>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

/// Prepares the merge of records of rows of `columns` elements, combined with `op`, which must outlive the result.
/// `digest` is the digest in their headers. Returns null in four cases: a set is empty, the sets overlap, the records
/// have too many values, or `op` has no function `combine_listed`. Operators with this function never fail.
std::unique_ptr<PreparedMerge> prepare_tree_merge(const Operator& op, Count columns, std::uint64_t digest,
                                                  const order::IntervalSet& left, const order::IntervalSet& right);

}  // namespace steadfold::arithmetic
