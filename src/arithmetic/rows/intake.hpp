// A builder and the way into it for rows that stand anywhere. Builders want the elements of a row side by side, and the
// rows of both factors equally far apart; what stands otherwise is copied to a small tile first, and only here.
// Rank order: kept. Cost: one branch per push; rows that are copied, one pass through the first-level cache.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "arithmetic/partial.hpp"
#include "arithmetic/rows/dealt_rows.hpp"
#include "arithmetic/rows/strides.hpp"

namespace steadfold::arithmetic {

/// Keeps its memory, as builders do; has none until rows must be copied.
class Intake {
 public:
  Intake(std::unique_ptr<Builder> builder, const RowShape& shape) noexcept;

  Builder& builder() const noexcept { return *builder_; }

  /// Pushes the rows begin, begin + 1, ... of the whole job, those from `data.row` on of what the strides say. They
  /// must stay as they are for as long as Builder::push says. This builder's columns begin with `data.column`; the
  /// strides may have more.
  void push(Index begin, const Operands& data, Count rows, const Strides& strides) {
    if (goes_by_column(rows, strides)) return push_by_column(begin, data, rows, strides);
    if (strides.are_direct()) return builder_->push(begin, as_block(data, rows, strides));
    push_copied(begin, data, rows, strides);
  }

  /// Shows the rows to the builder's surveyor.
  void survey(const Operands& data, Count rows, const Strides& strides) {
    if (goes_by_column(rows, strides)) return survey_by_column(data, rows, strides);
    if (strides.are_direct()) return builder_->surveyor()->survey(as_block(data, rows, strides));
    survey_copied(data, rows, strides);
  }

 private:
  /// Copies of the operands' rows.
  struct Tile {
    std::vector<std::byte> first;
    std::vector<std::byte> second;
    std::vector<std::byte> mask;
  };
  static constexpr Bytes tile_bytes = 8192;

  static constexpr Bytes listed_tile_bytes = 4 * tile_bytes;  // that all columns of a list go past, one after the other
  static constexpr Bytes large_tile_bytes = Bytes{1} << 17;   // of all columns
  static constexpr Count fewest_by_column = 64;               // rows that are worth being taken column by column
  static constexpr Count long_run = 128;  // rows that touch and are worth being taken where they are

  bool goes_by_column(Count rows, const Strides& strides) const noexcept {
    if (columns_ == nullptr) return false;
    if (columns_->are_only_way() || strides.have_columns_apart()) return true;
    return rows >= fewest_by_column && !(strides.are_direct() && columns_->prefer_rows());
  }

  static Block as_block(const Operands& data, Count rows, const Strides& strides) noexcept {
    return {.first = strides.direct_place(data, Operand::first),
            .second = strides.direct_place(data, Operand::second),
            .mask = strides.direct_place(data, Operand::mask),
            .rows = rows,
            .row_stride = static_cast<Bytes>(strides.rows()[0].of(Operand::first))};
  }

  void push_copied(Index begin, const Operands& data, Count rows, const Strides& strides);
  void survey_copied(const Operands& data, Count rows, const Strides& strides);
  /// Some rows and columns of an operand with elements of `size` bytes.
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
  void survey_by_column(const Operands& data, Count rows, const Strides& strides);
  template <class Take>
  void for_each_column(const Operands& data, Count rows, const Strides& strides, const Take& take);
  template <class Take>
  Status for_each_group(const Operands& data, Count rows, const Strides& strides, const Take& take);
  Status scatter(const Operands& data, Count rows, const Strides& strides);
  Block grouped(const Operands& here, Count rows, const Strides& strides);
  struct LabelsAtHand;
  LabelsAtHand labels_at(const Operands& here, Count rows, const Strides& strides);
  bool sort_by_group(const Operands& here, Count rows, const Strides& strides, const order::Interval& groups);
  template <class Take>
  void for_each_column_turned(const Operands& data, Count rows, const Strides& strides, const Take& take);
  void add_mask(const Operands& data, const Strides& strides, Tile& tile, Block& block) const;

  std::unique_ptr<Builder> builder_;
  ColumnBuilders* columns_;  // the builder's, or null
  RowShape shape_;
  Count tile_;                          // most rows in a tile
  std::array<Tile, 2> tiles_{};         // one stays until the builder has seen the next
  std::vector<std::byte> column_tile_;  // where others share all else
  DealtRows dealt_;
  std::vector<std::byte> labels_;
  std::size_t turn_ = 0;
};

}  // namespace steadfold::arithmetic
