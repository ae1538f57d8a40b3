// Exact sums of contiguous terms whose exponents lie near each other: a few integers in units of powers of two.
// Rank order: not needed, sums are exact. Cost: 3 additions per level and vector, and one pass over memory; 2 levels
// hold 34 binades of doubles. Source: error-free extraction (Rump, Ogita, Oishi 2008) into running sums that never
// leave their binade, which makes their bit patterns integers; the test afterwards that none did is ours.
//
// Level i is a floating-point sum that starts at 1.5 2^(top - 44 i) and must stay within that binade, where it is a
// multiple of its unit 2^(top - 44 i - 52). Adding a term loses what is below the unit. That loss is known without
// error and goes to the next level. If no level left its binade and the last one lost nothing, the bit patterns minus
// those of the starts are the sum, in units.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/columns.hpp"
#include "kernels/target.hpp"
#include "order/index.hpp"

namespace steadfold::kernels {

using order::Count;

inline constexpr int most_window_levels = 4;

/// How many terms are taken or refused together; half as many if they are products of doubles.
inline constexpr Count window_block = 1024;

/// Binades between the tops of two levels. A level loses at most half a unit, 2^(top - 53), per term; the 2^8 losses
/// that one of at least two lanes adds in a block come to 2^(top - 45) at most: half of a binade that is 44 lower.
inline constexpr int window_step = 44;

/// Sums at level i are in units of 2^window_unit(top, i).
constexpr int window_unit(int top, int level) noexcept { return top - window_step * level - 52; }

/// A top so high that no lane's 2^8 terms below 2^(highest + 1) leave the binade.
constexpr int window_top(int highest) noexcept { return highest + 10; }
inline constexpr int highest_window_top = 1022;
/// The lowest top at which the last level is a normal number. Its unit is that of the subnormals, so it loses nothing.
constexpr int lowest_window_top(int levels) noexcept { return -1022 + window_step * (levels - 1); }

/// Which terms are added up. Elements have one type and are contiguous, aligned or not.
enum class WindowTerms : std::uint32_t {
  doubles,
  floats,
  products_of_floats,
  products_of_doubles,  // needs 4 levels and a fused multiply-add, else there is no kernel
  absolute_doubles,
  absolute_floats
};

/// Adds terms to the sums of the levels, block by block from the first on, and returns how many: 65536 at most, and
/// fewer than `count` if the next block does not fit. `second`: the other factors of products, which may be `first`.
using AddToWindow = Count (*)(const void* first, const void* second, Count count, int top, std::int64_t* sums) noexcept;

/// floor(log2) of the largest of the absolute terms; 1024 where one is infinite or NaN, -1023 where none is normal.
using HighestExponent = int (*)(const void* first, const void* second, Count count) noexcept;

/// The target's kernel, or null if it has none. `levels` is 2 or 4.
AddToWindow add_to_window(Target target, WindowTerms terms, int levels) noexcept;
HighestExponent highest_exponent(Target target, WindowTerms terms) noexcept;

/// So many rows leave no window that is as high as window_top says.
inline constexpr Count most_rows_of_columns = 256;

/// What AddColumnsToWindows takes and writes: several columns at once, each with a window of its own. Either all rows
/// of a column fit its window, or the column has no sums.
struct ColumnWindows {
  EachColumn<std::int64_t> top;                                   // one that is possible
  std::array<EachColumn<std::int64_t>, most_window_levels> sums;  // written
  EachColumn<std::int64_t> fits;                                  // written: 0 where rows do not fit
};
using AddColumnsToWindows = void (*)(const ColumnRows& rows, ColumnWindows& windows) noexcept;
/// Writes what HighestExponent returns for every column.
using HighestExponents = void (*)(const ColumnRows& rows, EachColumn<std::int64_t>& exponents) noexcept;

/// Null where the target has none, and for products of doubles.
AddColumnsToWindows add_columns_to_windows(Target target, WindowTerms terms, int levels) noexcept;
HighestExponents highest_exponents(Target target, WindowTerms terms) noexcept;

}  // namespace steadfold::kernels
