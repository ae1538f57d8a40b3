// Half-open intervals of element indices and sorted sets of them. The intervals describe which elements a partial
// covers. Cost: O(1) per interval. Source: Stelz 2022, chapter 3.
#pragma once

#include <bit>
#include <span>
#include <vector>

#include "order/index.hpp"

namespace steadfold::order {

/// An interval with the indices begin, ..., end - 1.
struct Interval {
  Index begin = 0;
  Index end = 0;

  constexpr Count size() const noexcept { return end - begin; }
  constexpr bool empty() const noexcept { return begin >= end; }
  friend constexpr auto operator<=>(const Interval&, const Interval&) = default;
};

/// Returns the leftmost maximal full dyadic node of a non-empty interval.
constexpr Node first_node(Interval interval) noexcept {
  const int fits = floor_log2(interval.size());
  const int aligned = max_level(interval.begin);
  return {interval.begin, aligned < fits ? aligned : fits};
}

/// Returns the number of set bits. Without a flag for the processor's instruction, std::popcount compiles to a call.
/// Compilers recognise these lines and use the instruction where they may.
[[gnu::always_inline]] constexpr Count bits_set(std::uint64_t x) noexcept {
  x -= x >> 1 & 0x5555555555555555;
  x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
  x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F;
  return x * 0x0101010101010101 >> 56;
}

/// Returns the number of maximal full dyadic nodes of an interval; at most 2 floor(log2 size) + 1. The interval
/// contains one multiple of the highest possible power of two, which splits it. The sizes of the nodes on its left are
/// the bits of one number; the sizes on its right are the bits of another.
[[gnu::always_inline]] constexpr Count node_count(Interval interval) noexcept {
  if (interval.empty()) return 0;
  const int top = floor_log2(interval.begin ^ interval.end);
  const Index pivot = (interval.end >> top) << top;
  return bits_set(pivot - interval.begin) + bits_set(interval.end - pivot);
}

/// Returns the number of an interval's last nodes that combine, one after the other from the right, with a node of this
/// level that begins at the interval's end. These nodes have this level and the levels above, as long as the end's bits
/// are set.
constexpr int sibling_count(Interval interval, int level) noexcept {
  const int in_line = std::countr_one(interval.end >> level);
  const int there = floor_log2((interval.size() >> level) + 1);
  return in_line < there ? in_line : there;
}

/// Returns the largest number of nodes of any interval of this size, or of any start of it: the size of a builder's
/// stack.
constexpr Count most_nodes(Interval interval) noexcept {
  if (interval.empty()) return 0;
  const Count bound = 2 * static_cast<Count>(floor_log2(interval.size())) + 1;
  return interval.size() < bound ? interval.size() : bound;
}

/// A fingerprint of intervals. The fingerprint tells, without a list, whether the intervals of all ranks cover 0..N-1
/// exactly once. This is so if the begins of all intervals together with N are the same numbers as the ends together
/// with 0. The test compares two words instead of lists, and misses one fault in 2^64.
struct Coverage {
  Count rows = 0;
  std::uint64_t boundaries = 0;  // sum of hashes of ends minus sum of hashes of begins, modulo 2^64

  constexpr void add(Interval interval) noexcept {
    if (interval.empty()) return;
    rows += interval.size();
    boundaries += hash(interval.end) - hash(interval.begin);
  }
  constexpr void add(const Coverage& other) noexcept {
    rows += other.rows;
    boundaries += other.boundaries;
  }
  constexpr bool whole() const noexcept { return boundaries == hash(rows) - hash(0); }

 private:
  /// Mixes the bits of a number: the finaliser of SplitMix64.
  static constexpr std::uint64_t hash(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
  }
};

/// A set of indices as disjoint non-empty intervals in ascending order; touching intervals are joined.
class IntervalSet {
 public:
  IntervalSet() = default;
  explicit IntervalSet(Interval interval) { add(interval); }

  /// Adds an interval. If it overlaps an interval of the set, returns false and changes nothing. Cost: O(intervals), or
  /// O(1) if it comes after all others.
  bool add(Interval interval);
  /// Adds all intervals of another set. If any overlap, returns false and changes nothing. Cost: O(intervals of both).
  bool add(const IntervalSet& others);

  std::span<const Interval> intervals() const noexcept { return intervals_; }
  bool empty() const noexcept { return intervals_.empty(); }
  Count size() const noexcept;
  Count node_count() const noexcept;

  friend bool operator==(const IntervalSet&, const IntervalSet&) = default;

 private:
  std::vector<Interval> intervals_;
};

}  // namespace steadfold::order
