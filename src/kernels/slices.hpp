// Distributes terms to the bins of pre-rounded sums, and finds the largest term, in one pass.
// arithmetic/binned/bins.hpp has the mathematics.
// Rank order: not needed, because sums are integers. Cost: 4 K + 1 lane operations per term; only K sums are written.
// Source: Lapillonne & Peltekov 2013; Demmel & Nguyen 2013. Integer sums of the bit patterns of terms plus extractors
// are new.
#pragma once

#include <cstdint>

#include "kernels/target.hpp"
#include "kernels/term_form.hpp"
#include "order/index.hpp"

namespace steadfold::kernels {

/// Multiplies each of `count` elements (aligned or not), or each product, by `scale`, squares it if `form` says so, and
/// adds its slices, in quanta, to sums[0] (the top bin) and the sums below. extractors[i] is 1.5 * 2^52 quanta of bin
/// i: adding it rounds to the bin's quantum, and leaves the slice in the last bits. Returns the bits of the largest
/// magnitude among the elements (or products) before scaling; the bits of infinity, or more, if an element is not
/// finite. If this magnitude does not fit the bin range, the sums are not valid. At most 2^23 terms may be
/// added before the sums are carried. Reads no other memory.
using AddSlices = std::uint64_t (*)(const void* first, const void* second, order::Count count, double scale,
                                    const double* extractors, std::int64_t* sums) noexcept;

/// Returns the kernel for elements of type T, float or double, and 2 to 4 bins. With 0 bins the kernel only finds the
/// largest magnitude. Returns the reference if the target has no kernel.
template <class T>
AddSlices add_slices(Target target, TermForm form, int bin_count) noexcept;

}  // namespace steadfold::kernels
