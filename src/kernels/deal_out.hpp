// Distributes vectors of terms to bins. Files with kernels include this file once per instruction set.
// Rank order: none. Cost: 4 operations per bin.
#if defined(STEADFOLD_KERNELS_DEAL_OUT) == defined(HWY_TARGET_TOGGLE)
#ifdef STEADFOLD_KERNELS_DEAL_OUT
#undef STEADFOLD_KERNELS_DEAL_OUT
#else
#define STEADFOLD_KERNELS_DEAL_OUT
#endif

#include <hwy/highway.h>

#include "kernels/load_first.hpp"
#include "kernels/term_form.hpp"
#include "order/index.hpp"

HWY_BEFORE_NAMESPACE();
namespace steadfold::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class Tag>
HWY_INLINE hn::Vec<Tag> load_terms(Tag d, const double* x) {
  return hn::LoadU(d, x);
}
template <class Tag>
HWY_INLINE hn::Vec<Tag> load_terms(Tag d, const float* x) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, Tag>(), x));
}
template <class Tag>
HWY_INLINE hn::Vec<Tag> load_few_terms(Tag d, const double* x, order::Count count) {
  return load_first(d, x, count);
}
template <class Tag>
HWY_INLINE hn::Vec<Tag> load_few_terms(Tag d, const float* x, order::Count count) {
  return hn::PromoteTo(d, load_first(hn::Rebind<float, Tag>(), x, count));
}

/// Loads a vector of elements, or of their products. The last few are followed by zeros, which have no slices.
template <TermForm form, class Tag, class T>
HWY_INLINE hn::Vec<Tag> factors(Tag d, const T* x, const T* y, order::Count count) {
  if (count >= hn::Lanes(d)) [[likely]] {
    if constexpr (form == TermForm::product) return hn::Mul(load_terms(d, x), load_terms(d, y));
    return load_terms(d, x);
  }
  if constexpr (form == TermForm::product) return hn::Mul(load_few_terms(d, x, count), load_few_terms(d, y, count));
  return load_few_terms(d, x, count);
}

/// Whether kernels find the largest term by comparing bit patterns. Without an instruction for the maximum of 64-bit
/// integers, a comparison and a choice follow each other, and every vector waits for the previous one. Targets without
/// this instruction compare magnitudes. A term that is not finite is then found by x - x, which is +0 for finite terms.
constexpr bool compares_bits = HWY_TARGET == HWY_AVX3 || HWY_HAVE_SCALABLE != 0;

/// Includes a vector of terms in the largest magnitudes: in `bits` if bit patterns are compared, otherwise in `largest`
/// and `not_finite`.
template <class Floats, class Integers>
HWY_INLINE void find_largest(Floats term, Integers& bits, Floats& largest, Floats& not_finite) {
  if constexpr (compares_bits) {
    bits = hn::Max(bits, hn::BitCast(hn::DFromV<Integers>(), hn::Abs(term)));
  } else {
    largest = hn::Max(largest, hn::Abs(term));
    not_finite = hn::Or(not_finite, hn::Sub(term, term));
  }
}

/// Adds the slices of a vector of terms to the bins; each slice is added together with its extractor.
// The sums are variables, not an array, because vectors of SVE have no fixed size. Their addresses are never taken,
// which would keep them in memory.
template <TermForm form, int bin_count, class Floats, class Integers>
HWY_INLINE void deal_out(Floats term, Floats scale, Floats e0, Floats e1, Floats e2, Floats e3, Integers& s0,
                         Integers& s1, Integers& s2, Integers& s3) {
  const hn::DFromV<Integers> di;
  Floats rest = term;
  if constexpr (form == TermForm::square) {
    rest = hn::Mul(rest, scale);
    rest = hn::Mul(rest, rest);
  }
  if constexpr (bin_count > 0 && form == TermForm::square) {
    const auto moved = hn::Add(rest, e0);
    s0 = hn::Add(s0, hn::BitCast(di, moved));
    rest = hn::Sub(rest, hn::Sub(moved, e0));
  } else if constexpr (bin_count > 0) {
    // The result is the same with and without a fused operation: rest * scale is exact, or has no slice.
    const auto moved = hn::MulAdd(rest, scale, e0);
    s0 = hn::Add(s0, hn::BitCast(di, moved));
    rest = hn::MulSub(rest, scale, hn::Sub(moved, e0));
  }
  if constexpr (bin_count > 1) {
    const auto moved = hn::Add(rest, e1);
    s1 = hn::Add(s1, hn::BitCast(di, moved));
    rest = hn::Sub(rest, hn::Sub(moved, e1));
  }
  if constexpr (bin_count > 2) {
    const auto moved = hn::Add(rest, e2);
    s2 = hn::Add(s2, hn::BitCast(di, moved));
    rest = hn::Sub(rest, hn::Sub(moved, e2));
  }
  if constexpr (bin_count > 3) s3 = hn::Add(s3, hn::BitCast(di, hn::Add(rest, e3)));
}

}  // namespace steadfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
