// The bins of pre-rounded sums: a fixed grid over all exponents. kernels/slices distributes terms to the K bins below
// the largest term.
// Rank order: none. Cost: K additions of integers to merge. Source: Lapillonne & Peltekov 2013, which follows Demmel &
// Nguyen 2013 and Arteaga et al. 2014; the grid is from Ahrens, Demmel & Nguyen 2020.
//
// Bin j counts multiples of its quantum q_j = 2^(lowest exponent + 40 j); q_0 is the smallest possible term. Let r_j(x)
// be x rounded to a multiple of q_j, ties to even. The slice of a term x in bin j is r_j(x) - r_(j+1)(x), whatever the
// other terms are. Its slices in bin j and all higher bins add up to r_j(x). The remainder x - r_(j+1)(x) rounded to
// q_j is the slice in bin j, because r_(j+1)(x) is an even multiple of q_j, so ties go the same way.
//
// The top of a set of terms is a bin t with |x| <= q_(t+1) / 2 for all terms x, found from the largest exponent. No
// term has a slice in a bin above t. The state of the set is t and the sums of the slices in bins t, ..., t - K + 1
// (the bin range). The state depends only on the set, not on the order of its terms. Two sets are merged by adding bin
// to bin; bins below the bin range of the higher top are dropped.
//
// A slice is at most 2^39 quanta: in the top bin by the choice of t, in lower bins because rounding leaves at most half
// a quantum. Slices are added as integers. 2^23 of them fit in 64 bits, before they are carried into the 128 bits (two
// words) of a bin, which hold the slices of 2^64 terms. Only the slices are rounded. So terms may be added in any
// number of lanes and blocks, in any order, and every kernel gives the same bits.
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

/// The quanta of the bins of a sum. The terms are doubles, or squares of doubles. For squares, only the factors are
/// stored.
class BinGrid {
 public:
  explicit constexpr BinGrid(int factors) noexcept : factors_(factors) {}

  bool squares() const noexcept { return factors_ == 2; }
  /// Returns the exponent of a bin's quantum.
  int quantum(int bin) const noexcept { return factors_ * Format<double>::lowest_exponent + bin_width * bin; }
  /// Returns the top for finite terms, or factors, up to the magnitude with these bits.
  int top_of(std::uint64_t largest) const noexcept;
  int highest_top() const noexcept { return top_of(Format<double>::infinity - 1); }

  /// Returns the power of two by which terms, or factors, are multiplied before slices are taken. The products never
  /// overflow, and a term that underflows has no slice in the bin range.
  double scale(int top) const noexcept;
  /// Writes the extractors (numbers that kernels add and subtract to round) of the bin range below a top, for
  /// multiplied terms.
  void extractors(int top, std::span<double> out) const noexcept;

 private:
  int scale_exponent(int top) const noexcept;

  int factors_;
};

/// The numbers that kernels need for the bin range below a top.
struct Extractors {
  int top = -1;  // top of the bin range to which these extractors belong
  double scale = 1;
  std::array<double, most_bins> each{};

  void follow(const BinGrid& grid, int new_top, int bin_count) noexcept {
    if (new_top == top) return;
    top = new_top;
    scale = grid.scale(top);
    grid.extractors(top, std::span(each).first(static_cast<std::size_t>(bin_count)));
  }
};

/// The state of a set of terms: the sums of the slices in the top bin and in the bins below it.
struct Bins {
  int top = 0;
  std::array<Int128, most_bins> sums;  // the sum of each bin; not initialised

  /// Moves the bin range up to `new_top`, if this is above the top. Bins that leave the range of `bin_count` bins are
  /// dropped.
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
    // Number of bins between the other set's top and this top.
    const auto by = static_cast<std::size_t>(top - other.top);
    for (std::size_t bin = by; bin < static_cast<std::size_t>(bin_count); ++bin) sums[bin] += other.sums[bin - by];
  }
};

/// Sums of fewer terms than this fit in one word each.
inline constexpr std::uint64_t fewest_terms_for_two_words = std::uint64_t{1} << 24;

/// Returns the number that all bins together represent; the lowest bin counts multiples of 2^lowest_exponent.
Leading leading(const Bins& bins, int bin_count, int lowest_exponent) noexcept;

/// Two or three bins together are one integer, if the top bin's sum is below this limit.
inline constexpr std::int64_t most_of_one_number = kernels::most_of_rounded_top;

}  // namespace steadfold::arithmetic
