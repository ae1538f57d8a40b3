// The bins of pre-rounded sums: a fixed grid over all exponents, and what is kept of terms that kernels/shares deals
// out to the K bins below the largest one. Rank order: none. Cost: K additions of integers to merge. Source: [S2];
// Demmel & Nguyen 2013 and Arteaga et al. 2014, whom it follows; the grid is that of Ahrens, Demmel & Nguyen 2020.
//
// Bin j counts multiples of its quantum q_j = 2^(lowest exponent + 40 j); q_0 is the smallest term there is. Let r_j(x)
// be x rounded to a multiple of q_j, ties to even. The share of a term x in bin j is r_j(x) - r_(j+1)(x), whatever the
// other terms are; its shares in bin j and those above come to r_j(x). The remainder x - r_(j+1)(x) rounded to q_j is
// the share in bin j: r_(j+1)(x) is an even multiple of q_j, so that ties go the same way.
//
// The top of a set of terms is a bin t with |x| <= q_(t+1) / 2 for all of them, found from the largest exponent: in
// bins above it nobody has a share. What is kept of the set are t and the sums of the shares in bins t, ..., t - K + 1:
// a function of the set. Two sets are merged by adding bin to bin; what is below the window of the higher top goes.
//
// A share is at most 2^39 quanta: in the top bin by the choice of t, below it because rounding leaves half a quantum.
// Shares are added as integers: 2^23 of them in 64 bits before they are carried into the 128 bits (two words) of a bin,
// which hold those of 2^64 terms. Nothing is rounded but the shares, so terms may be added in any number of lanes and
// blocks, in any order: a vector kernel has no choice but to give these bits.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "arithmetic/superaccumulator/long_integer.hpp"
#include "kernels/binned_groups.hpp"
#include "kernels/pre_rounding.hpp"

namespace steadfold::arithmetic {

inline constexpr int bin_width = kernels::pre_rounding_width;
inline constexpr int fewest_bins = 2;
inline constexpr int most_bins = 4;

/// Which quanta the bins of a sum have: the terms are doubles, or squares of doubles, of which only the factors are
/// ever written down as they are.
class BinGrid {
 public:
  explicit constexpr BinGrid(int factors) noexcept : factors_(factors) {}

  bool squares() const noexcept { return factors_ == 2; }
  /// The exponent of a bin's quantum.
  int quantum(int bin) const noexcept { return factors_ * Format<double>::lowest_exponent + bin_width * bin; }
  /// The top for finite terms, or factors, up to the magnitude that has these bits.
  int top_of(std::uint64_t largest) const noexcept;
  int highest_top() const noexcept { return top_of(Format<double>::infinity - 1); }

  /// The power of two that terms, or factors, are multiplied by before shares are taken: nothing overflows on the way,
  /// and what underflows has no share in the window.
  double scale(int top) const noexcept;
  /// Writes the extractors of the window below a top, for terms that were multiplied.
  void extractors(int top, std::span<double> out) const noexcept;

 private:
  int scale_exponent(int top) const noexcept;

  int factors_;
};

/// What kernels need to know of the window below a top.
struct Extractors {
  int top = -1;  // whose extractors these are
  double scale = 1;
  std::array<double, most_bins> each{};

  void follow(const BinGrid& grid, int new_top, int bin_count) noexcept {
    if (new_top == top) return;
    top = new_top;
    scale = grid.scale(top);
    grid.extractors(top, std::span(each).first(static_cast<std::size_t>(bin_count)));
  }
};

/// The state of a set of terms: the sums of the shares in the top bin and in those below it.
struct Bins {
  int top = 0;
  std::array<Int128, most_bins> sums;  // as many as there are bins; not initialised

  /// Moves the window up to `new_top`, if it is above the top; what falls out of `bin_count` bins goes.
  void raise(int new_top, int bin_count) noexcept {
    if (new_top <= top) return;
    const int by = std::min(new_top - top, bin_count);
    const auto begin = sums.begin();
    std::copy_backward(begin, begin + bin_count - by, begin + bin_count);
    std::fill_n(begin, by, 0);
    top = new_top;
  }
  void add(const Bins& other, int bin_count) noexcept {
    raise(other.top, bin_count);
    const auto by = static_cast<std::size_t>(top - other.top);  // bins that the other set lacks above
    for (std::size_t bin = by; bin < static_cast<std::size_t>(bin_count); ++bin) sums[bin] += other.sums[bin - by];
  }
};

/// Sums of fewer terms fit in one word each.
inline constexpr std::uint64_t fewest_terms_for_two_words = std::uint64_t{1} << 24;

/// The number that all bins together hold; the lowest counts multiples of 2^lowest_exponent.
Leading leading(const Bins& bins, int bin_count, int lowest_exponent) noexcept;

/// Two bins or three are one number, if the top one's sum is below this.
inline constexpr std::int64_t most_of_one_number = kernels::most_of_rounded_top;

}  // namespace steadfold::arithmetic
