// The builder of exact sums.
// Rank order: none. Cost: as Accumulator, or as NarrowColumns.
#pragma once

#include <memory>

#include "arithmetic/exact/ending.hpp"

namespace steadfold::arithmetic {

/// A builder of the partials of make_exact.
std::unique_ptr<Builder> make_exact_builder(ExactOperation operation, ExactType input, Count columns,
                                            const Ending& ending);

}  // namespace steadfold::arithmetic
