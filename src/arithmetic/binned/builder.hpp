// Makes binned sums from rows. The kernels of kernels/slices find the largest term of a tile of rows (rows that stay in
// the cache), and distribute the terms to bins, in one pass.
// Rank order: none. Cost: some ten operations per term. Source: Lapillonne & Peltekov 2013; see
// arithmetic/binned/bins.hpp.
#pragma once

#include <memory>

#include "arithmetic/binned/record.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

std::unique_ptr<Builder> make_binned_builder(const binned_record::BinnedShape& shape);

}  // namespace steadfold::arithmetic
