// Elements that a mask selects, moved together.
// Rank order: kept. Cost: a compression a vector, no branch on the mask. Source: ours.
#pragma once

#include <cstddef>

#include "kernels/target.hpp"
#include "order/index.hpp"

namespace steadfold::kernels {

/// Copies those of `count` elements whose byte in the mask is not 0 to `to`, one after the other; returns how many.
/// Memory need not be aligned; `to` has room for all, and what lies behind the last one loses its meaning.
using Select = order::Count (*)(const std::byte* elements, const std::byte* mask, order::Count count,
                                std::byte* to) noexcept;

/// For elements of 4 or 8 bytes, by AVX-512 and SVE; null for others, and where the target has no compression.
Select select(Target target, order::Bytes element_bytes) noexcept;

}  // namespace steadfold::kernels
