// Moves the bins of groups of columns to higher bin ranges. Files with kernels include this file once per instruction
// set. Rank order: none. Cost: K operations per bin.
#if defined(STEADFOLD_KERNELS_MOVED_BINS) == defined(HWY_TARGET_TOGGLE)
#ifdef STEADFOLD_KERNELS_MOVED_BINS
#undef STEADFOLD_KERNELS_MOVED_BINS
#else
#define STEADFOLD_KERNELS_MOVED_BINS
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "kernels/columns.hpp"
#include "kernels/pre_rounding.hpp"

HWY_BEFORE_NAMESPACE();
namespace steadfold::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Widen bytes to unsigned integers of 64 bits, and narrow integers below 256 to bytes.
HWY_INLINE hn::Vec<hn::CappedTag<std::uint64_t, most_columns>> widened(const std::uint8_t* bytes) {
  const hn::CappedTag<std::uint64_t, most_columns> d;
  const hn::Rebind<std::uint8_t, decltype(d)> narrow;
  const hn::Rebind<std::uint32_t, decltype(d)> half;
  return hn::PromoteTo(d, hn::PromoteTo(half, hn::LoadU(narrow, bytes)));
}
template <class V>
HWY_INLINE void store_narrow(V words, std::uint8_t* bytes) {
  const hn::Rebind<std::uint8_t, hn::DFromV<V>> narrow;
  hn::StoreU(hn::TruncateTo(narrow, words), narrow, bytes);
}

/// Returns the number of binary exponents that a number of bins covers.
template <class V>
HWY_INLINE V binades_of(V bins) {
  static_assert(pre_rounding_width == 32 + 8);
  return hn::Add(hn::ShiftLeft<5>(bins), hn::ShiftLeft<3>(bins));
}

/// Returns the sums of some columns in one bin of bin ranges that are `by` bins higher than the bin range of `sums`. In
/// `sums` the sums of a bin are followed by the sums of the bin below.
template <int bin, class D>
HWY_INLINE hn::Vec<D> moved(D d, const hn::TFromD<D>* sums, hn::Vec<D> by) {
  const auto of = [&](int own) HWY_ATTR { return hn::LoadU(d, sums + own * static_cast<int>(most_columns)); };
  auto found = hn::IfThenElseZero(hn::Eq(by, hn::Zero(d)), of(bin));
  if constexpr (bin >= 1) found = hn::Or(found, hn::IfThenElseZero(hn::Eq(by, hn::Set(d, 1)), of(bin - 1)));
  if constexpr (bin >= 2) found = hn::Or(found, hn::IfThenElseZero(hn::Eq(by, hn::Set(d, 2)), of(bin - 2)));
  if constexpr (bin >= 3) found = hn::Or(found, hn::IfThenElseZero(hn::Eq(by, hn::Set(d, 3)), of(bin - 3)));
  return found;
}

}  // namespace steadfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
