// Groups of eight columns' sums, integers of two words in units of one power of two, one group after the other as
// messages have them: added up, and rounded; and rows of doubles, added to such sums. What does not fit is left to
// others. Rank order: none. Cost: some 30 operations per vector of columns to merge, 40 to round, 60 to add. Source:
// ours.
#pragma once

#include <cstdint>

#include "kernels/columns.hpp"
#include "kernels/target.hpp"
#include "order/index.hpp"
#include "order/message.hpp"

namespace steadfold::kernels {

/// Adds a row of doubles, whose bits are masked by `kept_bits`, to eight sums in units of 2^(32 lowest - 1074). If all
/// sums are 0, the units become those that the terms need. Returns `terms_added`; or the digit of the units that the
/// terms need if `lowest` is above it; or `terms_refused`, if a term is not finite, is -0.0, or has no room in these
/// units. Unless it has added them no sum has changed.
inline constexpr int terms_added = -1;
inline constexpr int terms_refused = -2;
using AddNarrowTerms = int (*)(const std::byte* row, std::uint64_t kept_bits, int& lowest, std::uint64_t* low,
                               std::uint64_t* high) noexcept;
AddNarrowTerms add_narrow_terms(Target target) noexcept;

/// A head of one word, which only is compared; then the low words of all columns, and their high ones (two's
/// complement).
inline constexpr order::Bytes narrow_group_bytes = sizeof(std::uint64_t) * (1 + 2 * most_columns);

/// Adds groups of two records into a third one. Ends before the first one in which a head is not `head`, an operand or
/// the sum is not settled, or a column overflows; what is written from there on has no meaning. Returns how many were
/// added. Settled: some low word is not a multiple of 2^32, and some column needs its high word. Nothing need be
/// aligned; `out` overlaps no operand.
using MergeNarrowGroups = order::Count (*)(std::uint64_t head, const std::byte* left, const std::byte* right,
                                           order::Count groups, std::byte* out) noexcept;
MergeNarrowGroups merge_narrow_groups(Target target) noexcept;

/// Writes each column times 2^unit as a double, rounded once to the nearest, ties to even; 0 is +0.0. No result may be
/// less than normal, or overflow. Ends before the first group whose head is not `head`, or that is not settled; returns
/// how many were rounded.
using RoundNarrowGroups = order::Count (*)(std::uint64_t head, const std::byte* from, order::Count groups, int unit,
                                           std::byte* doubles) noexcept;
RoundNarrowGroups round_narrow_groups(Target target) noexcept;

}  // namespace steadfold::kernels
