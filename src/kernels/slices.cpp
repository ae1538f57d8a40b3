// Kernels of slices.hpp. For every bin, each lane adds up the bit patterns of term + extractor, modulo 2^64. At the end
// the bit patterns of the extractors are subtracted. Sums of integers do not depend on the order, so the number of
// lanes does not matter.
#include "kernels/slices.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/highway.hpp"
#include "kernels/rounded_double.hpp"

#if STEADFOLD_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/slices.cpp"
#include <hwy/foreach_target.h>  // HWY_TARGET_INCLUDE must be defined before this line
#include <hwy/highway.h>

#include "kernels/deal_out.hpp"
#include "kernels/prefetch.hpp"
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

/// Adds the sums of a block to `sums`. `found` has the sums of the bit patterns of `count` terms plus extractors; the
/// extractors are subtracted first.
template <int bin_count>
void take_away_extractors(const std::uint64_t* found, Count count, const double* extractors,
                          std::int64_t* sums) noexcept {
  for (int bin = 0; bin < bin_count; ++bin)
    sums[bin] += static_cast<std::int64_t>(found[bin] - count * std::bit_cast<std::uint64_t>(extractors[bin]));
}

template <TermForm form, class T, int bin_count>
std::uint64_t reference(const void* first, const void* second, Count count, double scale, const double* extractors,
                        std::int64_t* sums) noexcept {
  std::uint64_t largest = 0;
  std::uint64_t found[std::max(bin_count, 1)] = {};
  for (Count i = 0; i < count; ++i) {
    double term = load<T>(first, i);
    if constexpr (form == TermForm::product) term *= load<T>(second, i);
    largest = std::max(largest, std::bit_cast<std::uint64_t>(term) & ~sign_of_doubles);
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

using D = hn::ScalableTag<double>;
using DI = hn::RebindToSigned<D>;
using V = hn::Vec<D>;
using VI = hn::Vec<DI>;

HWY_INLINE std::uint64_t sum_of_lanes(VI lanes) {
  return static_cast<std::uint64_t>(hn::GetLane(hn::SumOfLanes(DI(), lanes)));
}

template <TermForm form, class T, int bin_count>
std::uint64_t add_slices(const void* first, const void* second, Count count, double scale_by, const double* extractors,
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
  const Prefetch where = prefetch;
  Count done = 0;
  for (; done < count; done += lanes, x += lanes, y += lanes) {
    if (done + bytes_ahead / sizeof(T) < count) {  // not beyond the elements, where a new page would be looked up
      ask_ahead(x, where);
      if constexpr (form == TermForm::product) ask_ahead(y, where);
    }
    const V rest = factors<form>(D(), x, y, count - done);
    find_largest(rest, largest_bits, largest, not_finite);
    deal_out<form, bin_count>(rest, scale, e0, e1, e2, e3, s0, s1, s2, s3);
  }
  std::uint64_t found[4] = {};
  if constexpr (bin_count > 0) found[0] = sum_of_lanes(s0);
  if constexpr (bin_count > 1) found[1] = sum_of_lanes(s1);
  if constexpr (bin_count > 2) found[2] = sum_of_lanes(s2);
  if constexpr (bin_count > 3) found[3] = sum_of_lanes(s3);
  take_away_extractors<bin_count>(found, done, extractors, sums);
  if constexpr (compares_bits) return static_cast<std::uint64_t>(hn::GetLane(hn::MaxOfLanes(di, largest_bits)));
  if (!hn::AllTrue(di, hn::Eq(hn::BitCast(di, not_finite), hn::Zero(di)))) return infinity_of_doubles;
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
AddSlices one_of(Target target) noexcept {
  const AddSlices kernel = pick<AddSlices>(target, STEADFOLD_EACH(add_slices<form, T, bin_count>));
  return kernel != nullptr ? kernel : &reference<form, T, bin_count>;
}

}  // namespace

template <class T>
AddSlices add_slices(Target target, TermForm form, int bin_count) noexcept {
  return of_form(form, bin_count, [=]<TermForm chosen, int bins>() { return one_of<chosen, T, bins>(target); });
}

template AddSlices add_slices<double>(Target, TermForm, int) noexcept;
template AddSlices add_slices<float>(Target, TermForm, int) noexcept;

}  // namespace steadfold::kernels
#endif
