// The tree record: the partial of the binary tree over element indices, for any operator, the same for every split.
// Rank order: irrelevant, the record knows which rows it covers. Cost: a merge copies or combines every node once;
// bytes: 32 + 16 per interval + at most 2 floor(log2 n) + 1 nodes per interval. Source: [S0] chapter 2 for the
// tree, ours for the record.
//
// Bytes: Header, u32 interval count, u32 0, u64 node count; the intervals, ascending, touching ones joined; the nodes'
// values from left to right, `columns` elements each, which may stand apart. Levels follow from the intervals.
#pragma once

#include <memory>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

/// Records of rows of `columns` elements under `op`, which is not copied: it must outlive the kind and its builders.
std::unique_ptr<PartialKind> make_tree(const Operator& op, Count columns);

}  // namespace steadfold::arithmetic
