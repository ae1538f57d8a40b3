// Rows of a few columns, for kernels in which each lane of a vector has one column. No element is moved before it is
// added.
#pragma once

#include <array>
#include <cstddef>

#include "order/index.hpp"

namespace steadfold::kernels {

/// The largest number of columns of one call: as many as doubles in a cache line.
inline constexpr order::Count most_columns = 8;

template <class Value>
using EachColumn = std::array<Value, most_columns>;

/// Some rows of some columns, at most `most_columns` unless a function says otherwise. The elements of a row are
/// contiguous, aligned or not; rows are `row_stride` bytes apart.
struct ColumnRows {
  const std::byte* first;
  const std::byte* second;  // the second factors, with the same row stride, or null
  order::Count row_stride;
  order::Count rows;
  order::Count columns;
};

}  // namespace steadfold::kernels
