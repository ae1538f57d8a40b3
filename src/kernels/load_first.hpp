// A vector of what is left at the end of an array. Included by files with kernels, once for every instruction set.
// Rank order: kept. Cost: one load where memory can be masked, else a copy.
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

/// The `count` elements from x on, fewer than there are lanes, followed by zeros. Reads no other memory.
template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> load_first(D d, const hwy::HWY_NAMESPACE::TFromD<D>* x, std::size_t count) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_HAVE_SCALABLE
  return hn::MaskedLoad(hn::FirstN(d, count), d, x);
#else  // what is masked may be read there
  alignas(16) hn::TFromD<D> copy[hn::MaxLanes(d)] = {};
  std::memcpy(copy, x, count * sizeof *x);
  return hn::Load(d, copy);
#endif
}

}  // namespace steadfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
