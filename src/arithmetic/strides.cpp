#include "arithmetic/strides.hpp"

#include <algorithm>

namespace steadfold::arithmetic {
namespace {

/// Operators are promised elements that are aligned to the largest power of two, at most 16, that divides their size.
bool keeps_alignment(Stride row, order::Bytes element_bytes) noexcept {
  const order::Bytes alignment = std::min<order::Bytes>(16, element_bytes & (~element_bytes + 1));
  return alignment == 0 || static_cast<order::Bytes>(row) % alignment == 0;
}

}  // namespace

bool Strides::judged(const RowShape& shape) const noexcept {
  if (!are_in_one_piece(first_, shape) || first_.row < 0 || !keeps_alignment(first_.row, shape.element_bytes))
    return false;
  switch (shape.second) {
    case Second::none: return true;
    case Second::mask: return second_.row == 1;
    case Second::factors: break;
  }
  return second_.row == first_.row && are_in_one_piece(second_, shape);
}

}  // namespace steadfold::arithmetic
