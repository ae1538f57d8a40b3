// Merges and rounds groups of the bins of eight columns. Groups follow each other as in messages of method `binned`.
// Groups that do not fit are left to the caller (arithmetic/binned/group).
// Rank order: none. Cost: to merge, 2 K operations per vector of columns, and up to K^2 more if bin ranges differ; to
// round, 50 operations.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/columns.hpp"
#include "kernels/target.hpp"
#include "order/index.hpp"
#include "order/message.hpp"

namespace steadfold::kernels {

/// Returns the bytes of a group: bin by bin the sums of all columns, the top bins first; then the tops of all columns;
/// then their flags.
constexpr order::Bytes binned_group_bytes(int bin_count) noexcept {
  return most_columns * (static_cast<order::Bytes>(bin_count) * sizeof(std::int64_t) + 2);
}

/// The bounds of a group that a kernel handles. Tops are at most 127.
struct BinnedBounds {
  std::uint8_t lowest_top;
  std::uint8_t highest_top;
  std::uint8_t lowest_normal;  // the lowest top of a column that is rounded, unless its sum is 0
  std::uint8_t highest_normal;
  std::uint8_t flags;             // the only flags that columns may have
  std::uint8_t flags_of_rounded;  // the flags that every column must have that is rounded
};

/// Adds groups of two records into a third record: bin to bin, below the higher top of each column; flags are united.
/// Ends before the first group that is out of bounds, or that has a sum outside of plus and minus the maximum for its
/// record (a power of two, at least 1 and at most 2^62). The bytes written after the last added group are not valid.
/// Returns the number of groups added. The sum of two values must not overflow. The memory need not be aligned; `out`
/// must not overlap an operand.
using MergeBinnedGroups = order::Count (*)(const BinnedBounds& bounds, const std::byte* left,
                                           std::uint64_t most_of_left, const std::byte* right,
                                           std::uint64_t most_of_right, order::Count groups, std::byte* out) noexcept;
/// Returns the kernel for 2 to 4 bins. Null if the target has no kernel.
MergeBinnedGroups merge_binned_groups(Target target, int bin_count) noexcept;

/// Two or three bins make a number below 2^127 if the sum of the top bin is below this limit.
inline constexpr std::uint64_t most_of_rounded_top = std::uint64_t{1} << 45;

/// Writes each column as a double, rounded once to nearest, ties to even; 0 becomes +0.0. The lowest bin below top t
/// has the quantum 2^(unit_below_top_0 + 40 t). Ends before the first group that is out of bounds, or whose top bin has
/// a sum of `most_of_rounded_top` or more. Returns the number of groups rounded.
using RoundBinnedGroups = order::Count (*)(const BinnedBounds& bounds, const std::byte* from, std::uint64_t most,
                                           order::Count groups, int unit_below_top_0, std::byte* doubles) noexcept;
/// Returns the kernel for 2 and 3 bins. Null if the target has no kernel.
RoundBinnedGroups round_binned_groups(Target target, int bin_count) noexcept;

}  // namespace steadfold::kernels
