// Elements that a mask selects, moved together.
// Rank order: kept. Cost: one compression per vector, no branch on the mask.
#pragma once

#include <cstddef>

#include "kernels/target.hpp"
#include "order/index.hpp"

namespace steadfold::kernels {

/// Copies the elements whose byte in `mask` is not 0 to `to`, one after the other, and returns how many. Memory need
/// not be aligned; `to` has room for all `count`, and what follows the last one copied is undefined.
using Select = order::Count (*)(const std::byte* elements, const std::byte* mask, order::Count count,
                                std::byte* to) noexcept;

/// For elements of 4 or 8 bytes, by AVX-512 and SVE; null for other sizes, or if the target has no such instruction.
Select select(Target target, order::Bytes element_bytes) noexcept;

}  // namespace steadfold::kernels
