// Kernels of pair.hpp. A lane adds up its terms in `high`, what that loses in `low`; were anything lost there, `lost`
// would not be 0. Then lanes that are ever nearer to each other exchange their sums, until all hold the same.
#include "kernels/pair.hpp"

#include "kernels/highway.hpp"

#if STEADFOLD_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pair.cpp"
#include <hwy/foreach_target.h>  // after the line above
#include <hwy/highway.h>

#include "kernels/load_first.hpp"
#endif

#if STEADFOLD_HIGHWAY && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace steadfold::kernels::HWY_NAMESPACE {
namespace {

#if HWY_HAVE_SCALABLE  // vectors without a size are no members

template <class T>
bool sum_as_pair(const void* /*elements*/, order::Count /*count*/, double* /*result*/) noexcept {
  return false;
}

#else

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using DI = hn::RebindToSigned<D>;
using V = hn::Vec<D>;

constexpr std::size_t lanes = hn::MaxLanes(D());

HWY_INLINE V load(const double* x) { return hn::LoadU(D(), x); }
HWY_INLINE V load(const float* x) { return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<float, D>(), x)); }
HWY_INLINE V load_few(const double* x, order::Count count) { return load_first(D(), x, count); }
HWY_INLINE V load_few(const float* x, order::Count count) {
  return hn::PromoteTo(D(), load_first(hn::Rebind<float, D>(), x, count));
}

/// Adds x to `sum`; returns what that loses, exactly, or a NaN where it is infinite.
HWY_INLINE V add(V& sum, V x) {
  const V before = sum;
  sum = hn::Add(before, x);
  const V of_x = hn::Sub(sum, before);
  return hn::Add(hn::Sub(before, hn::Sub(sum, of_x)), hn::Sub(x, of_x));
}

struct Pair {
  V high;
  V low;
  V lost;

  HWY_INLINE void take(V x) { take_low(add(high, x)); }
  HWY_INLINE void take_low(V x) { lost = hn::Or(lost, add(low, x)); }
};

/// Lanes so far apart change places.
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
HWY_INLINE void unite(Pair& pair) {
  if constexpr (distance > 0) {
    const V low = exchanged<distance>(pair.low);
    pair.take(exchanged<distance>(pair.high));
    pair.take_low(low);
    unite<distance / 2>(pair);
  }
}

template <class T>
bool sum_as_pair(const void* elements, order::Count count, double* result) noexcept {
  const D d;
  const DI di;
  const T* x = static_cast<const T*>(elements);
  Pair pair{hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  if (count >= lanes) {
    pair.high = load(x);
    for (x += lanes, count -= lanes; count >= lanes; x += lanes, count -= lanes) pair.take(load(x));
    if (count > 0) pair.take(load_few(x, count));
  } else {
    pair.high = load_few(x, count);
  }
  unite<lanes / 2>(pair);
  pair.low = add(pair.high, pair.low);
  result[0] = hn::GetLane(pair.high);
  result[1] = hn::GetLane(pair.low);
  const auto lost = hn::BitCast(di, pair.lost);
  return hn::AllTrue(di, hn::Eq(hn::Add(lost, lost), hn::Zero(di))) && result[0] != 0;  // less the sign of zeros
}

#endif

}  // namespace
}  // namespace steadfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if !STEADFOLD_HIGHWAY || HWY_ONCE
namespace steadfold::kernels {

template <class T>
SumAsPair sum_as_pair([[maybe_unused]] Target target) noexcept {
  return target == Target::sve ? nullptr : pick<SumAsPair>(target, STEADFOLD_EACH(sum_as_pair<T>));
}

template SumAsPair sum_as_pair<double>(Target) noexcept;
template SumAsPair sum_as_pair<float>(Target) noexcept;

}  // namespace steadfold::kernels
#endif
