// Computes full dyadic nodes (aligned blocks of 2^k elements) of contiguous elements: the values that a tree record
// keeps for an interval.
// Rank order: kept. Operands of +, *, min and max of numbers may be swapped. Swapping changes only the payloads of
// NaNs.
// Cost: one operation per element and one pass over memory. Only the stack is used as memory.
// Source: Stelz 2022, chapter 2 and section 3.1.4, Algorithm 4 (eight elements with hadd). The transposing reduction is
// new.
#pragma once

#include "kernels/scalar.hpp"
#include "kernels/target.hpp"
#include "order/interval.hpp"

namespace steadfold::kernels {

/// Writes the values of the maximal full dyadic nodes of begin, ..., begin + count - 1 to `nodes`, from left to right,
/// and returns their number. `elements` are `count` contiguous elements of type T, aligned or not. `nodes` has room for
/// order::most_nodes of the interval. Reads no other memory.
using Fold = order::Count (*)(const void* elements, order::Index begin, order::Count count, void* nodes) noexcept;

/// Returns the kernel for an operator (Sum, Product, Min or Max) and a number type T; the reference if the target has
/// no kernel.
template <class Op, class T>
Fold fold(Target target) noexcept;

/// Rows are folded 2^rows_level at a time, if they are aligned.
inline constexpr int rows_level = 3;

/// Writes the maximal full dyadic nodes of the rows begin, ..., begin + count - 1 to `nodes`, from left to right, and
/// returns their number. A node is a row of `columns` values, each folded from its column. Rows are `row_stride` bytes
/// apart. `nodes` overlaps no row, and has room for order::most_nodes of the interval.
using FoldRows = order::Count (*)(const void* rows, order::Bytes row_stride, order::Count columns, order::Index begin,
                                  order::Count count, void* nodes) noexcept;

template <class Op, class T>
FoldRows fold_rows(Target target) noexcept;

/// Computes result[i] = left[i] op right[i] for i < count. `result` may be `left` or `right`.
using Pairs = void (*)(const void* left, const void* right, void* result, order::Count count) noexcept;

template <class Op, class T>
Pairs pairs(Target target) noexcept;

/// Replaces every NaN among floats or doubles by the canonical quiet NaN.
using Canonicalise = void (*)(void* values, order::Count count) noexcept;

template <class T>
Canonicalise canonicalise(Target target) noexcept;

}  // namespace steadfold::kernels
