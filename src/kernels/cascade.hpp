// Correctly rounded sums of a few rows, column by column, with floating-point operations alone. Terms may be
// pre-rounded first.
// Rank order: none. Cost: 14 operations per row and vector of columns, and 20 per vector of columns. With pre-rounded
// terms, 9 more per row and 10 more per vector. Some columns stay uncertain. Source: TwoSum (Knuth 1969); Ogita, Rump
// and Oishi, Accurate Sum and Dot Product, 2005. The test for certainty is new.
//
// TwoSum gives fl(a + b) and its loss without error. A first cascade over a column's n terms gives s and n - 1 losses.
// A second cascade over these losses gives t and n - 2 more losses. F is the computed sum of the magnitudes of the
// second losses. A last TwoSum gives r = fl(s + t) and its loss d. So the exact sum is r + d + g, where |g| <= F (1 + n
// u), with u = 2^-53 for doubles and 2^-24 for floats: n u is at most 2^-18.
// - F = 0: then g = 0, and r is the sum rounded once.
// - F > 0: let w = 4 F + 4 u |d| as computed. Additions do not underflow, and 4 u |d| loses at most half of the least
//   positive number, which is at most F. So w >= (1 - u) (3.5 F + 4 u |d|), fl(d + w) >= d + w - u (|d| + w) >= d + g,
//   and likewise fl(d - w) <= d + g. Rounding is monotone: if r + fl(d - w) and r + fl(d + w) both round to r, so does
//   the sum, which lies between them. This holds for ties and subnormal numbers, too.
//
// An infinity, a NaN or an overflow in the first cascade makes a loss infinite or NaN. Then a loss of the second
// cascade is NaN, and so is F, and every comparison with a NaN is false. If the sum s is -0.0, all terms are -0.0 and
// all losses are 0. Then r is s, because -0.0 + 0.0 would be +0.0.
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

/// Sums `columns` columns of `fewest_cascaded` to `most_cascaded` rows. The columns begin `offset` bytes after the
/// beginning of each row. The memory need not be aligned. `bin_count` is the number of bins for which terms are
/// pre-rounded; 0 means that terms are not pre-rounded. Writes the sums of the columns. Writes to `uncertain`, which
/// has room for `columns` indices, the columns whose sums are not certain to be right, in ascending order; the first
/// column of the call has index 0. Returns the number of uncertain columns. An uncertain sum is not valid. A certain
/// sum is never NaN; if it is zero, its sign is as with method `exact`. `sums` must not overlap a row. The caller must
/// have set the promised environment (arithmetic/environment.hpp). Reads and writes no other memory.
using CascadeRows = order::Count (*)(std::span<const std::byte* const> rows, order::Bytes offset, order::Count columns,
                                     int bin_count, std::byte* sums, std::uint32_t* uncertain) noexcept;

/// Returns the kernel for elements of type T, float or double: the target's kernel, or the reference if the target has
/// none.
template <class T>
CascadeRows cascade_rows(Target target) noexcept;

}  // namespace steadfold::kernels
