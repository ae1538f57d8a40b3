// Describes how the rows of a call are stored: by axes with any strides. Rows may be padded, transposed, reversed, or
// all the same row, and may be sections of arrays of up to 15 dimensions. Cost: some ten instructions to classify the
// strides, once for all calls with the same strides.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "order/index.hpp"

namespace steadfold::arithmetic {

using Stride = std::ptrdiff_t;  // distance in bytes

inline constexpr std::size_t most_axes = 15;

/// The alignment of elements that are passed to operators: the largest power of two that divides their size, at most
/// 16.
constexpr order::Bytes alignment_of(order::Bytes element_bytes) noexcept {
  const order::Bytes divisor = element_bytes & (~element_bytes + 1);
  return divisor == 0 || divisor > 16 ? 16 : divisor;
}
inline bool is_aligned(const std::byte* element, order::Bytes element_bytes) noexcept {
  return reinterpret_cast<std::uintptr_t>(element) % alignment_of(element_bytes) == 0;
}

/// The shape of a row: its elements, the same number of factors if there are any, and a mask, if there is one, that
/// selects rows or elements.
struct RowShape {
  order::Bytes element_bytes = 0;
  order::Count columns = 0;
  bool has_factors = false;
  bool has_mask = false;
  bool has_named_rows = false;  // whether the result has indices of rows

  order::Bytes row_bytes() const noexcept { return columns * element_bytes; }
};

/// The values that are read for one element: the element, its factor, its mask, and the label of its group.
enum class Operand : unsigned char { first, second, mask, label };
inline constexpr std::size_t operand_count = 4;

/// Describes labels, which distribute rows to groups of columns. The columns of group 0 come first, then the columns of
/// group 1, and so on. The data have the columns of only one group; strides of 0 repeat them for all groups.
struct Labels {
  order::Count groups = 0;   // number of groups; 0: there are no labels
  order::Count columns = 1;  // number of columns of a group
  order::Bytes bytes = 0;    // bytes of a label: 1, 2, 4 or 8
  bool is_signed = false;    // for labels of 4 or 8 bytes: whether they are signed; labels below 0 belong to no group
};

/// An axis of an array: its extent, and its stride for each operand. A stride of 0 repeats the operand along the axis.
struct Axis {
  order::Count extent = 0;
  Stride strides[operand_count] = {};

  Stride of(Operand operand) const noexcept { return strides[static_cast<std::size_t>(operand)]; }
};

/// The addresses of a call's data, and the first row and column to which they are applied.
struct Operands {
  const std::byte* first = nullptr;
  const std::byte* second = nullptr;
  const std::byte* mask = nullptr;
  const std::byte* label = nullptr;
  order::Count row = 0;
  order::Count column = 0;

  Operands at(order::Count rows, order::Count columns) const noexcept {
    Operands moved = *this;
    moved.row += rows;
    moved.column += columns;
    return moved;
  }
};

inline const std::byte* begin_of(const Operands& operands, Operand operand) noexcept {
  switch (operand) {
    case Operand::first: return operands.first;
    case Operand::second: return operands.second;
    case Operand::mask: return operands.mask;
    default: return operands.label;
  }
}

/// Facts about the memory of rows that their axes do not give.
struct Storage {
  order::Bytes mask_bytes = 1;  // bytes of an element of the mask; the element selects its row if a byte is not 0
  bool is_aligned = true;       // rows that are not aligned are never used in place
  Labels labels = {};
  // Whether the operand `first` is a list of addresses, one for every column. The strides of the rows then apply from
  // each address on.
  bool are_listed = false;
};

/// The strides of the operands of calls of one shape. Rows are numbered over the row axes, and columns over the column
/// axes, both in C order: the index of the last axis varies fastest. The extent of the first row axis is ignored,
/// because calls of one shape may have any number of rows.
class Strides {
 public:
  /// Describes contiguous rows, and a mask with one byte per row.
  explicit Strides(const RowShape& shape) noexcept;
  /// Describes rows by their axes, and joins axes if possible. There must be at least one axis of rows and one of
  /// columns, and at most `most_axes` + 1 in all.
  Strides(const RowShape& shape, std::span<const Axis> rows, std::span<const Axis> columns,
          const Storage& storage = {}) noexcept;

  std::span<const Axis> rows() const noexcept { return {axes_.data(), row_axes_}; }
  std::span<const Axis> columns() const noexcept { return {axes_.data() + row_axes_, column_axes_}; }
  order::Bytes mask_bytes() const noexcept { return mask_bytes_; }
  const Labels& labels() const noexcept { return labels_; }

  /// Whether builders can take the rows in place: the elements of each row are contiguous, and the strides of both
  /// factors and of the mask are those of a Block. False for rows in descending order, and for rows with unaligned
  /// elements.
  bool are_direct() const noexcept { return are_direct_; }
  /// Whether rows are direct, and also contiguous.
  bool are_touching() const noexcept { return are_touching_; }

  /// Whether the elements of a column are closer to each other than the elements of a row.
  bool have_columns_apart() const noexcept { return have_columns_apart_; }

  /// Whether a list has the address of each column's elements.
  bool are_listed() const noexcept { return are_listed_; }
  /// Returns the address of a column's elements in the list.
  static const std::byte* listed(const std::byte* list, order::Count column) noexcept {
    const void* address = nullptr;
    std::memcpy(&address, list + column * sizeof address, sizeof address);
    return static_cast<const std::byte*>(address);
  }
  /// Returns the address at which an operand begins, for the column in `operands`.
  const std::byte* begin(const Operands& operands, Operand operand) const noexcept {
    const std::byte* const begin = begin_of(operands, operand);
    const bool is_list = are_listed_ && operand == Operand::first && begin != nullptr;
    return is_list ? listed(begin, operands.column) : begin;
  }
  /// Returns the address of an operand for the row and column in `operands`.
  const std::byte* address(const Operands& operands, Operand operand) const noexcept;
  /// Returns the same address faster, if the strides are direct.
  const std::byte* direct_address(const Operands& operands, Operand operand) const noexcept {
    const std::byte* const begin = begin_of(operands, operand);
    if (begin == nullptr) return nullptr;
    return begin + (static_cast<Stride>(operands.row) * axes_[0].of(operand) +
                    static_cast<Stride>(operands.column) * axes_[1].of(operand));
  }

  /// The memory that `row_count` rows of an operand occupy, from the first byte to the end, as offsets from the
  /// operand's address.
  struct Reach {
    Stride begin = 0;
    Stride end = 0;
  };
  Reach reach(Operand operand, order::Count row_count, order::Bytes element_bytes) const noexcept;

 private:
  bool judged(const RowShape& shape) const noexcept;

  std::array<Axis, most_axes + 1> axes_;  // the axes of the rows, then the axes of the columns
  std::uint8_t row_axes_ = 1;
  std::uint8_t column_axes_ = 1;
  order::Bytes mask_bytes_ = 1;
  Labels labels_;
  bool are_direct_ = false;
  bool are_touching_ = false;
  bool have_columns_apart_ = false;
  bool are_listed_ = false;
};

}  // namespace steadfold::arithmetic
