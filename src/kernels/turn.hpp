// Transposes rows into columns: before, the elements of a row are contiguous; afterwards, the elements of a column are.
// Cost: one shuffle per two doubles if vectors have four doubles. Memory is read and written once. The shuffles are the
// usual ones for the transposition of 4 x 4 matrices.
#pragma once

#include <cstddef>

#include "kernels/target.hpp"
#include "order/index.hpp"

namespace steadfold::kernels {

/// Rows with contiguous elements, and columns whose elements will be contiguous. Strides are in bytes, and may be
/// negative.
struct Turning {
  const std::byte* from;
  std::ptrdiff_t row_stride;
  std::byte* to;
  std::ptrdiff_t column_stride;
  order::Count rows;
  order::Count columns;
};

/// Copies element (row, column) from `from + row * row_stride + column * size` to `to + column * column_stride + row *
/// size`. Source and target must not overlap; elements need not be aligned.
using TurnOver = void (*)(const Turning& turning) noexcept;

/// Returns the target's kernel for elements of `size` bytes (4 or 8), or the reference if the target has none.
template <std::size_t size>
TurnOver turn_over(Target target) noexcept;

}  // namespace steadfold::kernels
