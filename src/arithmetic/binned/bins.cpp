#include "arithmetic/binned/bins.hpp"

#include <algorithm>
#include <bit>

namespace steadfold::arithmetic {
namespace {

using Double = Format<double>;

constexpr int bias = Double::exponent_mask / 2;

/// Returns the least E with magnitude < 2^E.
int exponent_bound(std::uint64_t magnitude) noexcept {
  const auto biased = static_cast<int>(magnitude >> (Double::precision - 1));
  return biased == 0 ? Double::lowest_exponent + static_cast<int>(std::bit_width(magnitude)) : biased - bias + 1;
}

/// Returns 2^exponent, a normal number.
double power_of_2(int exponent) noexcept {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + bias) << (Double::precision - 1));
}

/// Whether two or three bins together fit one integer of two 64-bit words.
bool are_one_number(const Bins& bins, int bin_count) noexcept {
  if (bin_count > 3) return false;
  const auto magnitude = [&](std::size_t bin) { return bins.sums[bin] ^ (bins.sums[bin] >> 127); };
  const Int128 lower = bin_count == 3 ? magnitude(1) | magnitude(2) : magnitude(1);
  return magnitude(0) < most_of_one_number && lower >> 62 == 0;
}

}  // namespace

/// Returns the lowest top t with E < quantum(t + 1), for terms of at most 2^E.
int BinGrid::top_of(std::uint64_t largest) const noexcept {
  return factors_ * (exponent_bound(largest) - Double::lowest_exponent) / bin_width;
}

/// Returns the exponent of the scale. Doubles are scaled so that the extractor of the highest bin does not overflow.
/// For squares, the factors are scaled as close to 1 as possible; the scale must be a power of two and a normal double.
int BinGrid::scale_exponent(int top) const noexcept {
  if (squares()) return std::clamp(-quantum(top + 1) / 2, -(bias - 1), bias - 1);
  return quantum(top) + Double::precision > bias ? -bin_width : 0;
}

double BinGrid::scale(int top) const noexcept { return power_of_2(scale_exponent(top)); }

void BinGrid::extractors(int top, std::span<double> out) const noexcept {
  int exponent = quantum(top) + factors_ * scale_exponent(top) + Double::precision - 1;
  for (double& each : out) {
    each = 1.5 * power_of_2(exponent);
    exponent -= bin_width;
  }
}

/// Returns the leading bits of all bins together. After carries every bin except the top bin has 40 bits. These bins
/// make one number of at most 120 bits. The bits of the top bin, fewer than 128, are above it.
Leading leading(const Bins& bins, int bin_count, int lowest_exponent) noexcept {
  if (are_one_number(bins, bin_count)) {
    Int128 all = bins.sums[0];
    for (std::size_t bin = 1; bin < static_cast<std::size_t>(bin_count); ++bin)
      all = (all << bin_width) + bins.sums[bin];
    return leading(all, lowest_exponent);
  }
  Uint128 low = 0;
  Int128 carry = 0;
  int width = 0;  // number of bits of `low`
  for (int bin = bin_count - 1; bin > 0; --bin, width += bin_width, carry >>= bin_width) {
    carry += bins.sums[static_cast<std::size_t>(bin)];
    low |= static_cast<Uint128>(carry & ((std::int64_t{1} << bin_width) - 1)) << width;
  }
  return leading(bins.sums[0] + carry, low, width, lowest_exponent);
}

}  // namespace steadfold::arithmetic
