// The operators of scalar.hpp, applied to each lane of vectors. Files with kernels include this file once per
// instruction set. Rank order: operands of these operators may be swapped, which changes only the payloads of NaNs.
// Cost: one to five instructions.
#if defined(STEADFOLD_KERNELS_LANEWISE) == defined(HWY_TARGET_TOGGLE)
#ifdef STEADFOLD_KERNELS_LANEWISE
#undef STEADFOLD_KERNELS_LANEWISE
#else
#define STEADFOLD_KERNELS_LANEWISE
#endif

#include <hwy/highway.h>

#include <limits>
#include <type_traits>

#include "kernels/scalar.hpp"

HWY_BEFORE_NAMESPACE();
namespace steadfold::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class Op>
struct Lanewise;

template <>
struct Lanewise<Sum> {
  template <class D, class V>
  static HWY_INLINE V of(D /*d*/, V a, V b) {
    return hn::Add(a, b);
  }
};

template <>
struct Lanewise<Product> {
  template <class D, class V>
  static HWY_INLINE V of(D /*d*/, V a, V b) {
    return hn::Mul(a, b);
  }
};

template <class D, class V>
HWY_INLINE V nan_wins(D d, V a, V b, V otherwise) {
  using T = hn::TFromD<D>;
  const auto ordered = hn::And(hn::Eq(a, a), hn::Eq(b, b));
  return hn::IfThenElse(ordered, otherwise, hn::Set(d, std::numeric_limits<T>::quiet_NaN()));
}

template <>
struct Lanewise<Min> {
  template <class D, class V>
  static HWY_INLINE V of(D d, V a, V b) {
    if constexpr (std::is_floating_point_v<hn::TFromD<D>>)
      return nan_wins(d, a, b,
                      // Equal numbers are zeros, or have the same bits.
                      hn::IfThenElse(hn::Eq(a, b), hn::Or(a, b), hn::Min(a, b)));
    else
      return hn::Min(a, b);
  }
};

template <>
struct Lanewise<Max> {
  template <class D, class V>
  static HWY_INLINE V of(D d, V a, V b) {
    if constexpr (std::is_floating_point_v<hn::TFromD<D>>)
      return nan_wins(d, a, b, hn::IfThenElse(hn::Eq(a, b), hn::And(a, b), hn::Max(a, b)));
    else
      return hn::Max(a, b);
  }
};

}  // namespace steadfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
