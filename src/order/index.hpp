// Types for indices, counts, ranks and bytes, and the coordinates of the reduction tree over element indices.
// Cost: O(1), no allocation. Source: Stelz 2022, chapters 2 and 3.
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace steadfold::order {

using Index = std::uint64_t;  // global index of an element, 0 to N-1
using Count = std::uint64_t;  // number of elements
using Rank = std::int32_t;    // number of a rank, 0 to p-1
using Bytes = std::size_t;    // size in bytes, in memory or in a message

/// The largest number of elements of a job, and so the greatest end of an interval. Every layout is checked against
/// this limit when it is given. After the check, the sum of an index and a memory size cannot overflow.
inline constexpr Count most_elements = ~Count{0} >> 1;

/// Writes a number that a caller gave as text. A number above the limit was probably negative, and is written as a
/// negative number.
inline std::string text_as_given(Count count) {
  return count > most_elements ? std::to_string(static_cast<std::int64_t>(count)) : std::to_string(count);
}

/// Returns a * b, or `nullopt` if it exceeds `most`.
constexpr std::optional<Count> checked_product(Count a, Count b, Count most) noexcept {
  Count all = 0;
  if (__builtin_mul_overflow(a, b, &all) || all > most) return std::nullopt;
  return all;
}

/// Returns the level of the largest full dyadic node that may start at `x`; no limit for index 0. This is max_y(x) in
/// Stelz 2022, ch. 3.
constexpr int max_level(Index x) noexcept { return x == 0 ? 63 : std::countr_zero(x); }

/// Returns the start of the node whose right child is the largest node at `x` (x > 0): Stelz 2022, eq. 3.1.
constexpr Index parent(Index x) noexcept { return x & (x - 1); }

/// Returns the last index inside the largest node at `x` (x > 0): Stelz 2022, eq. 3.6.
constexpr Index largest_subtree_child(Index x) noexcept { return x | (x - 1); }

/// Returns ceil(log2(n)) for n >= 1, and 0 for n = 0: the level of the root over n elements, and the smallest number of
/// rounds over n ranks.
constexpr int ceil_log2(Count n) noexcept { return n < 2 ? 0 : static_cast<int>(std::bit_width(n - 1)); }

/// Returns floor(log2(n)) for n >= 1.
constexpr int floor_log2(Count n) noexcept { return static_cast<int>(std::bit_width(n)) - 1; }

/// A full dyadic node: it covers the 2^level elements from `start`, a multiple of 2^level.
struct Node {
  Index start = 0;
  int level = 0;

  constexpr Count size() const noexcept { return Count{1} << level; }
  constexpr Index end() const noexcept { return start + size(); }
  friend constexpr bool operator==(const Node&, const Node&) = default;
};

}  // namespace steadfold::order
