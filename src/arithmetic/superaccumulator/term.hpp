// The sign, mantissa and exponent of an element of an exact sum, or of an exact product. Cost: a few instructions. All
// are integer instructions, so they work in any floating-point environment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "arithmetic/superaccumulator/long_integer.hpp"

namespace steadfold::arithmetic {

/// The mantissa and shift of a finite element, which is +-mantissa 2^(lowest_exponent of the format + shift).
template <class Element>
struct Factor {
  typename Format<Element>::Bits bits;
  std::uint64_t mantissa;
  unsigned shift;
  bool finite;
};

/// Reads the element at an address, aligned or not, and keeps the bits in `kept_bits`.
template <class Element>
inline Factor<Element> load_factor(const std::byte* from, typename Format<Element>::Bits kept_bits) noexcept {
  using F = Format<Element>;
  typename F::Bits bits;
  std::memcpy(&bits, from, sizeof bits);
  bits &= kept_bits;
  const auto biased = (bits >> (F::precision - 1)) & F::exponent_mask;
  const typename F::Bits normal = biased != 0;
  const auto mantissa = (bits & (F::implicit_bit - 1)) | (normal << (F::precision - 1));
  return {bits, mantissa, static_cast<unsigned>(biased - normal), biased != F::exponent_mask};
}

/// Whether a finite element, or a product of two, is -0.0.
template <class Element>
inline bool is_minus_zero(const Factor<Element>& x) noexcept {
  return x.bits == Format<Element>::sign_bit;
}
template <class Element>
inline bool is_minus_zero(const Factor<Element>& x, const Factor<Element>& y) noexcept {
  return (x.mantissa == 0 || y.mantissa == 0) && ((x.bits ^ y.bits) & Format<Element>::sign_bit) != 0;
}

}  // namespace steadfold::arithmetic
