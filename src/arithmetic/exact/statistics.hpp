// The usual statistics of a field, in one pass and one message: the number of elements, the least and the greatest
// element and their indices, the mean, the variances and the standard deviations.
// Rank order: none. Cost: an exact sum, an exact sum of squares and two folds of every tile of rows; bytes: 64, and the
// bytes of the two sums. The variance is (n S2 - S1^2) / (n (n - ddof)) in integers, divided and rounded once.
#pragma once

#include <cstdint>
#include <memory>

#include "arithmetic/exact/exact.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

/// The result of a call for statistics. sf_statistics in steadfold.h has the same layout.
struct Statistics {
  std::uint64_t count;
  double min;
  Index min_index;
  double max;
  Index max_index;
  double mean;
  double variance;         // variance with ddof 0
  double sample_variance;  // variance with ddof 1
  double deviation;
  double sample_deviation;
};
static_assert(sizeof(Statistics) == 80);

/// Makes the kind of partial for the statistics of one column. `Block.mask`, which may be null, selects elements; other
/// elements are never read. Without elements the status is not `empty`: the count is 0 and the numbers are NaN. Each
/// number is rounded once, to the format `result`, and stored as a double.
std::unique_ptr<PartialKind> make_statistics(Type input, Type result);

}  // namespace steadfold::arithmetic
