// How the rows of a call stand in memory: axes of any stride, so that rows may be padded, transposed, reversed, or all
// the same one, and may be sections of arrays of up to 15 dimensions.
// Cost: judging them some ten instructions, once for all calls that have the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "order/index.hpp"

namespace steadfold::arithmetic {

using Stride = std::ptrdiff_t;  // bytes

inline constexpr std::size_t most_axes = 15;

/// What elements are aligned to where operators get them: the largest power of two, at most 16, that divides their
/// size.
constexpr order::Bytes alignment_of(order::Bytes element_bytes) noexcept {
  const order::Bytes divisor = element_bytes & (~element_bytes + 1);
  return divisor == 0 || divisor > 16 ? 16 : divisor;
}
inline bool is_aligned(const std::byte* element, order::Bytes element_bytes) noexcept {
  return reinterpret_cast<std::uintptr_t>(element) % alignment_of(element_bytes) == 0;
}

/// What a row is: so many elements, and what goes with them: as many factors, and a mask that selects rows, or
/// elements.
struct RowShape {
  order::Bytes element_bytes = 0;
  order::Count columns = 0;
  bool has_factors = false;
  bool has_mask = false;
  bool has_named_rows = false;  // the result has the index of some

  order::Bytes row_bytes() const noexcept { return columns * element_bytes; }
};

/// What is read for one element: the element, its factor, what the mask says, and the group that it belongs to.
enum class Operand : unsigned char { first, second, mask, label };
inline constexpr std::size_t operand_count = 4;

/// How rows are dealt to groups of columns: the columns of group 0, then those of group 1, ... The data have the
/// columns of one group; strides repeat them for all.
struct Labels {
  order::Count groups = 0;   // 0: there are no labels
  order::Count columns = 1;  // of a group
  order::Bytes bytes = 0;    // of a label: 1, 2, 4 or 8
  bool is_signed = false;    // of 4 or 8 bytes: those below 0 belong to no group
};

/// An axis of an array: its extent, and how far apart its elements stand, for each operand. A stride of 0 repeats the
/// operand along the axis.
struct Axis {
  order::Count extent = 0;
  Stride strides[operand_count] = {};

  Stride of(Operand operand) const noexcept { return strides[static_cast<std::size_t>(operand)]; }
};

/// Where the data of a call begin, and from which of its rows and columns on they are meant.
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

/// How the operands of calls of one shape stand. Rows count over the row axes and columns over the column axes, both in
/// C order: the last axis fastest. The extent of the first row axis is not looked at, since calls of one shape may have
/// any number of rows.
class Strides {
 public:
  /// Row after row without gaps, and one byte of a mask per row.
  explicit Strides(const RowShape& shape) noexcept;
  /// Axes that can be one are joined. At least one of rows and one of columns, at most `most_axes` of both and one
  /// more. An element of the mask has so many bytes, and selects unless all of them are 0. Elements of rows that begin
  /// unaligned are never taken where they stand. If `are_listed`, the elements begin with a list of addresses, one for
  /// every column, and what it names stands as the rows say.
  Strides(const RowShape& shape, std::span<const Axis> rows, std::span<const Axis> columns, order::Bytes mask_bytes = 1,
          bool is_aligned = true, const Labels& labels = {}, bool are_listed = false) noexcept;

  std::span<const Axis> rows() const noexcept { return {axes_.data(), row_axes_}; }
  std::span<const Axis> columns() const noexcept { return {axes_.data() + row_axes_, column_axes_}; }
  order::Bytes mask_bytes() const noexcept { return mask_bytes_; }
  const Labels& labels() const noexcept { return labels_; }

  /// Whether builders take the rows where they stand: the elements of each row touch, and the rows of both factors, and
  /// the bytes of the mask, are as far apart as a Block says. Rows that go backwards, or leave elements unaligned, are
  /// not taken.
  bool are_direct() const noexcept { return are_direct_; }
  /// Whether they are direct, and rows touch, too.
  bool are_touching() const noexcept { return are_touching_; }

  /// Whether the elements of a column stand nearer to each other than those of a row.
  bool have_columns_apart() const noexcept { return have_columns_apart_; }

  /// Whether the elements of each column stand where a list says.
  bool are_listed() const noexcept { return are_listed_; }
  /// The address of a column's elements in such a list.
  static const std::byte* listed(const std::byte* list, order::Count column) noexcept {
    const void* place = nullptr;
    std::memcpy(&place, list + column * sizeof place, sizeof place);
    return static_cast<const std::byte*>(place);
  }
  /// Where an operand begins, for the column that the operands name.
  const std::byte* begin(const Operands& operands, Operand operand) const noexcept {
    const std::byte* const begin = begin_of(operands, operand);
    const bool is_list = are_listed_ && operand == Operand::first && begin != nullptr;
    return is_list ? listed(begin, operands.column) : begin;
  }
  /// Where an operand of the row and column that the operands name stands.
  const std::byte* place(const Operands& operands, Operand operand) const noexcept;
  /// Where an operand of the row and column that the operands name stands, if strides are direct.
  const std::byte* direct_place(const Operands& operands, Operand operand) const noexcept {
    const std::byte* const begin = begin_of(operands, operand);
    if (begin == nullptr) return nullptr;
    return begin + (static_cast<Stride>(operands.row) * axes_[0].of(operand) +
                    static_cast<Stride>(operands.column) * axes_[1].of(operand));
  }

  /// The memory from the first byte that `row_count` rows take of an operand to the last, as offsets from its begin.
  struct Reach {
    Stride begin = 0;
    Stride end = 0;
  };
  Reach reach(Operand operand, order::Count row_count, order::Bytes element_bytes) const noexcept;

 private:
  bool judged(const RowShape& shape) const noexcept;

  std::array<Axis, most_axes + 1> axes_;  // the rows', then the columns'
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
