// The terms of extraction.cpp, read as vectors of doubles, and their extraction into sums. Files with kernels include
// this file once per instruction set. Cost: one load per vector, 3 additions per extraction.
#if defined(STEADFOLD_KERNELS_EXTRACTED_TERMS) == defined(HWY_TARGET_TOGGLE)
#ifdef STEADFOLD_KERNELS_EXTRACTED_TERMS
#undef STEADFOLD_KERNELS_EXTRACTED_TERMS
#else
#define STEADFOLD_KERNELS_EXTRACTED_TERMS
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <type_traits>

#include "kernels/extraction.hpp"
#include "kernels/load_first.hpp"
#include "kernels/prefetch.hpp"

HWY_BEFORE_NAMESPACE();
namespace steadfold::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using DI = hn::RebindToSigned<D>;
using V = hn::Vec<D>;
using VI = hn::Vec<DI>;

#if HWY_NATIVE_FMA
constexpr bool has_fma = true;
#else
constexpr bool has_fma = false;
#endif

constexpr bool is_product(ExtractedTerms terms) {
  return terms == ExtractedTerms::products_of_floats || terms == ExtractedTerms::products_of_doubles;
}

constexpr bool is_absolute(ExtractedTerms terms) {
  return terms == ExtractedTerms::absolute_doubles || terms == ExtractedTerms::absolute_floats;
}

HWY_INLINE V load(const double* x) { return hn::LoadU(D(), x); }
HWY_INLINE V load(const float* x) { return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<float, D>(), x)); }

HWY_INLINE V load_few(const double* x, Count count) { return load_first(D(), x, count); }
HWY_INLINE V load_few(const float* x, Count count) {
  return hn::PromoteTo(D(), load_first(hn::Rebind<float, D>(), x, count));
}

template <ExtractedTerms terms>
using ElementOf = std::conditional_t<terms == ExtractedTerms::doubles || terms == ExtractedTerms::products_of_doubles ||
                                         terms == ExtractedTerms::absolute_doubles,
                                     double, float>;

/// Some terms, read as one vector: `count` terms, followed by zeros, which change no sum.
template <ExtractedTerms terms>
struct SomeTerms {
  using Element = ElementOf<terms>;
  const Element* first;
  const Element* second;
  Count count;

  HWY_INLINE V x() const { return count >= hn::Lanes(D()) ? load(first) : load_few(first, count); }
  HWY_INLINE V y() const { return count >= hn::Lanes(D()) ? load(second) : load_few(second, count); }
  HWY_INLINE V operator[](Count /*i*/) const {
    if constexpr (is_product(terms)) return hn::Mul(x(), y());
    return is_absolute(terms) ? hn::Abs(x()) : x();
  }
  HWY_INLINE V rest_of(V product, Count /*i*/) const { return hn::MulSub(x(), y(), product); }
};

/// The terms in memory, read as vectors of doubles.
template <ExtractedTerms terms>
struct Source {
  using Element = ElementOf<terms>;
  const Element* first;
  const Element* second;
  Prefetch where = prefetch;

  HWY_INLINE V operator[](Count i) const {
    if constexpr (is_product(terms)) return hn::Mul(load(first + i), load(second + i));
    if constexpr (is_absolute(terms)) return hn::Abs(load(first + i));
    return load(first + i);
  }
  /// The rounding error of the product, exact if `are_exact`.
  HWY_INLINE V rest_of(V product, Count i) const { return hn::MulSub(load(first + i), load(second + i), product); }
  HWY_INLINE SomeTerms<terms> some(Count i, Count count) const {
    return {first + i, is_product(terms) ? second + i : nullptr, count};
  }

  HWY_INLINE void fetch_ahead(Count i) const {
    ask_ahead(first + i, where);
    if constexpr (is_product(terms)) ask_ahead(second + i, where);
  }
  /// The number of elements before the first aligned element; 0 if no element is aligned.
  Count before_alignment() const {
    const auto beyond = reinterpret_cast<std::uintptr_t>(first) % (hn::MaxLanes(D()) * sizeof(Element));
    return beyond % sizeof(Element) != 0 || beyond == 0
               ? 0
               : (hn::MaxLanes(D()) * sizeof(Element) - beyond) / sizeof(Element);
  }
};

/// Adds v to a level and returns the rounding error. Levels alternate between additions and multiply-adds, to use both
/// units of processors that have separate units for them.
template <int level>
HWY_INLINE V extract(V& sum, V v, [[maybe_unused]] V one) {
  if constexpr (!has_fma) {
    const V before = sum;
    sum = hn::Add(sum, v);
    return hn::Sub(v, hn::Sub(sum, before));
  } else if constexpr (level % 2 == 0) {
    const V before = sum;
    sum = hn::MulAdd(v, one, sum);
    return hn::Sub(v, hn::Sub(sum, before));
  } else {
    const V before = sum;
    sum = hn::Add(sum, v);
    return hn::NegMulAdd(hn::MulSub(sum, one, before), one, v);
  }
}

}  // namespace steadfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
