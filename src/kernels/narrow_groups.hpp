// Groups of the sums of eight columns: integers of two words in units of one power of two. Groups follow each other as
// in messages of method `exact`. The functions merge and round groups, and add rows of doubles to a group. Sums that do
// not fit are left to the caller.
// Rank order: none. Cost: per vector of columns some 30 operations to merge, 40 to round, 60 to add.
#pragma once

#include <cstdint>

#include "kernels/columns.hpp"
#include "kernels/target.hpp"
#include "order/index.hpp"
#include "order/message.hpp"

namespace steadfold::kernels {

/// Results of the function that adds a row of doubles, whose bits are masked by `kept_bits`, to eight sums in units of
/// 2^(32 lowest - 1074). If all sums are 0, the units become the units that the terms need. The function returns
/// - `terms_added`;
/// - the digit of the units that the terms need, if `lowest` is above it;
/// - `terms_refused`, if a term is not finite, is -0.0, or does not fit in these units. Sums change only if the
///   function returns `terms_added`.
inline constexpr int terms_added = -1;
inline constexpr int terms_refused = -2;
using AddNarrowTerms = int (*)(const std::byte* row, std::uint64_t kept_bits, int& lowest, std::uint64_t* low,
                               std::uint64_t* high) noexcept;
AddNarrowTerms add_narrow_terms(Target target) noexcept;

/// The bytes of a group: a head of one word, which is only compared; the low words of all columns; the high words of
/// all columns (two's complement).
inline constexpr order::Bytes narrow_group_bytes = sizeof(std::uint64_t) * (1 + 2 * most_columns);

/// Adds groups of two records into a third record. The function ends before the first group in which a head is not
/// `head`, an operand or the sum is not settled, or a column overflows. The bytes written after the last added group
/// are not valid. Returns the number of groups added. A group is settled if a low word is not a multiple of 2^32, and a
/// column needs its high word. The memory need not be aligned; `out` must not overlap an operand.
using MergeNarrowGroups = order::Count (*)(std::uint64_t head, const std::byte* left, const std::byte* right,
                                           order::Count groups, std::byte* out) noexcept;
MergeNarrowGroups merge_narrow_groups(Target target) noexcept;

/// Writes each column times 2^unit as a double, rounded once to nearest, ties to even; 0 becomes +0.0. No result may be
/// subnormal or overflow. The function ends before the first group whose head is not `head`, or that is not settled.
/// Returns the number of groups rounded.
using RoundNarrowGroups = order::Count (*)(std::uint64_t head, const std::byte* from, order::Count groups, int unit,
                                           std::byte* doubles) noexcept;
RoundNarrowGroups round_narrow_groups(Target target) noexcept;

}  // namespace steadfold::kernels
