// Cuts doubles into signed 32-bit digits of a fixed-point number, for accumulators that add the digits one by one.
// Cost: some 14 vector operations per vector of elements.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/target.hpp"
#include "order/index.hpp"

namespace steadfold::kernels {

inline constexpr order::Count most_cut = 256;

/// The digits of some doubles. Element i is low[i] 2^(32 digit[i] - 1074) + high[i] 2^(32 digit[i] - 1042), with |low|
/// below 2^32 and |high| below 2^52.
struct Digits {
  alignas(64) std::array<std::int64_t, most_cut> digit;
  alignas(64) std::array<std::int64_t, most_cut> low;
  alignas(64) std::array<std::int64_t, most_cut> high;
};

/// Cuts `count` doubles, at most `most_cut`, aligned or not. Returns false, with `digits` undefined, if a double is
/// infinite or NaN.
using CutIntoDigits = bool (*)(const void* elements, order::Count count, Digits& digits) noexcept;

/// Returns the target's kernel; null if it has none.
CutIntoDigits cut_into_digits(Target target) noexcept;

}  // namespace steadfold::kernels
