// How the rows of a call stand in memory: strides of any sign and size, so that rows may be padded, transposed,
// reversed, or all the same one.
// Cost: judging them some ten instructions, once for all calls that have the same. Source: ours.
#pragma once

#include <cstddef>

#include "order/index.hpp"

namespace steadfold::arithmetic {

using Stride = std::ptrdiff_t;  // bytes

/// What a call has besides the elements that it combines.
enum class Second : unsigned char { none, factors, mask };

/// What a row is: so many elements, and as many factors or one byte of a mask.
struct RowShape {
  order::Bytes element_bytes = 0;
  order::Count columns = 0;
  Second second = Second::none;

  order::Bytes row_bytes() const noexcept { return columns * element_bytes; }
};

/// Element c of row r of an operand stands at r * row + c * element from where its data begin, aligned or not.
struct OperandStrides {
  Stride row = 0;
  Stride element = 0;
};

/// Whether the elements of each row touch.
inline bool are_in_one_piece(const OperandStrides& strides, const RowShape& shape) noexcept {
  return shape.columns <= 1 || strides.element == static_cast<Stride>(shape.element_bytes);
}
/// Those of rows that touch too.
inline OperandStrides touching(const RowShape& shape) noexcept {
  return {static_cast<Stride>(shape.row_bytes()), static_cast<Stride>(shape.element_bytes)};
}

/// Where the data of a call begin: its elements, and the other factors or the mask, or null.
struct Operands {
  const std::byte* first = nullptr;
  const std::byte* second = nullptr;
};

/// How both operands of calls of one shape stand.
class Strides {
 public:
  Strides(const RowShape& shape, const OperandStrides& first, const OperandStrides& second) noexcept
      : first_(first), second_(second), are_direct_(judged(shape)) {}

  /// Row after row without gaps.
  explicit Strides(const RowShape& shape) noexcept : Strides(shape, touching(shape), second_touching(shape)) {}

  const OperandStrides& first() const noexcept { return first_; }
  const OperandStrides& second() const noexcept { return second_; }

  /// Whether builders take the rows where they stand: the elements of each row touch, and the rows of both factors, or
  /// the bytes of the mask, are as far apart as a Block says. Rows that go backwards, or leave elements unaligned, are
  /// not taken.
  bool are_direct() const noexcept { return are_direct_; }

  /// Where they stand from another row and column on. The mask has no columns.
  Operands at(const Operands& begin, order::Count row, order::Count column) const noexcept {
    return {at(begin.first, first_, row, column), at(begin.second, second_, row, column)};
  }

 private:
  static const std::byte* at(const std::byte* begin, const OperandStrides& strides, order::Count row,
                             order::Count column) noexcept {
    if (begin == nullptr) return nullptr;
    return begin + (static_cast<Stride>(row) * strides.row + static_cast<Stride>(column) * strides.element);
  }
  static OperandStrides second_touching(const RowShape& shape) noexcept {
    return shape.second == Second::mask ? OperandStrides{1, 0} : touching(shape);
  }
  bool judged(const RowShape& shape) const noexcept;

  OperandStrides first_;
  OperandStrides second_;
  bool are_direct_;
};

}  // namespace steadfold::arithmetic
