#include "arithmetic/intake.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace steadfold::arithmetic {
namespace {

/// One direction of a plane of elements: how many there are, and how far apart they stand here and in the copy.
struct Axis {
  Count count;
  Stride from;
  Stride to;
};

/// Copies a plane of elements of `bytes` bytes, or of `size` where that is 0.
template <Bytes bytes>
void copy(const std::byte* from, std::byte* to, const Axis& outer, const Axis& inner, Bytes size) noexcept {
  for (Count i = 0; i < outer.count; ++i) {
    const std::byte* const source = from + static_cast<Stride>(i) * outer.from;
    std::byte* const target = to + static_cast<Stride>(i) * outer.to;
    for (Count j = 0; j < inner.count; ++j)
      std::memcpy(target + static_cast<Stride>(j) * inner.to, source + static_cast<Stride>(j) * inner.from,
                  bytes == 0 ? size : bytes);
  }
}

void copy(const std::byte* from, std::byte* to, const Axis& outer, const Axis& inner, Bytes size) noexcept {
  switch (size) {
    case 1: return copy<1>(from, to, outer, inner, size);
    case 2: return copy<2>(from, to, outer, inner, size);
    case 4: return copy<4>(from, to, outer, inner, size);
    case 8: return copy<8>(from, to, outer, inner, size);
    case 16: return copy<16>(from, to, outer, inner, size);
    default: return copy<0>(from, to, outer, inner, size);
  }
}

/// The rows one after the other: where they are, if they stand so, else copied to `to`, which gets room for `most`.
const std::byte* side_by_side(const std::byte* data, const OperandStrides& strides, const RowShape& shape, Count rows,
                              Count most, std::vector<std::byte>& to) {
  const bool in_one_piece = are_in_one_piece(strides, shape);
  const OperandStrides copies = touching(shape);
  if (data == nullptr || (in_one_piece && strides.row == copies.row)) return data;
  to.resize(most * shape.row_bytes());
  const Axis down{rows, strides.row, copies.row};
  const Axis along{shape.columns, strides.element, copies.element};
  if (in_one_piece)
    copy(data, to.data(), {1, 0, 0}, down, shape.row_bytes());
  else if (std::abs(down.from) < std::abs(along.from))  // neighbours in memory are copied together
    copy(data, to.data(), along, down, shape.element_bytes);
  else
    copy(data, to.data(), down, along, shape.element_bytes);
  return to.data();
}

constexpr RowShape mask_shape{.element_bytes = 1, .columns = 1};

}  // namespace

Intake::Intake(std::unique_ptr<Builder> builder, const RowShape& shape) noexcept
    : builder_(std::move(builder)),
      shape_(shape),
      tile_(std::bit_floor(std::max<Count>(tile_bytes / std::max<Bytes>(shape.row_bytes(), 1), 1))) {}

void Intake::push_copied(Index begin, const Operands& data, Count rows, const Strides& strides) {
  for (Count done = 0; done < rows; done += tile_)
    builder_->push(begin + done, copied(strides.at(data, done, 0), std::min(tile_, rows - done), strides));
}

void Intake::survey_copied(const Operands& data, Count rows, const Strides& strides) {
  for (Count done = 0; done < rows; done += tile_)
    builder_->surveyor()->survey(copied(strides.at(data, done, 0), std::min(tile_, rows - done), strides));
}

Block Intake::copied(const Operands& data, Count rows, const Strides& strides) {
  Tile& tile = tiles_[turn_];
  turn_ = 1 - turn_;
  Block block{.first = side_by_side(data.first, strides.first(), shape_, rows, tile_, tile.first),
              .second = nullptr,
              .rows = rows,
              .row_stride = shape_.row_bytes()};
  if (shape_.second != Second::none) {
    const RowShape& shape = shape_.second == Second::mask ? mask_shape : shape_;
    block.second = side_by_side(data.second, strides.second(), shape, rows, tile_, tile.second);
  }
  return block;
}

}  // namespace steadfold::arithmetic
