// Means, statistics and other results of several exact sums, for many columns, whose elements come in any order. Each
// column has a small sum (dealt_sums.hpp) for every term of the form, the number of its elements, and, for statistics,
// its least and its greatest element.
// Rank order: none. Cost: that of the small sums, and a ns or two per element for the number and the extremes; per
// column 24 or 48 bytes per sum, 8 for the number and 32 for extremes. The record is that of several_sums.hpp.
#pragma once

#include <memory>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

/// The partial of means, or of an operation that has several sums, of rows that labels distribute to `columns` columns.
/// The numbers of a column without rows are NaN. Rows are added only with `ColumnBuilders::scatter`. The results have
/// the bits that the kinds for one column give (make_exact, make_sums_of_pairs, make_statistics).
std::unique_ptr<PartialKind> make_form_of_dealt(Operation operation, Type input, Type result, Count columns);

}  // namespace steadfold::arithmetic
