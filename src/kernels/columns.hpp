// Rows of a few columns, for kernels whose lanes are columns: no element is moved before it is added.
#pragma once

#include <array>
#include <cstddef>

#include "order/index.hpp"

namespace steadfold::kernels {

/// Columns of one call: the doubles of a cache line.
inline constexpr order::Count most_columns = 8;

template <class Value>
using EachColumn = std::array<Value, most_columns>;

/// Some rows of some columns, at most `most_columns` where nothing else is said. The elements of a row touch, aligned
/// or not; rows are `row_stride` bytes apart.
struct ColumnRows {
  const std::byte* first;
  const std::byte* second;  // other factors, which stand likewise, or null
  order::Count row_stride;
  order::Count rows;
  order::Count columns;
};

}  // namespace steadfold::kernels
