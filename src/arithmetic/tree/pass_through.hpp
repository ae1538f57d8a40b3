// The last step of the binary tree: makes the result from the nodes of all rows.
// Rank order: left op right. Cost: one operation per node, except one. Source: Stelz 2022, equations 2.1 to 2.3.
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>

#include "arithmetic/operator.hpp"

namespace steadfold::arithmetic {

/// Combines two rows of `columns` values to a row of results. Makes NaNs canonical piece by piece, while the values are
/// in the cache. Returns a number other than 0 if the operator failed.
inline int combine_to_result(const Operator& op, const std::byte* left, const std::byte* right, std::byte* result,
                             order::Count columns) {
  if (op.canonicalise == nullptr) return combine(op, left, right, result, columns);
  constexpr order::Count piece = 2048;
  for (order::Count first = 0; first < columns; first += piece) {
    const order::Count count = std::min(piece, columns - first);
    const order::Bytes at = first * op.element_bytes;
    if (combine(op, left + at, right + at, result + at, count) != 0) return 1;
    op.canonicalise(result + at, count);
  }
  return 0;
}

/// Copies `count` rows of `columns` values. Both in `from` and in `to` rows are `stride` bytes apart.
inline void copy_rows(const Operator& op, order::Count columns, order::Bytes stride, const std::byte* from,
                      std::byte* to, order::Count count) {
  if (stride == columns * op.element_bytes) return copy_values(op, from, to, count * columns);
  for (order::Count i = 0; i < count; ++i) copy_values(op, from + i * stride, to + i * stride, columns);
}

/// At least one node of a tree, `stride` bytes apart.
struct NodeRun {
  const std::byte* first;
  order::Count count;
  order::Bytes stride;
};

/// Computes n1 op (n2 op (n3 ...)) over nodes of `columns` values, with canonical NaNs. `spare` is memory for a row. A
/// result may alias the left operand but not the right one. So the running value alternates between `values` and
/// `spare`, and ends in `values`. Returns 0, or the operator's return value.
inline int pass_through(const Operator& op, order::Count columns, const NodeRun& nodes, std::byte* values,
                        std::byte* spare, Changes& changes) {
  if (nodes.stride == op.element_bytes && op.fold_to_result != nullptr) {
    op.fold_to_result(nodes.first, nodes.count, values);
    return 0;
  }
  if (nodes.count == 1) std::memmove(values, nodes.first, op.element_bytes * columns);
  std::byte* target = nodes.count % 2 == 0 ? values : spare;
  std::byte* other = nodes.count % 2 == 0 ? spare : values;
  const std::byte* right = nodes.first + (nodes.count - 1) * nodes.stride;
  for (order::Count i = nodes.count - 1; i-- > 0;) {
    const int wrong = changes.make([&] { return combine(op, nodes.first + i * nodes.stride, right, target, columns); });
    if (wrong != 0) return wrong;
    right = target;
    std::swap(target, other);
  }
  if (op.canonicalise != nullptr) op.canonicalise(values, columns);
  return 0;
}
/// Computes the same value in one attempt. Returns operator_failed if an operation fails or is postponed.
inline Status pass_through(const Operator& op, order::Count columns, const NodeRun& nodes, std::byte* values,
                           std::byte* spare) {
  Changes changes;
  const int wrong = pass_through(op, columns, nodes, values, spare, changes);
  return wrong == 0 ? Status::ok : Status::operator_failed;
}

}  // namespace steadfold::arithmetic
