// Rows of several columns, taken column by column: a few columns of some rows at a time are turned over in a tile, so
// that kernels find the elements of a column side by side.
// Rank order: that of the rows. Cost: a copy within the first-level cache. Source: ours.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "arithmetic/partial.hpp"
#include "kernels/turn.hpp"

namespace steadfold::arithmetic {

template <class Element>
class TurnedRows {
 public:
  static constexpr Count most_rows = 256;

  /// `take(column, first, second, rows)` for every column of some of the block's rows, and so on; `first` and `second`
  /// hold as many elements, which stay until the call returns. `second` is null where the block has
  /// none, or its first.
  template <class Take>
  static void for_each_column(const Block& block, Count columns, const Take& take) {
    std::array<Side, 2> sides;  // not initialised
    for (Count done = 0; done < block.rows; done += most_rows) {
      const Count rows = std::min(most_rows, block.rows - done);
      for (Count begin = 0; begin < columns; begin += most_columns) {
        const Count some = std::min(most_columns, columns - begin);
        const Bytes offset = done * block.row_stride + begin * sizeof(Element);
        turn(block.first + offset, block.row_stride, rows, some, sides[0]);
        const bool has_others = block.second != nullptr && block.second != block.first;
        if (has_others) turn(block.second + offset, block.row_stride, rows, some, sides[1]);
        for (Count i = 0; i < some; ++i)
          take(begin + i, sides[0].column(i), has_others ? sides[1].column(i) : nullptr, rows);
      }
    }
  }

 private:
  static constexpr Count most_columns = 8;
  /// A line more than the elements, or all columns would stand in the same few lines of a cache.
  static constexpr Bytes column_bytes = most_rows * sizeof(Element) + 64;

  struct Side {
    alignas(64) std::array<std::byte, most_columns * column_bytes> bytes;

    const std::byte* column(Count i) const noexcept { return bytes.data() + i * column_bytes; }
  };

  static void turn(const std::byte* from, Bytes row_stride, Count rows, Count columns, Side& to) noexcept {
    kernels::turn_over<sizeof(Element)>(kernels::chosen())({.from = from,
                                                            .row_stride = static_cast<std::ptrdiff_t>(row_stride),
                                                            .to = to.bytes.data(),
                                                            .column_stride = static_cast<std::ptrdiff_t>(column_bytes),
                                                            .rows = rows,
                                                            .columns = columns});
  }
};

}  // namespace steadfold::arithmetic
