// Counts zeros of one sign among contiguous elements or their products, for sums that must distinguish -0.0 from +0.0.
// Cost: 3 vector operations per vector of elements, 12 for products.
#pragma once

#include "kernels/target.hpp"
#include "order/index.hpp"

namespace steadfold::kernels {

/// The largest number of terms in one call.
inline constexpr order::Count most_counted = order::Count{1} << 30;

/// Returns how many of `count` elements are zeros of this sign; `second` is not read. With two factors, returns the
/// number of products that are zeros of this sign and have no infinite or NaN factor. Elements need not be aligned.
using CountZeros = order::Count (*)(const void* first, const void* second, order::Count count, bool negative) noexcept;

/// Returns the target's kernel, or the reference if the target has none. T is double or float; `factors` is 1 or 2.
template <class T, int factors>
CountZeros count_zeros(Target target) noexcept;

}  // namespace steadfold::kernels
