// Pre-rounded sums, dot products, sums of squares and 2-norms as a partial: K bins below the largest term, whatever the
// order. Rank order: none, rows may come from anywhere in any order. Cost: 24 bytes, and 2 + 8 K per column, or 8 + 16
// K from 2^24 rows on; a merge adds K integers per column. Source: [S2]; see arithmetic/binned/bins.hpp.
#pragma once

#include <memory>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

/// The partial of `columns` sums over rows of floats or doubles, of their quotients by the number of rows (no rows:
/// status empty), of sums of products, each rounded to a double (`Block.second` is the other factor), of sums
/// of squares, or of square roots of these, each square rounded to 53 bits whatever its exponent. Terms are rounded to
/// a multiple of the lowest of the `bin_count` bins (2 to 4); their sum has no error, and the result is rounded once.
/// Records are canonical: equal data give equal bytes, whatever the blocks and the merges were. Bytes that no builder
/// and no merge wrote have status transport_failed. Double sweep: the window is that of the largest term of all ranks
/// from the start, found by a survey of one byte per column; the values are those of the single sweep. Only then there
/// are words, as many as `word_count` says, for up to 2^31 - 1 ranks and 2^55 rows (more: status unsupported). Words of
/// different windows are a mismatch; all ranks reach the same verdict from the sums.
std::unique_ptr<PartialKind> make_binned(Operation operation, Type input, Type result, int bin_count, Sweep sweep,
                                         Count columns);

/// The partial of sums of rows that labels deal to `columns` columns. A column without rows is +0.0. Rows come in by
/// `ColumnBuilders::scatter` alone; there are no words.
std::unique_ptr<PartialKind> make_binned_of_dealt(Type input, Type result, int bin_count, Count columns);

}  // namespace steadfold::arithmetic
