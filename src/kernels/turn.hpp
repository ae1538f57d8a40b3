// Turns rows over into columns: elements that stand side by side in a row go to columns, where rows stand side by side.
// Cost: one shuffle per two doubles where vectors have four of them; memory is read and written once.
// The shuffles are those by which 4 x 4 matrices are transposed everywhere.
#pragma once

#include <cstddef>

#include "kernels/target.hpp"
#include "order/index.hpp"

namespace steadfold::kernels {

/// Rows whose elements touch, and columns whose elements will; strides are in bytes, of any sign.
struct Turning {
  const std::byte* from;
  std::ptrdiff_t row_stride;
  std::byte* to;
  std::ptrdiff_t column_stride;
  order::Count rows;
  order::Count columns;
};

/// Copies element (row, column) from `from + row * row_stride + column * size` to `to + column * column_stride + row *
/// size`. The memories do not overlap; elements need not be aligned.
using TurnOver = void (*)(const Turning& turning) noexcept;

/// The target's kernel for elements of `size` bytes, the reference where it has none. size: 4 or 8.
template <std::size_t size>
TurnOver turn_over(Target target) noexcept;

}  // namespace steadfold::kernels
