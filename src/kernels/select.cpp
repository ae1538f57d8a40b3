// Kernels of select.hpp: one instruction moves the selected elements of a vector to its front.
#include "kernels/select.hpp"

#include <cstring>

#include "kernels/highway.hpp"

#if STEADFOLD_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/select.cpp"
#include <hwy/foreach_target.h>  // HWY_TARGET_INCLUDE must be defined before this line
#include <hwy/highway.h>
#endif

#if STEADFOLD_HIGHWAY && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace steadfold::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Other targets have no instruction that packs selected lanes. Highway 1.0.3 then uses tables, which compilers copy to
// the stack each time. These tables are ten times slower than copying elements one by one.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_SVE
constexpr bool can_compress = true;
#else
constexpr bool can_compress = false;
#endif

HWY_INLINE auto widened(hn::ScalableTag<std::uint32_t> d, const std::uint8_t* bytes) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::uint8_t, decltype(d)>(), bytes));
}
HWY_INLINE auto widened(hn::ScalableTag<std::uint64_t> d, const std::uint8_t* bytes) {
  const hn::Rebind<std::uint32_t, decltype(d)> half;
  return hn::PromoteTo(d, hn::PromoteTo(half, hn::LoadU(hn::Rebind<std::uint8_t, decltype(d)>(), bytes)));
}

/// Compresses elements of 64 bits as pairs of 32 bits, because Highway has tables for 64 bits too.
template <class D, class Mask>
HWY_INLINE auto compressed(D d, hn::Vec<D> elements, Mask taken) {
  const hn::Repartition<std::uint32_t, D> halves;
  const auto both = hn::MaskFromVec(hn::BitCast(halves, hn::VecFromMask(d, taken)));
  return hn::BitCast(d, hn::Compress(hn::BitCast(halves, elements), both));
}

/// Stores a full vector each time; the next vector overwrites the excess. `to` has enough memory, because at most as
/// many elements are selected as were read.
template <class Bits>
order::Count selected(const std::byte* elements, const std::byte* mask, order::Count count, std::byte* to) noexcept {
  const hn::ScalableTag<Bits> d;
  const order::Count lanes = hn::Lanes(d);
  const auto* const x = reinterpret_cast<const Bits*>(elements);
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(mask);
  auto* const out = reinterpret_cast<Bits*>(to);
  order::Count found = 0;
  order::Count i = 0;
  for (; i + lanes <= count; i += lanes) {
    __builtin_prefetch(elements + i * sizeof(Bits) + 4096, 0, 2);
    const auto taken = hn::Ne(widened(d, bytes + i), hn::Zero(d));
    hn::StoreU(compressed(d, hn::LoadU(d, x + i), taken), d, out + found);
    found += hn::CountTrue(d, taken);
  }
  for (; i < count; ++i) {
    std::memcpy(out + found, x + i, sizeof(Bits));
    found += mask[i] != std::byte{0} ? 1 : 0;
  }
  return found;
}

Select select([[maybe_unused]] order::Bytes element_bytes) noexcept {
  if constexpr (can_compress) {
    if (element_bytes == 8) return &selected<std::uint64_t>;
    if (element_bytes == 4) return &selected<std::uint32_t>;
  }
  return nullptr;
}

}  // namespace
}  // namespace steadfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if !STEADFOLD_HIGHWAY || HWY_ONCE
namespace steadfold::kernels {

Select select(Target target, [[maybe_unused]] order::Bytes element_bytes) noexcept {
  using Choose = Select (*)(order::Bytes) noexcept;
  const auto choose = pick<Choose>(target, STEADFOLD_EACH(select));
  return choose == nullptr ? nullptr : choose(element_bytes);
}

}  // namespace steadfold::kernels
#endif
