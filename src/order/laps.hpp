// Lanes of the tree: lane j of L has the rows j, j + L, j + 2L, ... A *lap* is one row of every lane: lap k has the
// rows k L to k L + L - 1. An interval of rows is an interval of whole laps, with the ends of two other laps around it.
// Cost: O(1) per interval.
#pragma once

#include <algorithm>

#include "order/interval.hpp"

namespace steadfold::order {

inline constexpr Count most_lanes = 1024;

/// The rows of an interval from left to right: the end of a lap, whole laps, the beginning of a lap.
struct Laps {
  Count before = 0;  // rows before the whole laps; all rows, if they are in the middle of one lap
  Interval whole;    // indices of laps
  Count after = 0;   // rows after the whole laps
};

constexpr Laps laps_of(Interval rows, Count lanes) noexcept {
  const Index first = (rows.begin + lanes - 1) / lanes;
  const Index last = rows.end / lanes;
  if (first > last) return {rows.size(), {first, first}, 0};
  return {first * lanes - rows.begin, {first, last}, rows.end - last * lanes};
}

/// The number of values in the tree of an interval: rows at its ends, and nodes of laps with a value for each lane.
constexpr Count value_count(const Laps& laps, Count lanes) noexcept {
  return laps.before + node_count(laps.whole) * lanes + laps.after;
}

/// The most maximal nodes of any interval of at most this size, exactly: their sizes are at least 1, 1, 2, 2, 4, 4, ...
constexpr Count most_nodes_of(Count size) noexcept {
  const int doubled = floor_log2(size + 2) - 1;
  return 2 * static_cast<Count>(doubled) + (size + 2 >= Count{3} << doubled ? 1 : 0);
}

/// The most values while the rows of an interval are taken from left to right: the values of the whole interval, or one
/// lap more than the nodes of all laps but the last. Two touching intervals together never need more than both alone.
constexpr Count most_values(Interval rows, Count lanes) noexcept {
  const Laps laps = laps_of(rows, lanes);
  const Count size = laps.whole.size();
  const Count at_the_end = most_nodes_of(size) * lanes + laps.after;
  const Count before_the_end = size == 0 ? 0 : (most_nodes_of(size - 1) + 1) * lanes;
  return std::min(rows.size(), laps.before + std::max(at_the_end, before_the_end));
}

}  // namespace steadfold::order
