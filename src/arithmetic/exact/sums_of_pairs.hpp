// Results of pairs of numbers that depend on several exact sums: the mean of elements with weights, covariances,
// correlations. The results are rounded once.
// Rank order: none. Cost: that of the exact sums: two for a mean, three for a covariance, five for a correlation.
// Bytes: 16, 8 for every sum except the first, and the bytes of the sums. Results are quotients of two integers.
#pragma once

#include <memory>

#include "arithmetic/exact/exact.hpp"
#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

/// Makes the kind of partial for one column and an operation that has several sums and factors. `Block.second` has the
/// second numbers. Without rows the status is empty.
///
/// A weighted mean is the sum of the products divided by the sum of the second numbers, the weights. If a sum is
/// infinite or NaN, or the sum of weights is 0, the division follows IEEE 754.
///
/// A covariance of n pairs is (n P - X Y) / (n (n - ddof)) of the sums of products, of first and of second numbers, in
/// integers, divided and rounded once. ddof is 0, or 1 for samples. The result is NaN if a number is NaN or infinite,
/// or if n is not above ddof.
///
/// A correlation is (n P - X Y) / sqrt((n A - X^2) (n B - Y^2)), where A and B are the sums of the squares of first and
/// of second numbers. It is the root of a quotient of integers, rounded once. The result is NaN if a number is NaN or
/// infinite, or if the divisor is 0.
std::unique_ptr<PartialKind> make_sums_of_pairs(Operation operation, Type input, Type result);

}  // namespace steadfold::arithmetic
