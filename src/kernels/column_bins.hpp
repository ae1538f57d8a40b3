// Distributes the terms of rows of several columns to bins, each column with its own bins, and finds the largest term
// of each column. arithmetic/binned/bins.hpp has the mathematics.
// Rank order: none, because sums are integers. Cost: that of kernels/slices, and some 70 operations per vector of
// columns; twice as much if bin ranges differ from the bin ranges of the previous columns. Source: that of
// kernels/slices; finding bin ranges with vectors is new.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/columns.hpp"
#include "kernels/target.hpp"
#include "kernels/term_form.hpp"
#include "order/index.hpp"

namespace steadfold::kernels {

/// Writes the bits of the largest magnitude of each column; the bits of infinity, or more, if an element (or product)
/// is not finite.
using LargestOfColumns = void (*)(const ColumnRows& rows, EachColumn<std::uint64_t>& largest) noexcept;

/// Returns the target's kernel; null if it has none.
template <class T>
LargestOfColumns largest_of_columns(Target target, TermForm form) noexcept;

/// The sums of a group of columns, and the top and flags of each column. All are 0 while only -0.0 has been added.
struct GroupOfBins {
  // Sums of the top bins, then of the next lower bins, and so on.
  alignas(64) std::array<EachColumn<std::int64_t>, 4> sums;
  EachColumn<std::uint8_t> tops;
  EachColumn<std::uint8_t> flags;
};

/// Adds 1 to 2^23 rows, of any number of columns, to the groups of these columns. The bin ranges of columns move up as
/// their terms require; no bin range is below `lowest_top`. A column that gets a term other than -0.0 gets `flag`. A
/// column is left out if an element (or product) is not finite, a sum exceeds 2^61, or terms are squares and the
/// largest factor is subnormal. A column that is left out is not changed, and its bit in `left_out` is set. The
/// function ends with the first group that has a column left out. Returns the number of groups handled, with that
/// group.
using AddToGroupsOfBins = order::Count (*)(const ColumnRows& rows, std::uint8_t lowest_top, std::uint8_t flag,
                                           GroupOfBins* groups, std::uint8_t& left_out) noexcept;

/// Returns the target's kernel; null if it has none.
template <class T>
AddToGroupsOfBins add_to_groups_of_bins(Target target, TermForm form, int bin_count) noexcept;

}  // namespace steadfold::kernels
