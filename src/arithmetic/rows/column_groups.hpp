// Divides blocks with several columns into parts for kernels whose lanes are columns. Rank order: that of the rows.
// Cost: none per element. A tile of rows stays in a cache until all its columns are done.
#pragma once

#include <algorithm>

#include "arithmetic/partial.hpp"
#include "kernels/columns.hpp"

namespace steadfold::arithmetic {

/// The largest number of rows in a part.
inline constexpr Count rows_of_group = 128;

/// Calls `take(first column, rows)` for some rows of the block at a time, with all columns from the first column on.
/// `take` returns the number of columns that it has handled: all of them, or a multiple of most_columns. If `second` is
/// not null, it has the same strides as `first`.
template <class Take>
void for_each_run_of_columns(const Block& block, Count columns, Bytes element_bytes, const Take& take) {
  for (Count done = 0; done < block.rows; done += rows_of_group) {
    const Count rows = std::min(rows_of_group, block.rows - done);
    for (Count begin = 0; begin < columns;) {
      const Bytes offset = done * block.row_stride + begin * element_bytes;
      begin += take(begin, kernels::ColumnRows{.first = block.first + offset,
                                               .second = block.second == nullptr ? nullptr : block.second + offset,
                                               .row_stride = block.row_stride,
                                               .rows = rows,
                                               .columns = columns - begin});
    }
  }
}

/// Divides a block in the same way, but each call of `take` gets one group of columns.
template <class Take>
void for_each_column_group(const Block& block, Count columns, Bytes element_bytes, const Take& take) {
  for_each_run_of_columns(block, columns, element_bytes, [&](Count begin, kernels::ColumnRows rows) {
    rows.columns = std::min(kernels::most_columns, rows.columns);
    take(begin, rows);
    return rows.columns;
  });
}

}  // namespace steadfold::arithmetic
