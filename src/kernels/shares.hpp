// Terms dealt out to the bins of pre-rounded sums, and the largest of them, in one pass; arithmetic/binned/bins.hpp has
// the mathematics. Rank order: not needed, sums are integers. Cost: 4 K + 1 lane operations per term; nothing is
// written but K sums of each column. Source: [S2]; Demmel & Nguyen 2013. Sums in integers, the bit patterns of what the
// extractors leave: ours.
#pragma once

#include <array>

#include "kernels/columns.hpp"
#include "kernels/target.hpp"
#include "order/index.hpp"

namespace steadfold::kernels {

/// What is dealt out: the elements, their products with others, or their squares.
enum class TermForm : std::uint8_t { element, product, square };

/// Multiplies each of `count` elements (aligned or not), or each product, by `scale`, squares it if asked to, and adds
/// its shares, in quanta, to sums[0] (the top bin) and the sums below. extractors[i] is 1.5 * 2^52 quanta of bin i:
/// adding it rounds to the bin's quantum and leaves the share in the last bits. Returns the bits of the largest
/// magnitude among the elements (or products) before scaling, or those of infinity or more if one is not finite; if
/// that magnitude has no place in the window, the sums have no meaning. At most 2^23 terms before the sums are carried.
/// Reads no other memory.
using Shares = std::uint64_t (*)(const void* first, const void* second, order::Count count, double scale,
                                 const double* extractors, std::int64_t* sums) noexcept;

/// For elements of type T, float or double, and 2 to 4 bins; with 0 bins only the largest is found. The reference if
/// the target has no kernel.
template <class T>
Shares shares(Target target, TermForm form, int bin_count) noexcept;

/// The bits of the largest magnitude of each column; infinity or more where an element (or product) is not finite.
using LargestOfColumns = void (*)(const ColumnRows& rows, EachColumn<std::uint64_t>& largest) noexcept;

/// Null if the target has no such kernel.
template <class T>
LargestOfColumns largest_of_columns(Target target, TermForm form) noexcept;

/// The sums of a group of columns, and each one's top and flags, which are 0 while nothing but -0.0 has been added.
struct GroupOfBins {
  alignas(64) std::array<EachColumn<std::int64_t>, 4> sums;  // of the top bins, of those below them, ...
  EachColumn<std::uint8_t> tops;
  EachColumn<std::uint8_t> flags;
};

/// Adds rows, at least one, of any number of columns to groups of them. The windows of columns move up as their terms
/// want it, but none is below `lowest_top`. Columns that get a term that is not -0.0 get a flag. Ends before the first
/// group in which an element (or product) is not finite, a sum leaves its room of 2^61, or all factors of a square are
/// subnormal; returns how many groups are done.
using AddToGroupsOfBins = order::Count (*)(const ColumnRows& rows, std::uint8_t lowest_top, std::uint8_t flag,
                                           GroupOfBins* groups) noexcept;

/// Null if the target has no such kernel.
template <class T>
AddToGroupsOfBins add_to_groups_of_bins(Target target, TermForm form, int bin_count) noexcept;

}  // namespace steadfold::kernels
