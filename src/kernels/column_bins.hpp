// Rows of several columns dealt out to bins of their own (arithmetic/binned/bins.hpp has the mathematics), and the
// largest term of each column. Rank order: none, sums are integers. Cost: that of kernels/shares, and some 70
// operations per vector of columns; twice that where windows are others than those of the columns before. Source: that
// of kernels/shares; windows found by vectors: ours.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/columns.hpp"
#include "kernels/target.hpp"
#include "kernels/term_form.hpp"
#include "order/index.hpp"

namespace steadfold::kernels {

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

/// Adds rows, from 1 to 2^23, of any number of columns to groups of them. The windows of columns move up as their terms
/// want it, but none is below `lowest_top`. Columns that get a term that is not -0.0 get a flag. Columns are left out
/// in which an element (or product) is not finite, a sum leaves its room of 2^61, or the largest of factors that are
/// squared is subnormal: they stay as they are, and have a bit in `left_out`. Ends with the first group that has such
/// columns; returns how many groups it has been through.
using AddToGroupsOfBins = order::Count (*)(const ColumnRows& rows, std::uint8_t lowest_top, std::uint8_t flag,
                                           GroupOfBins* groups, std::uint8_t& left_out) noexcept;

/// Null if the target has no such kernel.
template <class T>
AddToGroupsOfBins add_to_groups_of_bins(Target target, TermForm form, int bin_count) noexcept;

}  // namespace steadfold::kernels
