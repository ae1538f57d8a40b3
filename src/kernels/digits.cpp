// Kernels of digits.hpp: vector shifts and masks, without a branch on the exponents.
#include "kernels/digits.hpp"

#include <cstring>

#include "kernels/highway.hpp"

#if STEADFOLD_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/digits.cpp"
#include <hwy/foreach_target.h>  // HWY_TARGET_INCLUDE must be defined before this line
#include <hwy/highway.h>
#endif

#if STEADFOLD_HIGHWAY && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace steadfold::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using DU = hn::ScalableTag<std::uint64_t>;
using DI = hn::ScalableTag<std::int64_t>;

/// Cuts a vector of doubles into digits. The result is not 0 in lanes whose element is infinite or NaN.
HWY_INLINE hn::Vec<DU> cut(hn::Vec<DU> bits, std::int64_t* digit, std::int64_t* low, std::int64_t* high) {
  const DU du;
  const DI di;
  const auto zero = hn::Zero(du);
  const auto special = hn::Set(du, 0x7FF);
  const auto biased = hn::And(hn::ShiftRight<52>(bits), special);
  const auto normal = hn::IfThenZeroElse(hn::Eq(biased, zero), hn::Set(du, 1));
  const auto mantissa = hn::Or(hn::And(bits, hn::Set(du, (std::uint64_t{1} << 52) - 1)), hn::ShiftLeft<52>(normal));
  const auto shift = hn::Sub(biased, normal);
  const auto bit = hn::And(shift, hn::Set(du, 31));
  const auto negative = hn::BroadcastSignBit(hn::BitCast(di, bits));
  const auto with_sign = [&](auto magnitude)
                             HWY_ATTR { return hn::Sub(hn::Xor(hn::BitCast(di, magnitude), negative), negative); };
  hn::Store(hn::BitCast(di, hn::ShiftRight<5>(shift)), di, digit);
  hn::Store(with_sign(hn::And(hn::Shl(mantissa, bit), hn::Set(du, 0xFFFFFFFF))), di, low);
  hn::Store(with_sign(hn::Shr(mantissa, hn::Sub(hn::Set(du, 32), bit))), di, high);
  return hn::IfThenElseZero(hn::Eq(biased, special), special);
}

bool cut_into_digits(const void* elements, order::Count count, Digits& digits) noexcept {
  const DU du;
  const auto* const x = static_cast<const std::uint64_t*>(elements);
  auto special = hn::Zero(du);
  for (order::Count i = 0; i < count; i += hn::Lanes(du)) {
    auto bits = hn::Zero(du);
    if (i + hn::Lanes(du) <= count) {
      bits = hn::LoadU(du, x + i);
    } else {
      alignas(64) std::uint64_t last[hn::MaxLanes(du)] = {};
      std::memcpy(last, x + i, (count - i) * sizeof *x);
      bits = hn::Load(du, last);
    }
    special = hn::Or(special, cut(bits, &digits.digit[i], &digits.low[i], &digits.high[i]));
  }
  return hn::AllTrue(du, hn::Eq(special, hn::Zero(du)));
}

}  // namespace
}  // namespace steadfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if !STEADFOLD_HIGHWAY || HWY_ONCE
namespace steadfold::kernels {

CutIntoDigits cut_into_digits(Target target) noexcept {
  return pick<CutIntoDigits>(target, STEADFOLD_EACH(cut_into_digits));
}

}  // namespace steadfold::kernels
#endif
