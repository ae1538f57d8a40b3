// The mean of elements with weights: the sum of the products divided by the sum of the weights, rounded once.
// Rank order: none. Cost: an exact sum of products and one of weights; bytes: 24 and those of the two.
// Source: ours; the quotient is that of two integers.
#pragma once

#include <memory>

#include "arithmetic/exact.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

/// Partials of one column; `Block.second` has the weights. No rows: status empty. Sums that are no numbers are divided
/// as IEEE 754 divides them, and so are numbers by a sum of weights that is 0.
std::unique_ptr<PartialKind> make_weighted_mean(ExactType input, ExactType result);

}  // namespace steadfold::arithmetic
