// Loads the last few elements of an array as a vector. Files with kernels include this file once per instruction set.
// Rank order: kept. Cost: one load if the target can mask loads, otherwise a copy.
#if defined(STEADFOLD_KERNELS_LOAD_FIRST) == defined(HWY_TARGET_TOGGLE)
#ifdef STEADFOLD_KERNELS_LOAD_FIRST
#undef STEADFOLD_KERNELS_LOAD_FIRST
#else
#define STEADFOLD_KERNELS_LOAD_FIRST
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace steadfold::kernels::HWY_NAMESPACE {

/// Whether memory operations can leave out some lanes, without reading or writing their memory. On other targets a
/// masked load may read the masked elements.
constexpr bool can_mask = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_HAVE_SCALABLE != 0;

/// Loads `count` elements from x on, fewer than there are lanes, followed by zeros. Reads no other memory.
template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> load_first(D d, const hwy::HWY_NAMESPACE::TFromD<D>* x, std::size_t count) {
  namespace hn = hwy::HWY_NAMESPACE;
  if constexpr (can_mask) {
    return hn::MaskedLoad(hn::FirstN(d, count), d, x);
  } else {
    alignas(16) hn::TFromD<D> copy[hn::MaxLanes(d)] = {};
    std::memcpy(copy, x, count * sizeof *x);
    return hn::Load(d, copy);
  }
}

}  // namespace steadfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
