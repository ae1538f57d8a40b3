// Partials in which every column is reduced separately, because a mask may select different rows in each column, or
// because the kind serves only one column. These partials consist of one partial of the kind per column, one after the
// other.
// Rank order: that of the kind. Cost: for every column, the cost of one column. Bytes: in addition, 8 per column, a
// Header, and the head of each partial. If the kind needs indices and labels distribute the rows, a first sweep counts
// the rows of each column.
#pragma once

#include <memory>
#include <vector>

#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

struct ColumnsApart {
  Count columns;
  Bytes element_bytes;
  // Whether labels distribute rows to columns; `ColumnBuilders::deal` counts these rows.
  bool are_dealt = false;
  std::vector<std::byte> of_none = {};  // the result of a column without rows, if the kind has none; if empty, a column
                                        // without rows makes the call empty
  // If the bits of the kind depend on indices and labels distribute the rows: the first indices of the intervals of all
  // ranks, in ascending order. The rows of a column are then numbered from 0, and the kind takes the numbers as
  // indices.
  std::vector<Index> starts = {};
  Count columns_of_a_group = 1;  // the number of elements of a row, if labels distribute them
};
/// Makes a kind of partial that has one partial of `kind` per column. `kind` serves one column.
std::unique_ptr<PartialKind> make_columns_apart(std::unique_ptr<PartialKind> kind, ColumnsApart columns);

}  // namespace steadfold::arithmetic
