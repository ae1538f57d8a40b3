// Counts zeros of one sign among contiguous elements or their products, for sums that must tell -0.0 from +0.0.
// Cost: 3 vector operations for as many elements as a vector has lanes, 12 for products.
#pragma once

#include "kernels/target.hpp"
#include "order/index.hpp"

namespace steadfold::kernels {

/// At most this many terms in one call.
inline constexpr order::Count most_counted = order::Count{1} << 30;

/// How many of `count` elements are zeros with that sign; `second` is not read.
/// Or of the products of two: zeros of which no factor is infinite or NaN. Elements need not be aligned.
using CountZeros = order::Count (*)(const void* first, const void* second, order::Count count, bool negative) noexcept;

/// The target's kernel, the reference where it has none. T: double or float; factors: 1 or 2.
template <class T, int factors>
CountZeros count_zeros(Target target) noexcept;

}  // namespace steadfold::kernels
