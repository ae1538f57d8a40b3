// The builder of exact sums. Rank order: irrelevant. Cost: that of Accumulator, or of NarrowColumns.
#pragma once

#include <memory>

#include "arithmetic/exact/ending.hpp"

namespace steadfold::arithmetic {

/// Makes a builder of the partials of make_exact.
std::unique_ptr<Builder> make_exact_builder(Operation operation, Type input, Count columns, const Ending& ending);

}  // namespace steadfold::arithmetic
