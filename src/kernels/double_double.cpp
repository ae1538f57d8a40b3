// Kernels of double_double.hpp. A lane adds up its terms in `high`, and the rounding errors in `low`. Then lanes
// exchange their sums at a distance of half a vector, a quarter, and so on, until all lanes hold the same sum.
#include "kernels/double_double.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/highway.hpp"

#if STEADFOLD_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/double_double.cpp"
#include <hwy/foreach_target.h>  // HWY_TARGET_INCLUDE must be defined before this line
#include <hwy/highway.h>

#include "kernels/load_first.hpp"
#endif

#ifndef STEADFOLD_KERNELS_DOUBLE_DOUBLE_SCALAR
#define STEADFOLD_KERNELS_DOUBLE_DOUBLE_SCALAR
namespace steadfold::kernels {
namespace {

/// Whether high + low is the exact sum. Infinities and NaNs among the terms show in the sum.
[[maybe_unused]] bool holds_sum(const DoubleDoubleSum& found) noexcept {
  const auto biased = [](double x) { return static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52); };
  const double sum = found.high + found.low;
  return sum - sum == 0 && sum != 0 &&
         biased(found.largest) - std::max(biased(found.least), 1) <= widest_in_double_double;
}

}  // namespace
}  // namespace steadfold::kernels
#endif

#if STEADFOLD_HIGHWAY && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace steadfold::kernels::HWY_NAMESPACE {
namespace {

#if HWY_HAVE_SCALABLE  // vectors without a fixed size cannot be members of a class

template <class T>
bool sum_as_double_double(const void* /*elements*/, order::Count /*count*/, DoubleDoubleSum& /*found*/) noexcept {
  return false;
}

#else

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

constexpr std::size_t lanes = hn::MaxLanes(D());

HWY_INLINE V load(const double* x) { return hn::LoadU(D(), x); }
HWY_INLINE V load(const float* x) { return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<float, D>(), x)); }
HWY_INLINE V load_few(const double* x, order::Count count) { return load_first(D(), x, count); }
HWY_INLINE V load_few(const float* x, order::Count count) {
  return hn::PromoteTo(D(), load_first(hn::Rebind<float, D>(), x, count));
}

/// Adds x to `sum`, and returns the exact rounding error, or a NaN if the sum is infinite.
HWY_INLINE V add(V& sum, V x) {
  const V before = sum;
  sum = hn::Add(before, x);
  const V of_x = hn::Sub(sum, before);
  return hn::Add(hn::Sub(before, hn::Sub(sum, of_x)), hn::Sub(x, of_x));
}

struct DoubleDoubleLanes {
  V high;
  V low;
  V largest;
  V least;

  HWY_INLINE explicit DoubleDoubleLanes(V x)
      : high(x), low(hn::Zero(D())), largest(hn::Abs(x)), least(magnitude_or(hn::Inf(D()), x)) {}
  HWY_INLINE void take(V x) {
    low = hn::Add(low, add(high, x));
    largest = hn::Max(largest, hn::Abs(x));
    least = hn::Min(least, magnitude_or(least, x));
  }

 private:
  HWY_INLINE static V magnitude_or(V if_zero, V x) {
    return hn::IfThenElse(hn::Eq(x, hn::Zero(D())), if_zero, hn::Abs(x));
  }
};

/// Swaps lanes that are `distance` apart.
template <std::size_t distance>
HWY_INLINE V exchanged(V v) {
  if constexpr (distance == 1)
    return hn::Shuffle01(v);
  else if constexpr (2 * distance == lanes)
    return hn::ConcatLowerUpper(D(), v, v);
  else
    return hn::SwapAdjacentBlocks(v);
}

template <std::size_t distance>
HWY_INLINE void unite(DoubleDoubleLanes& sums) {
  if constexpr (distance > 0) {
    const V low = hn::Add(sums.low, exchanged<distance>(sums.low));
    sums.low = hn::Add(low, add(sums.high, exchanged<distance>(sums.high)));
    sums.largest = hn::Max(sums.largest, exchanged<distance>(sums.largest));
    sums.least = hn::Min(sums.least, exchanged<distance>(sums.least));
    unite<distance / 2>(sums);
  }
}

template <class T>
bool sum_as_double_double(const void* elements, order::Count count, DoubleDoubleSum& found) noexcept {
  const T* x = static_cast<const T*>(elements);
  if (count == 1) {
    const double only = *x;
    found = {.high = only, .low = 0, .largest = std::fabs(only), .least = std::fabs(only)};
    return holds_sum(found);
  }
  DoubleDoubleLanes sums(count < lanes ? load_few(x, count) : load(x));
  if (count > lanes) {
    for (x += lanes, count -= lanes; count >= lanes; x += lanes, count -= lanes) sums.take(load(x));
    if (count > 0) sums.take(load_few(x, count));
  }
  unite<lanes / 2>(sums);
  found = {.high = hn::GetLane(sums.high),
           .low = hn::GetLane(sums.low),
           .largest = hn::GetLane(sums.largest),
           .least = hn::GetLane(sums.least)};
  return holds_sum(found);
}

#endif

}  // namespace
}  // namespace steadfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if !STEADFOLD_HIGHWAY || HWY_ONCE
namespace steadfold::kernels {

template <class T>
SumAsDoubleDouble sum_as_double_double([[maybe_unused]] Target target) noexcept {
  return target == Target::sve ? nullptr : pick<SumAsDoubleDouble>(target, STEADFOLD_EACH(sum_as_double_double<T>));
}

template SumAsDoubleDouble sum_as_double_double<double>(Target) noexcept;
template SumAsDoubleDouble sum_as_double_double<float>(Target) noexcept;

}  // namespace steadfold::kernels
#endif
