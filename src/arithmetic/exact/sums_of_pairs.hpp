// Results of pairs of numbers that several exact sums decide, rounded once: the mean of elements with
// weights, covariances.
// Rank order: none. Cost: that of the sums, of products, of first and of second numbers; bytes: 16, 8 for every
// sum but the first, and those of the sums. Results are quotients of two integers.
#pragma once

#include <memory>

#include "arithmetic/exact/exact.hpp"
#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

/// Partials of one column, of an operation that has several sums and factors; `Block.second` has the second numbers. No
/// rows: status empty.
///
/// A weighted mean is the sum of the products divided by the sum of the second numbers, the weights. Sums that are no
/// numbers are divided as IEEE 754 divides them, and so are numbers by a sum of weights that is 0.
///
/// A covariance of n pairs is (n P - X Y) / (n (n - ddof)) of the sums of products, of first and of second numbers, in
/// integers, divided and rounded once; ddof is 0, or 1 of samples. NaN where a number is NaN or infinite, and where n
/// is not above ddof.
std::unique_ptr<PartialKind> make_sums_of_pairs(Operation operation, ExactType input, ExactType result);

}  // namespace steadfold::arithmetic
