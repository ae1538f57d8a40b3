// Converts an integer of two words to a double, rounded once. Vector kernels do the same for several integers at a
// time. Cost: some twenty instructions without a branch.
#pragma once

#include <bit>
#include <cstdint>

namespace steadfold::kernels {

inline constexpr int fraction_bits_of_doubles = 52;
inline constexpr int bias_of_doubles = 1023;
inline constexpr std::uint64_t sign_of_doubles = std::uint64_t{1} << 63;
inline constexpr std::uint64_t infinity_of_doubles = std::uint64_t{2 * bias_of_doubles + 1} << fraction_bits_of_doubles;
/// An integer of two words counts units of 2^unit. If its highest bit is set, the exponent field of the rounded double
/// is computed as `unit` plus this number. The number is one less than the bias, because the implicit bit is added to
/// the field, too.
inline constexpr int bias_of_first_bit = 127 + bias_of_doubles - 1;

/// Returns the bits of (high 2^64 + low) 2^unit, in two's complement, as a double, rounded to nearest, ties to even; 0
/// becomes +0.0. The result must be a normal number or 0.
inline std::uint64_t rounded_double(std::uint64_t low, std::uint64_t high, int unit) noexcept {
  __extension__ using Wide = unsigned __int128;
  const Wide sign = Wide{0} - (high >> 63);
  const Wide magnitude = ((Wide{high} << 64 | low) ^ sign) - sign;
  const auto upper = static_cast<std::uint64_t>(magnitude >> 64);
  const int zeros =
      upper != 0 ? std::countl_zero(upper) : 64 + std::countl_zero(static_cast<std::uint64_t>(magnitude) | 1);
  const Wide bits = magnitude << zeros;
  const auto first = static_cast<std::uint64_t>(bits >> 64);
  const std::uint64_t kept = first >> (63 - fraction_bits_of_doubles);
  const std::uint64_t rest =
      first << (fraction_bits_of_doubles + 1) | static_cast<std::uint64_t>(static_cast<std::uint64_t>(bits) != 0);
  const std::uint64_t up = rest + (kept & 1) > sign_of_doubles ? 1 : 0;  // rounds ties to even
  // The implicit bit of `kept` adds 1 to the exponent, and so does a carry.
  const auto exponent = static_cast<std::uint64_t>(unit + bias_of_first_bit - zeros) << fraction_bits_of_doubles;
  const std::uint64_t rounded = (high & sign_of_doubles) | (exponent + kept + up);
  return magnitude == 0 ? 0 : rounded;
}

}  // namespace steadfold::kernels
