#include "arithmetic/rows/strides.hpp"

#include <algorithm>
#include <cstdlib>

namespace steadfold::arithmetic {
namespace {

using order::Bytes;
using order::Count;

/// Whether two axes can be joined: for every operand, the end of the inner axis is the next index of the outer axis.
bool goes_on(const Axis& outer, const Axis& inner) noexcept {
  for (std::size_t i = 0; i < operand_count; ++i)
    if (outer.strides[i] != static_cast<Stride>(inner.extent) * inner.strides[i]) return false;
  return true;
}

/// Writes the smallest number of axes that describe the same elements. Returns their number.
std::uint8_t join(std::span<const Axis> axes, Axis* few) noexcept {
  std::uint8_t count = 0;
  for (const Axis& axis : axes) {
    if (axis.extent == 1 && axes.size() > 1) continue;
    if (count == 0 || !goes_on(few[count - 1], axis)) {
      few[count++] = axis;
    } else {
      const Count extent = few[count - 1].extent * axis.extent;
      few[count - 1] = axis;
      few[count - 1].extent = extent;
    }
  }
  if (count == 0) few[count++] = axes.back();
  return count;
}

Axis touching_rows(const RowShape& shape) noexcept {
  const auto row = static_cast<Stride>(shape.row_bytes());
  return {.extent = 0, .strides = {row, shape.has_factors ? row : 0, shape.has_mask ? 1 : 0}};
}
Axis touching_columns(const RowShape& shape) noexcept {
  const auto element = static_cast<Stride>(shape.element_bytes);
  return {.extent = shape.columns, .strides = {element, shape.has_factors ? element : 0, 0}};
}

Stride offset(std::span<const Axis> axes, Operand operand, Count index) noexcept {
  Stride sum = 0;
  for (std::size_t i = axes.size() - 1; i > 0 && index > 0; --i) {
    sum += static_cast<Stride>(index % axes[i].extent) * axes[i].of(operand);
    index /= axes[i].extent;
  }
  return sum + static_cast<Stride>(index) * axes[0].of(operand);
}

}  // namespace

Strides::Strides(const RowShape& shape) noexcept : axes_{touching_rows(shape), touching_columns(shape)} {
  are_touching_ = are_direct_ = judged(shape);
}

Strides::Strides(const RowShape& shape, std::span<const Axis> rows, std::span<const Axis> columns,
                 const Storage& storage) noexcept
    : row_axes_(join(rows, axes_.data())),
      column_axes_(join(columns, axes_.data() + row_axes_)),
      mask_bytes_(storage.mask_bytes),
      labels_(storage.labels),
      are_direct_(storage.is_aligned && !storage.are_listed && storage.chunk_count == 0 && judged(shape)),
      are_touching_(are_direct_ && axes_[0].of(Operand::first) == static_cast<Stride>(shape.row_bytes())),
      have_columns_apart_(storage.are_listed ||
                          (shape.columns > 1 && std::abs(this->rows().back().of(Operand::first)) <
                                                    std::abs(this->columns().back().of(Operand::first)))),
      are_listed_(storage.are_listed),
      has_bitmap_(storage.has_bitmaps),
      are_chunks_direct_(storage.is_aligned && !storage.has_bitmaps && judged(shape)),
      chunk_count_(storage.chunk_count) {}

bool Strides::judged(const RowShape& shape) const noexcept {
  if (row_axes_ > 1 || column_axes_ > 1) return false;
  const Axis& row = axes_[0];
  const auto in_one_piece = [&](Operand operand) {
    return shape.columns <= 1 || axes_[1].of(operand) == static_cast<Stride>(shape.element_bytes);
  };
  const Stride apart = row.of(Operand::first);
  if (!in_one_piece(Operand::first) || apart < 0 || static_cast<Bytes>(apart) % alignment_of(shape.element_bytes) != 0)
    return false;
  if (shape.has_factors && (row.of(Operand::second) != apart || !in_one_piece(Operand::second))) return false;
  return !shape.has_mask || (mask_bytes_ == 1 && row.of(Operand::mask) == 1);
}

const std::byte* Strides::address(const Operands& operands, Operand operand) const noexcept {
  const std::byte* const begin = this->begin(operands, operand);
  if (begin == nullptr) return nullptr;
  return moved(begin, offset(rows(), operand, operands.row) + offset(columns(), operand, operands.column));
}

Strides::Reach Strides::reach(Operand operand, Count row_count, Bytes element_bytes) const noexcept {
  Reach found;
  if (row_count == 0) return found;
  const auto extend = [&](const Axis& axis, Count extent) {
    const Stride step = static_cast<Stride>(std::max<Count>(extent, 1) - 1) * axis.of(operand);
    (step < 0 ? found.begin : found.end) += step;
  };
  Count inner = 1;
  for (const Axis& axis : rows().subspan(1)) {
    extend(axis, axis.extent);
    inner *= axis.extent;
  }
  extend(axes_[0], (row_count + inner - 1) / inner);
  for (const Axis& axis : columns()) extend(axis, axis.extent);
  found.end += static_cast<Stride>(element_bytes);
  return found;
}

}  // namespace steadfold::arithmetic
