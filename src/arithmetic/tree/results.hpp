// Results that are made from the value of a tree: means and Euclidean norms.
// Rank order: that of the tree. Cost: one division or square root for each result. Source: IEEE 754-2019 for both.
#pragma once

#include <memory>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

/// Wraps `tree`, a kind of method tree. The results for `mean` are the sums of `tree`, divided by the number of rows.
/// The results for `norm2` are the square roots of these sums. For other operations, returns `tree` itself. `type` is
/// the type of the values, f64 or f32, and `columns` is their number.
std::unique_ptr<PartialKind> make_tree_result(std::unique_ptr<PartialKind> tree, Operation operation, Type type,
                                              Count columns);

}  // namespace steadfold::arithmetic
