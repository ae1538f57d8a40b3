// Exact sums of a few terms as two doubles, where these hold them: no digits to be cleared, carried and read again.
// Rank order: none. Cost: 12 operations a vector, then as many for every halving of the lanes.
// Source: TwoSum (Knuth 1969, Moeller 1965); that nothing was lost is known, not estimated.
#pragma once

#include "kernels/target.hpp"
#include "order/index.hpp"

namespace steadfold::kernels {

/// More terms than these are added faster in other ways.
inline constexpr order::Count most_in_pair = 64;

/// pair[0] + pair[1] is the sum of `count` >= 1 contiguous elements (aligned or not) without error, and pair[0] that
/// sum rounded. False where two doubles do not hold it, it is 0 (whose sign other rules tell), or a term is infinite or
/// NaN. Wants the promised environment. Reads no other memory.
using SumAsPair = bool (*)(const void* elements, order::Count count, double* pair) noexcept;

/// For elements of type T, float or double. Null where the target has none.
template <class T>
SumAsPair sum_as_pair(Target target) noexcept;

}  // namespace steadfold::kernels
