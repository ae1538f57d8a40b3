// Loads consecutive vectors of an array that may begin at any address. Files with kernels include this file once per
// instruction set.
// Cost: one load per vector; with AVX-512, `Cut` takes one aligned load and one permutation instead.
#if defined(STEADFOLD_KERNELS_CONSECUTIVE_LOADS) == defined(HWY_TARGET_TOGGLE)
#ifdef STEADFOLD_KERNELS_CONSECUTIVE_LOADS
#undef STEADFOLD_KERNELS_CONSECUTIVE_LOADS
#else
#define STEADFOLD_KERNELS_CONSECUTIVE_LOADS
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace steadfold::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Loads the vectors of a chunk, one after the other. `Straight` loads each from memory. `Cut` cuts each out of two
/// aligned vectors, because a load across cache lines takes two accesses.
template <class D>
struct Straight {
  HWY_INLINE auto operator()(D d, const hn::TFromD<D>* x) { return hn::LoadU(d, x); }
};

#if HWY_TARGET == HWY_AVX3
/// Loads every cache line once. The line stays in a register for the next vector, which begins in the same line. Memory
/// before the first vector is not read; the rest of the line behind the last vector is.
template <class D>
class Cut {
  using T = hn::TFromD<D>;
  using DI = hn::RebindToSigned<D>;

 public:
  /// Begins with the vector at `first`, which is a number of whole elements after an aligned address.
  HWY_INLINE explicit Cut(const T* first)
      : lanes_(reinterpret_cast<std::uintptr_t>(first) % sizeof(line_) / sizeof(T)),
        index_(hn::Add(hn::Iota(DI(), 0), hn::Set(DI(), static_cast<hn::TFromD<DI>>(lanes_)))),
        line_(hn::MaskedLoad(hn::Not(hn::FirstN(D(), lanes_)), D(), first - lanes_)) {}

  HWY_INLINE auto operator()(D d, const T* x) {
    const auto low = hn::BitCast(DI(), line_).raw;
    line_ = hn::Load(d, x - lanes_ + hn::MaxLanes(d));
    const auto high = hn::BitCast(DI(), line_).raw;
    if constexpr (sizeof(T) == 8)
      return hn::BitCast(d, hn::Vec<DI>{_mm512_permutex2var_epi64(low, index_.raw, high)});
    else
      return hn::BitCast(d, hn::Vec<DI>{_mm512_permutex2var_epi32(low, index_.raw, high)});
  }

 private:
  std::size_t lanes_;
  hn::Vec<DI> index_;
  hn::Vec<D> line_;
};
#endif

}  // namespace steadfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
