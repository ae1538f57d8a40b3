// Exact sums of contiguous terms whose exponents are close to each other: a few integers in units of powers of two.
// Rank order: not needed, because sums are exact. Cost: 3 additions per level and vector, and one pass over memory; 2
// levels hold 34 binades of doubles. Products of doubles take 12 operations (AVX-512) if they lie within 35 binades,
// and 27 if they do not. Source: error-free extraction (Rump, Ogita, Oishi 2008) into running sums that never leave
// their binade, so their bit patterns are integers. The test that no sum left its binade (the numbers with
// the same binary exponent) is new.
//
// Level i is a floating-point sum that starts at 1.5 2^(top - 44 i) and must stay within that binade, where it is a
// multiple of its unit 2^(top - 44 i - 52). Adding a term loses the part of the term below the unit. This loss is known
// without error, and is added to the next level. If no level left its binade and the last level lost nothing, the bit
// patterns minus the bit patterns of the starts are the sum, in units. The levels cover the exponent range of the sums.
//
// A product of doubles is two terms: the rounded product, and its rounding error, which begins at level 1. If
// magnitudes show that nothing is lost, no loss is computed, and other sums hold the errors.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/columns.hpp"
#include "kernels/target.hpp"
#include "order/index.hpp"

namespace steadfold::kernels {

using order::Count;

inline constexpr int most_levels = 4;

/// The number of terms that are added or refused together; products of doubles: half of this number.
inline constexpr Count extraction_block = 1024;

/// The difference between the tops (binary exponents) of two levels. A level loses at most half a unit, 2^(top - 53),
/// per term. There are at least two lanes, so a lane has at most 2^8 losses in a block. The losses add up to at most
/// 2^(top - 45), half of a binade that is 44 lower.
inline constexpr int level_step = 44;

/// Sums at level i are in units of 2^level_unit(top, i).
constexpr int level_unit(int top, int level) noexcept { return top - level_step * level - 52; }

/// Returns a top at which the 2^8 terms of a lane, each below 2^(highest + 1), cannot leave the binade.
constexpr int level_top_for(int highest) noexcept { return highest + 10; }
inline constexpr int highest_level_top = 1022;
/// Returns the lowest top at which the last level is a normal number. The level's unit is then the unit of subnormals,
/// so it loses nothing.
constexpr int lowest_level_top(int levels) noexcept { return -1022 + level_step * (levels - 1); }

/// The terms that are added. Elements have one type and are contiguous, aligned or not.
enum class ExtractedTerms : std::uint32_t {
  doubles,
  floats,
  products_of_floats,
  products_of_doubles,  // these need a fused multiply-add; without them there is no kernel
  absolute_doubles,
  absolute_floats
};

/// Adds terms to the sums of the levels, block by block from the first term on. Returns the number of terms added: at
/// most 65536, and less than `count` if the next block does not fit. `second` has the second factors of products and
/// may be `first`.
using AddByExtraction = Count (*)(const void* first, const void* second, Count count, int top,
                                  std::int64_t* sums) noexcept;

/// Returns floor(log2) of the largest of the absolute terms; 1024 if a term is infinite or NaN, -1023 if no term is
/// normal.
using HighestExponent = int (*)(const void* first, const void* second, Count count) noexcept;

/// The fewest levels for terms. Products of doubles then write sums of all levels.
constexpr int few_levels(ExtractedTerms terms) noexcept { return terms == ExtractedTerms::products_of_doubles ? 3 : 2; }

/// Returns the target's kernel, or null if it has none. `levels`: `most_levels`, or the fewest.
AddByExtraction add_by_extraction(Target target, ExtractedTerms terms, int levels) noexcept;
HighestExponent highest_exponent(Target target, ExtractedTerms terms) noexcept;

/// The number of rows up to which no sum leaves its binade, with the top that level_top_for gives.
inline constexpr Count most_rows_of_columns = 256;

/// Input and output of AddColumnsByExtraction: several columns at once, each with a separate exponent range. Either all
/// rows of a column fit its exponent range, or the column has no sums.
struct ExtractedColumns {
  // Input: top of each column's exponent range, between lowest_level_top and highest_level_top.
  EachColumn<std::int64_t> top;
  std::array<EachColumn<std::int64_t>, most_levels> sums;  // output: sums of the columns, by level
  EachColumn<std::int64_t> fits;                           // output: 0 if a row of the column does not fit
};
using AddColumnsByExtraction = void (*)(const ColumnRows& rows, ExtractedColumns& found) noexcept;
/// Writes, for every column, the number that HighestExponent returns.
using HighestExponents = void (*)(const ColumnRows& rows, EachColumn<std::int64_t>& exponents) noexcept;

/// Returns the target's kernel; null if the target has no kernel, and for products of doubles.
AddColumnsByExtraction add_columns_by_extraction(Target target, ExtractedTerms terms, int levels) noexcept;
HighestExponents highest_exponents(Target target, ExtractedTerms terms) noexcept;

}  // namespace steadfold::kernels
