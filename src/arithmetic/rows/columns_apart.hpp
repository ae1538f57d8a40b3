// Partials of columns that are reduced each by itself, since a mask may select other rows in each of them, or since the
// kind has one column only: one partial of that kind per column, one behind the other. Rank order: that of the kind.
// Cost: that of one column, for every column; bytes: 8 more per column, and a Header and what else the kind's head
// takes.
#pragma once

#include <memory>
#include <vector>

#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

struct ColumnsApart {
  Count columns;
  Bytes element_bytes;
  bool are_dealt = false;               // rows go to some columns, as labels say; `ColumnBuilders::deal` counts them
  std::vector<std::byte> of_none = {};  // the result of a column without rows, where the kind has none; if empty, such
                                        // a column makes the whole call empty
};
/// `kind` is that of one column.
std::unique_ptr<PartialKind> make_columns_apart(std::unique_ptr<PartialKind> kind, ColumnsApart columns);

}  // namespace steadfold::arithmetic
