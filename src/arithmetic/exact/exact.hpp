// Correctly rounded sums, dot products, sums of squares and 2-norms as a partial: integers without error, packed on the
// wire. Rank order: none, rows may come from anywhere in any order. Cost: 24 bytes; one column, 4 and its digits; of
// several, mostly 9 or 17 each, else 5 and its digits. exact_record.hpp has the wire form.
#pragma once

#include <memory>

#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

enum class ExactOperation { sum, mean, abs_sum, dot, sum_squares, norm2 };

/// Whether the terms are products of two elements.
constexpr bool sums_products(ExactOperation operation) noexcept { return operation >= ExactOperation::dot; }

enum class ExactType { f32, f64 };

/// The partial of `columns` sums over rows, or of absolute values, or of the quotients by the number of rows (no rows:
/// status empty), of sums of products (`Block.second` is the other factor), of sums of squares, or of their square
/// roots; each result is rounded once, from the whole. The number of rows tells gaps from overlaps; which rows they
/// were is not kept. Records are canonical: equal data give equal bytes, whatever the blocks and the merges were. Bytes
/// that no builder and no merge wrote have status transport_failed. Words: as `word_count` says, for up to 2^31 - 1
/// ranks; all ranks reach the same verdict from the sums.
std::unique_ptr<PartialKind> make_exact(ExactOperation operation, ExactType input, ExactType result, Count columns);

/// The partial of sums of rows that labels deal to `columns` columns. A column without rows is +0.0. Rows come in by
/// `ColumnBuilders::scatter` alone; there are no words.
std::unique_ptr<PartialKind> make_exact_of_dealt(ExactType input, ExactType result, Count columns);

}  // namespace steadfold::arithmetic
