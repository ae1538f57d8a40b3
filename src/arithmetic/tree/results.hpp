// Results that are made from the value of a tree: means and Euclidean norms.
// Rank order: that of the tree. Cost: one division or square root for each result. Source: IEEE 754-2019 for both.
#pragma once

#include <memory>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

/// Makes a kind whose results are made from those of `tree`, a kind of method tree: for `mean` the sum divided by the
/// number of rows, for `norm2` the square root. Returns `tree` itself for other operations. `type` is the type of the
/// values, a real floating-point type, and `columns` is their number.
std::unique_ptr<PartialKind> make_tree_result(std::unique_ptr<PartialKind> tree, Operation operation, Type type,
                                              Count columns);

}  // namespace steadfold::arithmetic
