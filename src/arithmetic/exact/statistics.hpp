// What is mostly asked of a field, in one pass and one message: how many elements, the least and the greatest and where
// they are, the mean, and the variances and deviations.
// Rank order: none. Cost: an exact sum, an exact sum of squares and two folds of every tile of rows; bytes: 64, those
// of the two sums. The variance is (n S2 - S1^2) / (n (n - ddof)) in integers, divided and rounded once.
#pragma once

#include <cstdint>
#include <memory>

#include "arithmetic/exact/exact.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

/// The result; the layout is that of sf_statistics in steadfold.h.
struct Statistics {
  std::uint64_t count;
  double min;
  Index min_index;
  double max;
  Index max_index;
  double mean;
  double variance;         // ddof 0
  double sample_variance;  // ddof 1
  double deviation;
  double sample_deviation;
};
static_assert(sizeof(Statistics) == 80);

/// Partials of one column. `Block.mask`, which may be null, selects elements; others are never looked at. Without
/// elements the result is not `empty`: its count is 0 and its numbers are NaN. Each number is rounded once, to the
/// format `result`, and stored as a double.
std::unique_ptr<PartialKind> make_statistics(ExactType input, ExactType result);

}  // namespace steadfold::arithmetic
