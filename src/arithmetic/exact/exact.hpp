// Correctly rounded sums, dot products, sums of squares and 2-norms as a partial: exact integers, packed for messages.
// Rank order: none, rows may come from any rank in any order. Cost: 24 bytes, plus for a single column 4 bytes and its
// digits, or for each of several columns mostly 9 or 17 bytes, otherwise 5 bytes and its digits. record.hpp has the
// form in messages.
#pragma once

#include <memory>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

/// Whether the terms are products of two elements.
constexpr bool sums_products(Operation operation) noexcept {
  const Terms terms = properties_of(operation).terms;
  return terms != Terms::elements && terms != Terms::absolute_values;
}

/// Makes the kind of partial for `columns` results over rows of doubles or floats. A result is a sum, a sum of absolute
/// values, a mean (no rows: status empty), a sum of products (`Block.second` has the second factors), a sum of squares,
/// or the root of a sum of squares. Each result is rounded once, from the exact sum. The record has the number of rows,
/// which shows gaps and overlaps, but not the indices of the rows. Records are canonical: equal data give equal bytes,
/// however they are divided and merged. If bytes were not written by a builder or a merge, the status is
/// transport_failed. Partials can be added as words (`word_count`), for up to 2^31 - 1 ranks. All ranks find the same
/// status from the sums.
std::unique_ptr<PartialKind> make_exact(Operation operation, Type input, Type result, Count columns);

/// The partial of sums, or of sums of products, of rows that labels distribute to `columns` columns. A column without
/// rows is +0.0. Rows are added only with `ColumnBuilders::scatter`. Partials cannot be added as words.
std::unique_ptr<PartialKind> make_exact_of_dealt(Operation operation, Type input, Type result, Count columns);

}  // namespace steadfold::arithmetic
