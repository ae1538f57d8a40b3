// Pre-rounded sums, dot products, sums of squares and 2-norms as a partial: each sum is kept in K bins below the
// largest term. The bins do not depend on the order of the terms. Rank order: none, rows may come from any rank in any
// order. Cost: 24 bytes, and 2 + 8 K per column, or 8 + 16 K from 2^24 rows on; a merge adds K integers per column.
// Source: Lapillonne & Peltekov 2013; see arithmetic/binned/bins.hpp.
#pragma once

#include <memory>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

/// Makes the kind of partial for `columns` results over rows of floats or doubles. A result is a sum, a mean (no rows:
/// status empty), a sum of products (each rounded to a double; `Block.second` has the second factors), a sum of
/// squares, or the root of a sum of squares. Each square is rounded to 53 bits, whatever its exponent. Terms are
/// rounded to a multiple of the lowest of the `bin_count` bins (2 to 4); their sum has no error, and the result is
/// rounded once. Records are canonical: equal data give equal bytes, however they are divided and merged. If bytes were
/// not written by a builder or a merge, the status is transport_failed. With a double sweep, the bin range of the
/// largest term of all ranks is known from the start, from a survey of one byte per column. The values are the same as
/// with a single sweep. Only with a double sweep can partials be added as words (`word_count`), for up to 2^31 - 1
/// ranks and 2^55 rows (more: status unsupported). If the words have different bin ranges, the status is mismatch. All
/// ranks find the same status from the sums.
std::unique_ptr<PartialKind> make_binned(Operation operation, Type input, Type result, int bin_count, Sweep sweep,
                                         Count columns);

/// The partial of sums, or of sums of products, of rows that labels distribute to `columns` columns. A column without
/// rows is +0.0. Rows are added only with `ColumnBuilders::scatter`. Partials cannot be added as words.
std::unique_ptr<PartialKind> make_binned_of_dealt(Operation operation, Type input, Type result, int bin_count,
                                                  Count columns);

}  // namespace steadfold::arithmetic
