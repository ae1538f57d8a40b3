// Full dyadic nodes of contiguous elements: the values that a tree record keeps of an interval.
// Rank order: kept; +, *, min and max of numbers may swap operands, which changes no bit (but those of NaN payloads).
// Cost: one operation per element and one pass over memory; needs no memory but the stack.
// Source: [S0] chapter 2 and 3.1.4, Algorithm 4 (eight elements by hadd); the transposing reduction here is ours.
#pragma once

#include "kernels/scalar.hpp"
#include "kernels/target.hpp"
#include "order/interval.hpp"

namespace steadfold::kernels {

/// Writes the values of the maximal full dyadic nodes of begin, ..., begin + count - 1 to `nodes`, from left to right,
/// and returns how many there are. `elements` are those `count` in a row, aligned or not, of the type that the function
/// was asked for; `nodes` has room for order::most_nodes of them. Reads no other memory.
using Fold = order::Count (*)(const void* elements, order::Index begin, order::Count count, void* nodes) noexcept;

/// For Op one of Sum, Product, Min, Max and T a number type. The reference if the target has no kernel.
template <class Op, class T>
Fold fold(Target target) noexcept;

inline constexpr int rows_level = 3;

/// Folds 2^rows_level rows of `columns` elements, `row_stride` bytes apart, column by column: result[c] is the full
/// node of column c. `result` overlaps no row.
using FoldRows = void (*)(const void* rows, order::Bytes row_stride, order::Count columns, void* result) noexcept;

template <class Op, class T>
FoldRows fold_rows(Target target) noexcept;

/// result[i] = left[i] op right[i] for i < count. `result` may be `left` or `right`.
using Pairs = void (*)(const void* left, const void* right, void* result, order::Count count) noexcept;

template <class Op, class T>
Pairs pairs(Target target) noexcept;

/// Gives every NaN among floats or doubles the canonical quiet pattern.
using Canonicalise = void (*)(void* values, order::Count count) noexcept;

template <class T>
Canonicalise canonicalise(Target target) noexcept;

}  // namespace steadfold::kernels
