// A builder and the way into it for rows that stand anywhere. Builders want the elements of a row side by side, and the
// rows of both factors equally far apart; what stands otherwise is copied to a small tile first, and only here.
// Rank order: kept. Cost: one branch per push; rows that are copied, one pass through the first-level cache.
// Source: ours.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "arithmetic/partial.hpp"
#include "arithmetic/strides.hpp"

namespace steadfold::arithmetic {

/// Keeps its memory, as builders do; has none until rows must be copied.
class Intake {
 public:
  Intake(std::unique_ptr<Builder> builder, const RowShape& shape) noexcept;

  Builder& builder() const noexcept { return *builder_; }

  /// Pushes the rows begin, begin + 1, ... of the whole job. They must stay as they are for as long as Builder::push
  /// says. The strides are those of rows that have the columns of this builder, and maybe others.
  void push(Index begin, const Operands& data, Count rows, const Strides& strides) {
    if (strides.are_direct()) return builder_->push(begin, as_block(data, rows, strides));
    push_copied(begin, data, rows, strides);
  }

  /// Shows the rows to the builder's surveyor.
  void survey(const Operands& data, Count rows, const Strides& strides) {
    if (strides.are_direct()) return builder_->surveyor()->survey(as_block(data, rows, strides));
    survey_copied(data, rows, strides);
  }

 private:
  /// Copies of both operands' rows.
  struct Tile {
    std::vector<std::byte> first;
    std::vector<std::byte> second;
  };
  static constexpr Bytes tile_bytes = 8192;

  static Block as_block(const Operands& data, Count rows, const Strides& strides) noexcept {
    return {.first = data.first,
            .second = data.second,
            .rows = rows,
            .row_stride = static_cast<Bytes>(strides.first().row)};
  }

  void push_copied(Index begin, const Operands& data, Count rows, const Strides& strides);
  void survey_copied(const Operands& data, Count rows, const Strides& strides);
  Block copied(const Operands& data, Count rows, const Strides& strides);

  std::unique_ptr<Builder> builder_;
  RowShape shape_;
  Count tile_;                   // most rows in a tile
  std::array<Tile, 2> tiles_{};  // one stays until the builder has seen the next
  std::size_t turn_ = 0;
};

}  // namespace steadfold::arithmetic
