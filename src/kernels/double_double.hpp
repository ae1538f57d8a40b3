// Exact sums of a few terms as two doubles, if the exponents of the terms are close to each other. Two doubles avoid
// the digits of an accumulator, which would have to be cleared, carried and read.
// Rank order: none. Cost: 11 operations per vector, then 11 for every halving of the lanes.
// Source: TwoSum (Knuth 1969, Moeller 1965). The largest and the least term prove that nothing is lost.
#pragma once

#include "kernels/target.hpp"
#include "order/index.hpp"

namespace steadfold::kernels {

/// The largest number of terms. For more terms other functions are faster.
inline constexpr order::Count most_in_double_double = 64;

/// The largest difference between the binary exponents of the largest and the least term at which `high` and `low` hold
/// the sum. Terms below 2^(E + 1) that are multiples of 2^(e - 52) have sums of at most 2^(E + 7). An addition loses at
/// most 2^(E - 46). All losses together are at most 2^(E - 40), and a multiple of 2^(e - 52). 53 bits hold them if E -
/// e <= 41.
inline constexpr int widest_in_double_double = 40;

/// The exact sum: high + low. The magnitudes of all terms except zeros are between `least` and `largest`.
struct DoubleDoubleSum {
  double high;
  double low;
  double largest;
  double least;
};

/// Sums 1 to `most_in_double_double` contiguous elements, aligned or not. Returns false if their exponents are too far
/// apart, if their sum is 0 (other rules give its sign) or too large, or if an element is infinite or NaN. The caller
/// must have set the promised environment (arithmetic/environment.hpp). Reads no other memory.
using SumAsDoubleDouble = bool (*)(const void* elements, order::Count count, DoubleDoubleSum& found) noexcept;

/// Returns the kernel for elements of type T, float or double; null if the target has no kernel.
template <class T>
SumAsDoubleDouble sum_as_double_double(Target target) noexcept;

}  // namespace steadfold::kernels
