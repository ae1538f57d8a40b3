// Adds rows with any strides, and rows selected by a mask, to exact sums that a program keeps.
// Rank order: none. Cost: that of the state. If the elements of a column are not contiguous, or a mask selects them,
// one more pass through the first-level cache.
#pragma once

#include "arithmetic/exact/state.hpp"
#include "arithmetic/rows/strides.hpp"

namespace steadfold::arithmetic {

/// Rows of an array. Their mask, if there is one, selects the same rows for all columns.
struct StridedRows {
  const RowShape& shape;  // shape of the rows, with the number of columns of the state
  const Strides& strides;
  Operands data;
  Count count = 0;

  StridedRows part(Count begin, Count end) const noexcept { return {shape, strides, data.at(begin, 0), end - begin}; }
};

/// Adds the rows to the state, or removes them. Rows that the mask leaves out are not read and not counted. May throw
/// std::bad_alloc after it has added some of the rows.
void add_strided(ExactState& state, const StridedRows& rows, Way way);

}  // namespace steadfold::arithmetic
