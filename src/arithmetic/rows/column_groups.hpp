// Rows of several columns, cut for kernels whose lanes are columns.
// Rank order: that of the rows. Cost: none per element; a tile of rows stays in a cache for all of its columns.
#pragma once

#include <algorithm>

#include "arithmetic/partial.hpp"
#include "kernels/columns.hpp"

namespace steadfold::arithmetic {

/// Most rows of a group.
inline constexpr Count rows_of_group = 128;

/// `take(first column, rows)` for all columns from there on, of some of the block's rows at a time; it returns how many
/// it has done, a multiple of most_columns unless there are no more. `second`, if it is not null, stands as `first`.
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

/// As above, for groups of columns.
template <class Take>
void for_each_column_group(const Block& block, Count columns, Bytes element_bytes, const Take& take) {
  for_each_run_of_columns(block, columns, element_bytes, [&](Count begin, kernels::ColumnRows rows) {
    rows.columns = std::min(kernels::most_columns, rows.columns);
    take(begin, rows);
    return rows.columns;
  });
}

}  // namespace steadfold::arithmetic
