// How rows become binned sums: the largest term of a tile of rows is found and its terms are dealt out to bins in one
// pass, by the kernels of kernels/shares.
// Rank order: none. Cost: some ten operations per term. Source: [S2]; see arithmetic/binned/bins.hpp.
#pragma once

#include <memory>

#include "arithmetic/binned/record.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

std::unique_ptr<Builder> make_binned_builder(const binned_record::BinnedShape& shape);

}  // namespace steadfold::arithmetic
