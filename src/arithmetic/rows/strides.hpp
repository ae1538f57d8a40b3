// Describes how the rows of a call are stored: by axes with any strides. Rows may be padded, transposed, reversed, or
// all the same row, and may be sections of arrays of up to 15 dimensions. Cost: some ten instructions to classify the
// strides, once for all calls with the same strides.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
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

/// A part of the rows whose elements are contiguous, with a bitmap of the rows that are selected, as in Arrow's format.
/// The struct is equal to sf_chunk in steadfold.h.
struct Chunk {
  const std::byte* data = nullptr;
  const std::byte* valid = nullptr;  // null: all rows are selected
  order::Count bit = 0;              // number of the bit of the first row; bit 0 is the lowest bit of the first byte
  order::Count end = 0;              // number of rows of this chunk and all chunks before it
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

/// Returns begin + offset. `begin` may be any number: the address of row 0 of a chunk may be no element's address.
inline const std::byte* moved(const std::byte* begin, Stride offset) noexcept {
  return reinterpret_cast<const std::byte*>(reinterpret_cast<std::uintptr_t>(begin) +  // NOLINT(*-no-int-to-ptr)
                                            static_cast<std::uintptr_t>(offset));
}

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
  order::Count chunk_count = 0;  // if not 0, the operand `first` is a list of so many chunks
  bool has_bitmaps = false;      // whether the mask is in the bitmaps of the chunks
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
  /// Whether the rows are in chunks. Only `for_each_chunk` reads a list of chunks: all other functions take the rows of
  /// one chunk, and `are_direct` and `are_touching` are false.
  bool are_chunked() const noexcept { return chunk_count_ > 0; }
  order::Count chunk_count() const noexcept { return chunk_count_; }
  static std::span<const Chunk> chunks(const std::byte* list, order::Count count) noexcept {
    return {reinterpret_cast<const Chunk*>(list), list == nullptr ? 0 : count};
  }
  /// Whether the mask is a bitmap.
  bool has_bitmap() const noexcept { return has_bitmap_; }
  /// Returns the number of a row's bit in the bitmap.
  order::Count bit_of(order::Count row) const noexcept { return bit_of_row_0_ + row; }
  /// Calls `take(operands, rows before, count, strides)` for the part of the rows in each chunk, with the operands and
  /// the strides of this part.
  template <class Take>
  void for_each_chunk(const Operands& data, order::Count rows, const Take& take) const;

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
    return moved(begin, static_cast<Stride>(operands.row) * axes_[0].of(operand) +
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
  bool has_bitmap_ = false;
  bool are_chunks_direct_ = false;  // whether the rows of each chunk are direct
  order::Count chunk_count_ = 0;
  order::Count bit_of_row_0_ = 0;  // in the bitmap of a chunk, modulo 2^64
};

template <class Take>
void Strides::for_each_chunk(const Operands& data, order::Count rows, const Take& take) const {
  const auto list = chunks(data.first, chunk_count_);
  const auto starts_before = [](order::Count row, const Chunk& chunk) { return row < chunk.end; };
  auto chunk = std::upper_bound(list.begin(), list.end(), data.row, starts_before);
  Strides of_chunk = *this;
  of_chunk.are_direct_ = are_chunks_direct_;
  of_chunk.chunk_count_ = 0;
  for (order::Count done = 0; done < rows && chunk != list.end(); ++chunk) {
    const order::Count row = data.row + done;
    const order::Count begin = chunk == list.begin() ? 0 : std::prev(chunk)->end;
    const order::Count count = std::min(rows - done, chunk->end - row);
    if (count == 0) continue;
    Operands part = data.at(done, 0);
    // The address of row 0, as if all rows were in this chunk.
    part.first = moved(chunk->data, -static_cast<Stride>(begin) * axes_[0].of(Operand::first));
    if (has_bitmap_) {
      part.mask = chunk->valid;
      of_chunk.bit_of_row_0_ = chunk->bit - begin;
    }
    take(part, done, count, of_chunk);
    done += count;
  }
}

}  // namespace steadfold::arithmetic
