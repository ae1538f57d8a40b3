// Packs the elements that a mask selects. Rank order: kept. Cost: one packing instruction per vector, without a branch
// that depends on the mask.
#pragma once

#include <cstddef>

#include "kernels/target.hpp"
#include "order/index.hpp"

namespace steadfold::kernels {

/// Copies the elements whose byte in `mask` is not 0 to `to`, contiguously, and returns their number. Memory need not
/// be aligned. `to` must have memory for all `count` elements; its bytes after the last copied element are undefined.
using Select = order::Count (*)(const std::byte* elements, const std::byte* mask, order::Count count,
                                std::byte* to) noexcept;

/// Returns the kernel for elements of 4 or 8 bytes, with AVX-512 and SVE. Null for other sizes, and for targets without
/// a packing instruction.
Select select(Target target, order::Bytes element_bytes) noexcept;

}  // namespace steadfold::kernels
