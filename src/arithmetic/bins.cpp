#include "arithmetic/bins.hpp"

#include <algorithm>
#include <bit>

namespace steadfold::arithmetic {
namespace {

using F = Format<double>;

constexpr int bias = F::exponent_mask / 2;

/// E with magnitude < 2^E, the least.
int exponent_bound(std::uint64_t magnitude) noexcept {
  const auto biased = static_cast<int>(magnitude >> (F::precision - 1));
  return biased == 0 ? F::lowest_exponent + static_cast<int>(std::bit_width(magnitude)) : biased - bias + 1;
}

/// 2^exponent, which is normal.
double power_of_2(int exponent) noexcept {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + bias) << (F::precision - 1));
}

}  // namespace

/// Terms are at most 2^E, and E < quantum(t + 1).
int Grid::top_of(std::uint64_t largest) const noexcept {
  return factors_ * (exponent_bound(largest) - F::lowest_exponent) / bin_width;
}

/// Doubles: the extractor of the highest bin would overflow. Squares: the factors come near 1, as far as a power of two
/// that is a normal double can bring them.
int Grid::scale_exponent(int top) const noexcept {
  if (squares()) return std::clamp(-quantum(top + 1) / 2, -(bias - 1), bias - 1);
  return quantum(top) + F::precision > bias ? -bin_width : 0;
}

double Grid::scale(int top) const noexcept { return power_of_2(scale_exponent(top)); }

void Grid::extractors(int top, std::span<double> out) const noexcept {
  int exponent = quantum(top) + factors_ * scale_exponent(top) + F::precision - 1;
  for (double& each : out) {
    each = 1.5 * power_of_2(exponent);
    exponent -= bin_width;
  }
}

void Bins::raise(int new_top, int bin_count) noexcept {
  if (new_top <= top) return;
  const int by = std::min(new_top - top, bin_count);
  const auto begin = sums.begin();
  std::copy_backward(begin, begin + bin_count - by, begin + bin_count);
  std::fill_n(begin, by, 0);
  top = new_top;
}

void Bins::add(const Bins& other, int bin_count) noexcept {
  Bins raised = other;
  raised.raise(top, bin_count);
  raise(other.top, bin_count);
  for (std::size_t bin = 0; bin < static_cast<std::size_t>(bin_count); ++bin) sums[bin] += raised.sums[bin];
}

void Bins::window(int bin_count, Window& window) const noexcept {
  constexpr int pieces = 4;  // of 32 bits, of a sum that is moved by less than 32
  std::array<std::int64_t, (most_bins - 1) * bin_width / 32 + pieces> words{};
  for (int bin = 0; bin < bin_count; ++bin) {
    const int place = (bin_count - 1 - bin) * bin_width;
    Int128 rest = sums[static_cast<std::size_t>(bin)] * (Int128{1} << (place % 32));
    std::int64_t* word = &words[static_cast<std::size_t>(place / 32)];
    for (int piece = 0; piece < pieces - 1; ++piece, rest >>= 32) *word++ += static_cast<std::uint32_t>(rest);
    *word += static_cast<std::int64_t>(rest);
  }
  make_window(words, 0, window);
}

}  // namespace steadfold::arithmetic
