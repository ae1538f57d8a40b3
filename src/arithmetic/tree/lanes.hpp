// The tree with lanes: row i belongs to lane i mod L. Each lane is reduced by the tree, and the results of the lanes,
// in their order, by the tree again. Rank order: within a lane left op right; lanes permute the rows, so the operator
// must be commutative. Cost: a merge copies or combines every value once; bytes: 32 + 16 per interval + the values,
// less than 2 L log2(n / L) + 3 L rows for an interval. Source: P4016R0, a proposal to the C++ committee.
//
// Bytes: a tree record (see tree.hpp), with other values for an interval: its rows before the first whole lap,
// the maximal nodes of its whole laps, its rows after them. Touching intervals are joined, and rows that complete a lap
// become a node. So the record depends on the rows alone, and merging is associative.
#pragma once

#include <memory>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

/// Records of rows of `columns` elements, combined with `op` in 2 to order::most_lanes lanes. `op` is not copied: it
/// must outlive the kind and its builders.
std::unique_ptr<PartialKind> make_tree_with_lanes(const Operator& op, Count columns, Count lanes);

}  // namespace steadfold::arithmetic
