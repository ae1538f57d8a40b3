// Exact sums of contiguous terms whose exponents lie near each other: a few integers in units of powers of two.
// Rank order: none. Cost: 3 additions a level and vector, and one pass over memory; 2 levels hold 34 binades of
// doubles. Source: error-free extraction (Rump, Ogita, Oishi 2008) into running sums that never leave their binade,
// which makes their bit patterns integers; the test after the fact that they did not is ours.
//
// Level i is a floating-point sum that starts at 1.5 2^(top - 44 i) and must stay within that binade, where it is a
// multiple of 2^(top - 44 i - 52). Adding a term to it loses what stands below that unit, and the loss is known without
// error: it goes on to the next level. So, where no level left its binade and nothing was lost by the last one, the
// bit patterns, less those of the starts, are what was added, in units.
#pragma once

#include <cstdint>

#include "kernels/target.hpp"
#include "order/index.hpp"

namespace steadfold::kernels {

using order::Count;

inline constexpr int most_window_levels = 4;

/// Terms that fit or do not fit together; of products of doubles half as many.
inline constexpr Count window_block = 1024;

/// Between the tops of two levels. What is lost at a level is at most half a unit, 2^(top - 53); the 2^8 losses that
/// one of at least two lanes adds in a block come to 2^(top - 45) at most: half of a binade that is 44 lower.
inline constexpr int window_step = 44;

/// Sums at level i are in units of 2^window_unit(top, i).
constexpr int window_unit(int top, int level) noexcept { return top - window_step * level - 52; }

/// A top so high that no lane's 2^8 terms below 2^(highest + 1) leave the binade.
constexpr int window_top(int highest) noexcept { return highest + 10; }
inline constexpr int highest_window_top = 1022;
/// The lowest at which the last of the levels is a normal number; its unit is that of the subnormals, so nothing is
/// lost.
constexpr int lowest_window_top(int levels) noexcept { return -1022 + window_step * (levels - 1); }

/// What is added up; elements of one type, contiguous, aligned or not.
enum class Terms : std::uint32_t {
  doubles,
  floats,
  products_of_floats,
  products_of_doubles,  // by 4 levels and a fused multiply-add: elsewhere there is no kernel
  absolute_doubles,
  absolute_floats
};

/// Adds terms from the first on, block by block, to the sums of the levels, and returns how many: fewer than `count`,
/// 65536 at most, where the next block does not fit. `second`: the other factors of products, which may be `first`.
using AddToWindow = Count (*)(const void* first, const void* second, Count count, int top, std::int64_t* sums) noexcept;

/// floor(log2) of the largest of the absolute terms; 1024 where one is infinite or NaN, -1023 where none is normal.
using HighestExponent = int (*)(const void* first, const void* second, Count count) noexcept;

/// Null where the target has none. `levels` is 2 or 4.
AddToWindow add_to_window(Target target, Terms terms, int levels) noexcept;
HighestExponent highest_exponent(Target target, Terms terms) noexcept;

}  // namespace steadfold::kernels
