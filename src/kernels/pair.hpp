// Exact sums of a few terms as two doubles, if their exponents lie near each other: no digits to be cleared, carried
// and read again.
// Rank order: none. Cost: 11 operations per vector, then as many for every halving of the lanes.
// Source: TwoSum (Knuth 1969, Moeller 1965). That nothing is lost is known from the largest term and the least, not
// estimated.
#pragma once

#include "kernels/target.hpp"
#include "order/index.hpp"

namespace steadfold::kernels {

/// More terms than these are added faster in other ways.
inline constexpr order::Count most_in_pair = 64;

/// How many binades may lie between the largest term and the least for `high` and `low` to hold the sum. Terms below
/// 2^(E + 1) and multiples of 2^(e - 52) have sums of at most 2^(E + 7), additions lose at most 2^(E - 46) each, and
/// all these losses together, 2^(E - 40) at most, are a multiple of 2^(e - 52): 53 bits hold it if E - e <= 41.
inline constexpr int widest_in_pair = 40;

/// high + low is the sum without error. The magnitudes of all terms but zeros lie between `least` and `largest`.
struct PairSum {
  double high;
  double low;
  double largest;
  double least;
};

/// Sums 1 to `most_in_pair` contiguous elements, aligned or not. False if their exponents lie too far apart, their sum
/// is 0 (whose sign other rules tell) or too large, or one is infinite or NaN. Wants the promised environment. Reads no
/// other memory.
using SumAsPair = bool (*)(const void* elements, order::Count count, PairSum& found) noexcept;

/// For elements of type T, float or double. Null if the target has none.
template <class T>
SumAsPair sum_as_pair(Target target) noexcept;

}  // namespace steadfold::kernels
