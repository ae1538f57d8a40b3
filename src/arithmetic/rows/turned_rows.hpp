// A group of columns transposed into a tile, so that the elements of a column are contiguous for kernels.
// Rank order: that of the rows. Cost: a copy within the first-level cache.
#pragma once

#include <array>
#include <cstddef>

#include "arithmetic/rows/column_groups.hpp"
#include "kernels/turn.hpp"

namespace steadfold::arithmetic {

template <class Element>
class TurnedRows {
 public:
  /// Transposes at most `rows_of_group` rows.
  void turn(const kernels::ColumnRows& rows) noexcept {
    const bool has_others = rows.second != nullptr && rows.second != rows.first;
    turn(rows, rows.first, first_);
    if (has_others) turn(rows, rows.second, second_);
    others_ = has_others ? &second_ : &first_;
  }

  /// Return the elements of a column, and their second factors. If there are no factors, both return the elements.
  const std::byte* first(Count column) const noexcept { return first_.data() + column * column_bytes; }
  const std::byte* second(Count column) const noexcept { return others_->data() + column * column_bytes; }

 private:
  /// Bytes from column to column: one cache line more than the elements. Otherwise all columns would be in the same few
  /// lines of a cache.
  static constexpr Bytes column_bytes = rows_of_group * sizeof(Element) + 64;
  using TurnedTile = std::array<std::byte, kernels::most_columns * column_bytes>;

  static void turn(const kernels::ColumnRows& rows, const std::byte* from, TurnedTile& to) noexcept {
    kernels::turn_over<sizeof(Element)>(kernels::chosen())({.from = from,
                                                            .row_stride = static_cast<std::ptrdiff_t>(rows.row_stride),
                                                            .to = to.data(),
                                                            .column_stride = static_cast<std::ptrdiff_t>(column_bytes),
                                                            .rows = rows.rows,
                                                            .columns = rows.columns});
  }

  alignas(64) TurnedTile first_;  // not initialised
  alignas(64) TurnedTile second_;
  const TurnedTile* others_ = &first_;
};

}  // namespace steadfold::arithmetic
