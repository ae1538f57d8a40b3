// Kernels of shares.hpp. For every bin, each lane adds up the bit patterns of term + extractor, modulo 2^64; in the end
// those of the extractors are subtracted. Sums of integers have no order, so the lane count does not show.
#include "kernels/shares.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "kernels/highway.hpp"

#if STEADFOLD_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/shares.cpp"
#include <hwy/foreach_target.h>  // after the line above
#include <hwy/highway.h>

#include "kernels/load_first.hpp"
#endif

#ifndef STEADFOLD_KERNELS_SHARES_SCALAR
#define STEADFOLD_KERNELS_SHARES_SCALAR
namespace steadfold::kernels {
namespace {

using order::Count;

template <class T>
double load(const void* elements, Count number) noexcept {
  T x;
  std::memcpy(&x, static_cast<const char*>(elements) + number * sizeof x, sizeof x);
  return static_cast<double>(x);
}

[[maybe_unused]] constexpr std::uint64_t infinity = 0x7FF0000000000000;

/// Adds to `sums` what `found` holds: the bit patterns of `count` terms, each plus an extractor, less the extractors'.
template <int bin_count>
void take_away_extractors(const std::uint64_t* found, Count count, const double* extractors,
                          std::int64_t* sums) noexcept {
  for (int bin = 0; bin < bin_count; ++bin)
    sums[bin] += static_cast<std::int64_t>(found[bin] - count * std::bit_cast<std::uint64_t>(extractors[bin]));
}

template <TermForm form, class T, int bin_count>
std::uint64_t reference(const void* first, const void* second, Count count, double scale, const double* extractors,
                        std::int64_t* sums) noexcept {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  std::uint64_t largest = 0;
  std::uint64_t found[std::max(bin_count, 1)] = {};
  for (Count i = 0; i < count; ++i) {
    double term = load<T>(first, i);
    if constexpr (form == TermForm::product) term *= load<T>(second, i);
    largest = std::max(largest, std::bit_cast<std::uint64_t>(term) & ~sign);
    double rest = term * scale;
    if constexpr (form == TermForm::square) rest *= rest;
    for (int bin = 0; bin < bin_count; ++bin) {
      const double moved = rest + extractors[bin];
      found[bin] += std::bit_cast<std::uint64_t>(moved);
      rest -= moved - extractors[bin];
    }
  }
  take_away_extractors<bin_count>(found, count, extractors, sums);
  return largest;
}

}  // namespace
}  // namespace steadfold::kernels
#endif

#if STEADFOLD_HIGHWAY && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace steadfold::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using DI = hn::RebindToSigned<D>;
using V = hn::Vec<D>;
using VI = hn::Vec<DI>;

HWY_INLINE V load(D d, const double* x) { return hn::LoadU(d, x); }
HWY_INLINE V load(D d, const float* x) { return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), x)); }

HWY_INLINE V load_few(D d, const double* x, Count count) { return load_first(d, x, count); }
HWY_INLINE V load_few(D d, const float* x, Count count) {
  return hn::PromoteTo(d, load_first(hn::Rebind<float, D>(), x, count));
}

/// Loads the elements, or their products. The last few are followed by zeros, which have no shares.
template <TermForm form, class T>
HWY_INLINE V factors(const T* x, const T* y, Count count) {
  const D d;
  if (count >= hn::Lanes(d)) [[likely]] {
    if constexpr (form == TermForm::product) return hn::Mul(load(d, x), load(d, y));
    return load(d, x);
  }
  if constexpr (form == TermForm::product) return hn::Mul(load_few(d, x, count), load_few(d, y, count));
  return load_few(d, x, count);
}

/// Whether the largest is found by comparing bit patterns. Without an instruction for that, a comparison and a choice
/// follow each other, and every vector waits for the one before. Then magnitudes are compared, and a term that is not
/// finite shows in x - x, which is otherwise +0.
constexpr bool compares_bits = HWY_TARGET == HWY_AVX3 || HWY_HAVE_SCALABLE != 0;

HWY_INLINE std::uint64_t sum_of_lanes(VI lanes) {
  return static_cast<std::uint64_t>(hn::GetLane(hn::SumOfLanes(DI(), lanes)));
}

/// Lines are asked for this many bytes ahead, since one core's loads alone do not keep memory busy; never beyond the
/// elements, where looking up a page costs more than is won. They go to the second-level cache; fold.cpp says why.
constexpr Count ahead = 8192;

template <class T>
HWY_INLINE void fetch_ahead(const T* x) {
  __builtin_prefetch(reinterpret_cast<const char*>(x) + ahead, 0, 2);
}

// The sums are variables, not an array, since vectors of SVE have no size; nothing takes their address, which would
// keep them in memory.
template <TermForm form, class T, int bin_count>
std::uint64_t shares(const void* first, const void* second, Count count, double scale_by, const double* extractors,
                     std::int64_t* sums) noexcept {
  const D d;
  const DI di;
  const Count lanes = hn::Lanes(d);
  const auto* x = static_cast<const T*>(first);
  const auto* y = static_cast<const T*>(form == TermForm::product ? second : first);
  const V scale = hn::Set(d, scale_by);
  const V e0 = hn::Set(d, bin_count > 0 ? extractors[0] : 0.0);
  const V e1 = hn::Set(d, bin_count > 1 ? extractors[1] : 0.0);
  const V e2 = hn::Set(d, bin_count > 2 ? extractors[2] : 0.0);
  const V e3 = hn::Set(d, bin_count > 3 ? extractors[3] : 0.0);
  VI largest_bits = hn::Zero(di);
  V largest = hn::Zero(d);
  V not_finite = hn::Zero(d);
  VI s0 = hn::Zero(di);
  VI s1 = hn::Zero(di);
  VI s2 = hn::Zero(di);
  VI s3 = hn::Zero(di);
  Count done = 0;
  for (; done < count; done += lanes, x += lanes, y += lanes) {
    if (done + ahead / sizeof(T) < count) {
      fetch_ahead(x);
      if constexpr (form == TermForm::product) fetch_ahead(y);
    }
    V rest = factors<form>(x, y, count - done);
    if constexpr (compares_bits) {
      largest_bits = hn::Max(largest_bits, hn::BitCast(di, hn::Abs(rest)));
    } else {
      largest = hn::Max(largest, hn::Abs(rest));
      not_finite = hn::Or(not_finite, hn::Sub(rest, rest));
    }
    if constexpr (form == TermForm::square) {
      rest = hn::Mul(rest, scale);
      rest = hn::Mul(rest, rest);
    }
    if constexpr (bin_count > 0 && form == TermForm::square) {
      const V moved = hn::Add(rest, e0);
      s0 = hn::Add(s0, hn::BitCast(di, moved));
      rest = hn::Sub(rest, hn::Sub(moved, e0));
    } else if constexpr (bin_count > 0) {  // fused or not: rest * scale is exact, or has no share
      const V moved = hn::MulAdd(rest, scale, e0);
      s0 = hn::Add(s0, hn::BitCast(di, moved));
      rest = hn::MulSub(rest, scale, hn::Sub(moved, e0));
    }
    if constexpr (bin_count > 1) {
      const V moved = hn::Add(rest, e1);
      s1 = hn::Add(s1, hn::BitCast(di, moved));
      rest = hn::Sub(rest, hn::Sub(moved, e1));
    }
    if constexpr (bin_count > 2) {
      const V moved = hn::Add(rest, e2);
      s2 = hn::Add(s2, hn::BitCast(di, moved));
      rest = hn::Sub(rest, hn::Sub(moved, e2));
    }
    if constexpr (bin_count > 3) s3 = hn::Add(s3, hn::BitCast(di, hn::Add(rest, e3)));
  }
  std::uint64_t found[4] = {};
  if constexpr (bin_count > 0) found[0] = sum_of_lanes(s0);
  if constexpr (bin_count > 1) found[1] = sum_of_lanes(s1);
  if constexpr (bin_count > 2) found[2] = sum_of_lanes(s2);
  if constexpr (bin_count > 3) found[3] = sum_of_lanes(s3);
  take_away_extractors<bin_count>(found, done, extractors, sums);
  if constexpr (compares_bits) return static_cast<std::uint64_t>(hn::GetLane(hn::MaxOfLanes(di, largest_bits)));
  if (!hn::AllTrue(di, hn::Eq(hn::BitCast(di, not_finite), hn::Zero(di)))) return infinity;
  return std::bit_cast<std::uint64_t>(hn::GetLane(hn::MaxOfLanes(d, largest)));
}

}  // namespace
}  // namespace steadfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if !STEADFOLD_HIGHWAY || HWY_ONCE
namespace steadfold::kernels {
namespace {

template <TermForm form, class T, int bin_count>
Shares one_of(Target target) noexcept {
  const Shares kernel = pick<Shares>(target, STEADFOLD_EACH(shares<form, T, bin_count>));
  return kernel != nullptr ? kernel : &reference<form, T, bin_count>;
}

template <TermForm form, class T>
Shares of_form(Target target, int bin_count) noexcept {
  switch (bin_count) {
    case 2: return one_of<form, T, 2>(target);
    case 3: return one_of<form, T, 3>(target);
    case 4: return one_of<form, T, 4>(target);
    default: break;
  }
  constexpr TermForm surveyed = form == TermForm::square ? TermForm::element : form;
  return one_of<surveyed, T, 0>(target);
}

}  // namespace

template <class T>
Shares shares(Target target, TermForm form, int bin_count) noexcept {
  switch (form) {
    case TermForm::product: return of_form<TermForm::product, T>(target, bin_count);
    case TermForm::square: return of_form<TermForm::square, T>(target, bin_count);
    case TermForm::element: break;
  }
  return of_form<TermForm::element, T>(target, bin_count);
}

template Shares shares<double>(Target, TermForm, int) noexcept;
template Shares shares<float>(Target, TermForm, int) noexcept;

}  // namespace steadfold::kernels
#endif
