// Groups of eight columns' bins, one group after the other as messages have them: added up, and rounded. What does not
// fit is left to others (arithmetic/binned/group). Rank order: none. Cost: 2 K operations per vector of columns to
// merge, up to K^2 more where windows differ, and 50 to round. Source: ours.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/columns.hpp"
#include "kernels/target.hpp"
#include "order/index.hpp"
#include "order/message.hpp"

namespace steadfold::kernels {

/// Bin by bin the sums of all columns, the top ones first; then every column's top, and every column's flags.
constexpr order::Bytes binned_group_bytes(int bin_count) noexcept {
  return most_columns * (static_cast<order::Bytes>(bin_count) * sizeof(std::int64_t) + 2);
}

/// What groups have to be. Tops are at most 127.
struct BinnedBounds {
  std::uint8_t lowest_top;
  std::uint8_t highest_top;
  std::uint8_t lowest_normal;  // tops of columns that are rounded; with others, only those that come to 0
  std::uint8_t highest_normal;
  std::uint8_t flags;             // there are no others
  std::uint8_t flags_of_rounded;  // just what every column has that is rounded
};

/// Adds groups of two records into a third one: bin to bin, below the higher top of each column; flags are united. Ends
/// before the first group that is out of bounds or has a sum that does not lie between plus and minus the most for its
/// record (powers of two, of at most 2^62; not 0), and what is written from there on has no meaning. Returns how many
/// were added. No sum of two may overflow. Nothing need be aligned; `out` overlaps no operand.
using MergeBinnedGroups = order::Count (*)(const BinnedBounds& bounds, const std::byte* left,
                                           std::uint64_t most_of_left, const std::byte* right,
                                           std::uint64_t most_of_right, order::Count groups, std::byte* out) noexcept;
/// For 2 to 4 bins; null if the target has no such kernel.
MergeBinnedGroups merge_binned_groups(Target target, int bin_count) noexcept;

/// Two bins or three make a number below 2^127 if the top one's sum is below this.
inline constexpr std::uint64_t most_of_rounded_top = std::uint64_t{1} << 45;

/// Writes each column as a double, rounded once to the nearest, ties to even; 0 is +0.0. The lowest bin below top t has
/// the quantum 2^(unit_below_top_0 + 40 t). Ends before the first group that is out of bounds, as above, or has a top
/// bin's sum of `most_of_rounded_top` or more; returns how many were rounded.
using RoundBinnedGroups = order::Count (*)(const BinnedBounds& bounds, const std::byte* from, std::uint64_t most,
                                           order::Count groups, int unit_below_top_0, std::byte* doubles) noexcept;
/// For 2 and 3 bins; null if there is no such kernel.
RoundBinnedGroups round_binned_groups(Target target, int bin_count) noexcept;

}  // namespace steadfold::kernels
