// Correctly rounded sums of a few rows, column by column, with floating-point operations alone; also of terms that are
// pre-rounded first.
// Rank order: none. Cost: 14 operations per row and vector of columns, 20 more per vector; 9 and 10 more where terms
// are pre-rounded; some columns stay uncertain. Source: TwoSum (Knuth 1969); Ogita, Rump and Oishi, Accurate Sum and
// Dot Product, 2005. The test is ours.
//
// TwoSum gives fl(a + b) and its loss without error. A first cascade over a column's n terms gives s and n - 1 losses;
// a second one over these losses gives t and n - 2 more, and F is the sum of their magnitudes as computed. A last
// TwoSum gives r = fl(s + t) and its loss d. So the exact sum is r + d + g, where |g| <= F (1 + n u), with u = 2^-53
// for doubles and 2^-24 for floats: n u is at most 2^-18.
// - F = 0: then g = 0, and r is the sum rounded once.
// - F > 0: let w = 4 F + 4 u |d| as computed. Additions do not underflow, and 4 u |d| loses at most half of the least
//   positive number, which F is not below; hence w >= (1 - u) (3.5 F + 4 u |d|), fl(d + w) >= d + w - u (|d| + w) >=
//   d + g, and likewise fl(d - w) <= d + g. Rounding is monotone: if r + fl(d - w) and r + fl(d + w) both round to r,
//   so does the sum, which lies between them. That holds for ties and subnormal numbers, too.
// An infinity, a NaN or an overflow on the way makes a loss infinite or NaN, this makes one of the second cascade NaN,
// and so F; no comparison with a NaN holds. A sum s that is -0.0 has only
// terms that are, and losses of 0: then r is s, since -0.0 + 0.0 would be +0.0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/target.hpp"
#include "order/index.hpp"
#include "order/message.hpp"

namespace steadfold::kernels {

inline constexpr order::Count fewest_cascaded = 2;
inline constexpr order::Count most_cascaded = 64;

/// Sums so many columns of `fewest_cascaded` to `most_cascaded` rows, from `offset` bytes behind each row's beginning
/// on; nothing need be aligned. `bin_count`: terms are pre-rounded for so many bins; 0: they are not. Writes the
/// columns' sums, and to `uncertain` (room for as many columns) which of these are not
/// certain to be right, counted from the first one of the call, in ascending order; returns how many are not. Such a
/// sum has no meaning. A certain one is never NaN; if it is zero, its sign is that of `exact`. `sums` overlaps no row.
/// Wants the promised environment. Reads and writes no other memory.
using CascadeRows = order::Count (*)(std::span<const std::byte* const> rows, order::Bytes offset, order::Count columns,
                                     int bin_count, std::byte* sums, std::uint32_t* uncertain) noexcept;

/// For elements of type T, float or double: the target's kernel, the reference where it has none.
template <class T>
CascadeRows cascade_rows(Target target) noexcept;

}  // namespace steadfold::kernels
