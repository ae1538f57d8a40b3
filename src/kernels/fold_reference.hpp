// The scalar reference of fold.hpp. Kernels equal it bit for bit, and use it at the ends of an interval.
// Rank order: left is always the lower index. Cost: one operation per element. Source: Stelz 2022, equation 2.3.
#pragma once

#include <cstddef>
#include <limits>

#include "kernels/fold.hpp"

namespace steadfold::kernels {

using order::Count;
using order::Index;

/// Computes the value of a full node (Stelz 2022, equation 2.3). The compiler unrolls the recursion. The left half is
/// read first.
template <class Op, int level, class T>
inline T node(const T* x) noexcept {
  if constexpr (level == 0) {
    return *x;
  } else {
    const T left = node<Op, level - 1>(x);
    return Op::of(left, node<Op, level - 1>(x + (1 << (level - 1))));
  }
}

template <class Op, class T>
T node(const T* x, int level) noexcept {
  switch (level) {
    case 0: return node<Op, 0>(x);
    case 1: return node<Op, 1>(x);
    case 2: return node<Op, 2>(x);
    case 3: return node<Op, 3>(x);
    case 4: return node<Op, 4>(x);
    case 5: return node<Op, 5>(x);
    case 6: return node<Op, 6>(x);
    default: break;
  }
  const T left = node<Op>(x, level - 1);
  return Op::of(left, node<Op>(x + (Count{1} << (level - 1)), level - 1));
}

/// Computes the maximal nodes of an interval one by one: the reference, and the ends of the intervals that kernels
/// fold.
template <class Op, class T>
Count one_by_one(const T* x, Index begin, Count count, T* nodes) noexcept {
  Count written = 0;
  for (order::Interval rest{begin, begin + count}; !rest.empty(); ++written) {
    const order::Node first = order::first_node(rest);
    nodes[written] = node<Op>(x, first.level);
    x += first.size();
    rest.begin = first.end();
  }
  return written;
}

template <class Op, class T>
Count reference(const void* elements, Index begin, Count count, void* nodes) noexcept {
  return one_by_one<Op>(static_cast<const T*>(elements), begin, count, static_cast<T*>(nodes));
}

/// Returns row y of a table whose row 0 is `first`.
template <class T>
inline const T* row(const T* first, order::Bytes row_stride, Count y) noexcept {
  return reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(first) + y * row_stride);
}

/// Computes the value of a full node of a column with the elements `at(y)` (Stelz 2022, equation 2.3).
template <class Op, int level, class At>
inline auto down(const At& at, int y = 0) noexcept {
  if constexpr (level == 0) {
    return at(y);
  } else {
    const auto left = down<Op, level - 1>(at, y);
    return Op::of(left, down<Op, level - 1>(at, y + (1 << (level - 1))));
  }
}

/// The same for any level.
template <class Op, class T>
T down(const T* x, order::Bytes row_stride, int level) noexcept {
  if (level == 0) return *x;
  const T left = down<Op>(x, row_stride, level - 1);
  return Op::of(left, down<Op>(row(x, row_stride, 1 << (level - 1)), row_stride, level - 1));
}

template <class Op, class T>
Count reference_rows(const void* rows, order::Bytes row_stride, Count columns, Index begin, Count count,
                     void* nodes) noexcept {
  const T* x = static_cast<const T*>(rows);
  T* const values = static_cast<T*>(nodes);
  Count written = 0;
  for (order::Interval rest{begin, begin + count}; !rest.empty(); ++written) {
    const order::Node first = order::first_node(rest);
    for (Count c = 0; c < columns; ++c) values[written * columns + c] = down<Op>(x + c, row_stride, first.level);
    x = row(x, row_stride, first.size());
    rest.begin = first.end();
  }
  return written;
}

template <class Op, class T>
void reference_pairs(const void* left, const void* right, void* result, Count count) noexcept {
  const auto* const a = static_cast<const T*>(left);
  const auto* const b = static_cast<const T*>(right);
  auto* const r = static_cast<T*>(result);
  for (Count i = 0; i < count; ++i) r[i] = Op::of(a[i], b[i]);
}

template <class T>
void reference_canonicalise(void* values, Count count) noexcept {
  auto* const x = static_cast<T*>(values);
  for (Count i = 0; i < count; ++i)
    if (x[i] != x[i]) x[i] = std::numeric_limits<T>::quiet_NaN();
}

}  // namespace steadfold::kernels
