// Terms dealt out to the bins of pre-rounded sums, and the largest of them, in one pass; arithmetic/bins.hpp has the
// mathematics.
// Rank order: none. Cost: 4 K + 1 operations a term in lanes; nothing is written but K sums.
// Source: [S2]; Demmel & Nguyen 2013. Sums in integers, the bit patterns of what the extractors leave: ours.
#pragma once

#include "kernels/target.hpp"
#include "order/index.hpp"

namespace steadfold::kernels {

/// What is dealt out: the elements, their products with others, or their squares.
enum class TermForm : std::uint8_t { element, product, square };

/// Multiplies each of `count` elements (aligned or not) or products by `scale`, squares what is to be squared, and adds
/// the shares of what results, in quanta, to sums[0] (the top bin) and to those below it. extractors[i] is 1.5 * 2^52
/// quanta of bin i: adding it rounds to its quantum, and leaves the share in the last bits. Returns the bits of the
/// largest magnitude among the elements (the products), before they are multiplied, or those of infinity or more where
/// one is not finite: where that has no place in the window, the sums have no meaning. At most 2^23 terms before the
/// sums are carried. Reads no other memory.
using Shares = std::uint64_t (*)(const void* first, const void* second, order::Count count, double scale,
                                 const double* extractors, std::int64_t* sums) noexcept;

/// For elements of type T, float or double, and 2 to 4 bins, or none: then the largest is looked for, and no more. A
/// target without a kernel has the reference.
template <class T>
Shares shares(Target target, TermForm form, int bin_count) noexcept;

}  // namespace steadfold::kernels
