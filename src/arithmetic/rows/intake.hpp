// Pushes rows with any strides into a builder. Builders need rows with contiguous elements, and the same row stride for
// both factors. Other rows are first copied to a small tile (memory for some rows). Only this class makes these copies.
// Rank order: kept. Cost: one branch per push, and for copied rows one pass through the first-level cache.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "arithmetic/partial.hpp"
#include "arithmetic/rows/dealt_rows.hpp"
#include "arithmetic/rows/strides.hpp"

namespace steadfold::arithmetic {

/// Pushes the rows of calls. An Intake allocates memory when rows must first be copied, and keeps this memory, as
/// builders do.
class Intake {
 public:
  Intake(std::unique_ptr<Builder> builder, const RowShape& shape) noexcept;

  Builder& builder() const noexcept { return *builder_; }

  /// Pushes the rows begin, begin + 1, ... of the whole job. The rows are those from `data.row` on of the described
  /// operands. Their memory must not change as long as Builder::push says. The builder's first column is `data.column`;
  /// the operands may have more columns.
  void push(Index begin, const Operands& data, Count rows, const Strides& strides) {
    if (goes_by_column(rows, strides)) return push_by_column(begin, data, rows, strides);
    if (strides.are_direct()) return builder_->push(begin, as_block(data, rows, strides));
    push_copied(begin, data, rows, strides);
  }

  /// Passes the rows begin, begin + 1, ... of the whole job to the builder's surveyor.
  void survey(Index begin, const Operands& data, Count rows, const Strides& strides) {
    if (goes_by_column(rows, strides)) return survey_by_column(begin, data, rows, strides);
    if (strides.are_direct()) return builder_->surveyor()->survey(begin, as_block(data, rows, strides));
    survey_copied(begin, data, rows, strides);
  }

 private:
  /// The copies of some rows of the operands.
  struct Tile {
    std::vector<std::byte> first;
    std::vector<std::byte> second;
    std::vector<std::byte> mask;
  };
  static constexpr Bytes tile_bytes = 8192;

  // Bytes of a tile for the columns of a list, one after the other.
  static constexpr Bytes listed_tile_bytes = 4 * tile_bytes;
  static constexpr Bytes large_tile_bytes = Bytes{1} << 17;  // bytes of a tile for all columns
  static constexpr Count rows_of_bitmap = 8192;  // rows of a tile if only their mask is made, which is usual
  static constexpr Count fewest_by_column = 64;  // number of rows from which on columns are taken separately
  static constexpr Count long_run = 128;         // number of contiguous rows that are worth taking in place

  bool goes_by_column(Count rows, const Strides& strides) const noexcept {
    if (columns_ == nullptr) return false;
    if (columns_->are_only_way() || strides.have_columns_apart()) return true;
    return rows >= fewest_by_column && !(strides.are_direct() && columns_->prefer_rows());
  }

  static Block as_block(const Operands& data, Count rows, const Strides& strides) noexcept {
    return {.first = strides.direct_address(data, Operand::first),
            .second = strides.direct_address(data, Operand::second),
            .mask = strides.direct_address(data, Operand::mask),
            .rows = rows,
            .row_stride = static_cast<Bytes>(strides.rows()[0].of(Operand::first))};
  }

  void push_chunks(Index begin, const Operands& data, Count rows, const Strides& strides);
  void survey_chunks(Index begin, const Operands& data, Count rows, const Strides& strides);
  void push_copied(Index begin, const Operands& data, Count rows, const Strides& strides);
  void survey_copied(Index begin, const Operands& data, Count rows, const Strides& strides);
  /// The rows and columns of an operand that are wanted. Its elements have `size` bytes.
  struct Wanted {
    Operand operand;
    const Operands& data;
    Count rows;
    Count columns;
    Bytes size;
  };
  const std::byte* side_by_side(const Wanted& wanted, const Strides& strides, std::vector<std::byte>& to) const;
  Block copied(const Operands& data, Count rows, Count columns, const Strides& strides);
  void push_by_column(Index begin, const Operands& data, Count rows, const Strides& strides);
  void survey_by_column(Index begin, const Operands& data, Count rows, const Strides& strides);
  template <class Take>
  void for_each_column(const Operands& data, Count rows, const Strides& strides, const Take& take);
  template <class Take>
  Status for_each_group(const Operands& data, Count rows, const Strides& strides, const Take& take);
  Status scatter(Index begin, const Operands& data, Count rows, const Strides& strides);
  Block grouped(const Operands& here, Count rows, const Strides& strides);
  struct LabelsAtHand;
  LabelsAtHand labels_at(const Operands& here, Count rows, const Strides& strides);
  bool sort_by_group(const Operands& here, Count rows, const Strides& strides, const order::Interval& groups);
  template <class Take>
  void for_each_column_turned(const Operands& data, Count rows, const Strides& strides, const Take& take);
  void add_mask(const Operands& data, const Strides& strides, Tile& tile, Block& block) const;

  std::unique_ptr<Builder> builder_;
  ColumnBuilders* columns_;  // the builder's ability to take columns, or null
  RowShape shape_;
  Count tile_;                          // largest number of rows in a tile
  std::array<Tile, 2> tiles_{};         // two tiles, because the builder may read a tile until it gets the next
  std::vector<std::byte> column_tile_;  // copy of a column, if all columns share the other operands
  DealtRows dealt_;
  std::vector<std::byte> labels_;
  std::size_t turn_ = 0;
};

}  // namespace steadfold::arithmetic
