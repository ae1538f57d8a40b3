// The tree record: the partial of the binary tree over element indices, for any operator. The bytes of the record do
// not depend on how the elements are divided among ranks.
// Rank order: irrelevant, because the record has the indices of its rows. Cost: a merge copies or combines every node
// once; bytes: 32 + 16 per interval + at most 2 floor(log2 n) + 1 nodes per interval. Source: Stelz 2022, chapter 2,
// for the tree; the record is new.
//
// Bytes: Header, u32 interval count, u32 0, u64 node count; the intervals, ascending, touching intervals joined; the
// values of the nodes from left to right, `columns` elements each. The values may be in separate memory. The intervals
// give the levels of the nodes.
#pragma once

#include <memory>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

/// Makes the kind of partial for rows of `columns` elements, combined with `op`. `op` is not copied: it must outlive
/// the kind and its builders.
std::unique_ptr<PartialKind> make_tree(const Operator& op, Count columns);

}  // namespace steadfold::arithmetic
