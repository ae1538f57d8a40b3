// Kernels of zeros.hpp: they compare bit patterns. A true comparison gives the mask -1.
#include "kernels/zeros.hpp"

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/highway.hpp"

#if STEADFOLD_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/zeros.cpp"
#include <hwy/foreach_target.h>  // HWY_TARGET_INCLUDE must be defined before this line
#include <hwy/highway.h>
#endif

#ifndef STEADFOLD_ZEROS_REFERENCE  // compiled once, although this file is included again for every target
#define STEADFOLD_ZEROS_REFERENCE
namespace steadfold::kernels {
namespace {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
template <class T>
constexpr BitsOf<T> sign_bit = BitsOf<T>{1} << (8 * sizeof(T) - 1);
/// The bits of infinity. The bits of finite numbers without the sign are less.
template <class T>
constexpr BitsOf<T> infinite =
    ((sign_bit<T> >> (std::numeric_limits<T>::digits - 1)) - 1) << (std::numeric_limits<T>::digits - 1);

template <class T, int factors>
order::Count count_zeros_one_by_one(const void* first, const void* second, order::Count count, bool negative) noexcept {
  constexpr auto sign = sign_bit<T>;
  const BitsOf<T> wanted = negative ? sign : 0;
  const auto* x = static_cast<const std::byte*>(first);
  const auto* y = static_cast<const std::byte*>(second);
  order::Count found = 0;
  for (order::Count i = 0; i < count; ++i) {
    BitsOf<T> a;
    std::memcpy(&a, x + i * sizeof(T), sizeof a);
    if constexpr (factors == 1) {
      found += a == wanted ? 1 : 0;
    } else {
      BitsOf<T> b;
      std::memcpy(&b, y + i * sizeof(T), sizeof b);
      const bool is_zero =
          ((a & ~sign) == 0 && (b & ~sign) < infinite<T>) || ((b & ~sign) == 0 && (a & ~sign) < infinite<T>);
      found += is_zero && ((a ^ b) & sign) == wanted ? 1 : 0;
    }
  }
  return found;
}

}  // namespace
}  // namespace steadfold::kernels
#endif

#if STEADFOLD_HIGHWAY && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace steadfold::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T, int factors>
order::Count count_zeros(const void* first, const void* second, order::Count count, bool negative) noexcept {
  using Bits = BitsOf<T>;
  const hn::ScalableTag<Bits> d;
  if (count < hn::Lanes(d)) return count_zeros_one_by_one<T, factors>(first, second, count, negative);
  const hn::RebindToSigned<decltype(d)> signed_d;
  const auto zero = hn::Zero(d);
  const auto sign = hn::Set(d, sign_bit<T>);
  const auto wanted = negative ? sign : zero;
  const auto above = hn::Set(signed_d, static_cast<hn::TFromD<decltype(signed_d)>>(infinite<T>));
  const auto* x = static_cast<const Bits*>(first);
  const auto* y = static_cast<const Bits*>(second);
  auto found = zero;
  order::Count i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto a = hn::LoadU(d, x + i);
    if constexpr (factors == 1) {
      found = hn::Sub(found, hn::VecFromMask(d, hn::Eq(a, wanted)));
    } else {
      const auto b = hn::LoadU(d, y + i);
      const auto of_a = hn::AndNot(sign, a);
      const auto of_b = hn::AndNot(sign, b);
      const auto is_finite = [&](auto bits)
                                 HWY_ATTR { return hn::RebindMask(d, hn::Lt(hn::BitCast(signed_d, bits), above)); };
      const auto is_zero =
          hn::Or(hn::And(hn::Eq(of_a, zero), is_finite(of_b)), hn::And(hn::Eq(of_b, zero), is_finite(of_a)));
      const auto has_sign = hn::Eq(hn::And(hn::Xor(a, b), sign), wanted);
      found = hn::Sub(found, hn::VecFromMask(d, hn::And(is_zero, has_sign)));
    }
  }
  return hn::GetLane(hn::SumOfLanes(d, found)) +
         count_zeros_one_by_one<T, factors>(x + i, factors == 1 ? nullptr : y + i, count - i, negative);
}

}  // namespace
}  // namespace steadfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if !STEADFOLD_HIGHWAY || HWY_ONCE
namespace steadfold::kernels {

template <class T, int factors>
CountZeros count_zeros([[maybe_unused]] Target target) noexcept {
  const CountZeros own = pick<CountZeros>(target, STEADFOLD_EACH(count_zeros<T, factors>));
  return own == nullptr ? &count_zeros_one_by_one<T, factors> : own;
}

template CountZeros count_zeros<double, 1>(Target) noexcept;
template CountZeros count_zeros<double, 2>(Target) noexcept;
template CountZeros count_zeros<float, 1>(Target) noexcept;
template CountZeros count_zeros<float, 2>(Target) noexcept;

}  // namespace steadfold::kernels
#endif
