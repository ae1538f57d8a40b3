// The way into exact sums that a program keeps, for rows that stand anywhere, and of which a mask may select some.
// Rank order: none. Cost: that of the state; elements of a column that do not touch, and selected ones, take a pass
// through the first-level cache.
#pragma once

#include "arithmetic/exact/state.hpp"
#include "arithmetic/rows/strides.hpp"

namespace steadfold::arithmetic {

/// Rows of an array. Their mask, if there is one, selects the same ones for all columns.
struct StridedRows {
  const RowShape& shape;  // of as many columns as the state has
  const Strides& strides;
  Operands data;
  Count count = 0;

  StridedRows part(Count begin, Count end) const noexcept { return {shape, strides, data.at(begin, 0), end - begin}; }
};

/// Adds the rows to the state, or takes them away. Rows that are left out are not looked at and do not count. May throw
/// std::bad_alloc, with some of the rows added.
void add_strided(ExactState& state, const StridedRows& rows, Way way);

}  // namespace steadfold::arithmetic
