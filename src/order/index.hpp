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

using Index = std::uint64_t;  // global index of an element, 0..N-1
using Count = std::uint64_t;  // a number of elements
using Rank = std::int32_t;    // a process, 0..p-1
using Bytes = std::size_t;    // a size in memory or in a message

/// The most elements of a job, and so the greatest end of an interval. Every layout is checked against this limit when
/// it is given. After the check, the sum of an index and a memory size cannot overflow.
inline constexpr Count most_elements = ~Count{0} >> 1;

/// The text of a number that a caller gave. A number above the limit was probably negative, and is shown as negative.
inline std::string text_as_given(Count count) {
  return count > most_elements ? std::to_string(static_cast<std::int64_t>(count)) : std::to_string(count);
}

/// a * b, or `nullopt` if it exceeds `most`.
constexpr std::optional<Count> checked_product(Count a, Count b, Count most) noexcept {
  Count all = 0;
  if (__builtin_mul_overflow(a, b, &all) || all > most) return std::nullopt;
  return all;
}

/// The level of the largest full dyadic node that may start at `x`; no limit for index 0. max_y(x) in Stelz 2022, ch.
/// 3.
constexpr int max_level(Index x) noexcept { return x == 0 ? 63 : std::countr_zero(x); }

/// The start of the node whose right child is the largest node at `x` (x > 0): Stelz 2022, eq. 3.1.
constexpr Index parent(Index x) noexcept { return x & (x - 1); }

/// The last index inside the largest node at `x` (x > 0): Stelz 2022, eq. 3.6.
constexpr Index largest_subtree_child(Index x) noexcept { return x | (x - 1); }

/// ceil(log2(n)) for n >= 1, and 0 for n = 0. The level of the root over n elements, and the least rounds over n ranks.
constexpr int ceil_log2(Count n) noexcept { return n < 2 ? 0 : static_cast<int>(std::bit_width(n - 1)); }

/// floor(log2(n)) for n >= 1.
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
