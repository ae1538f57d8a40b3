// Strides with one axis of rows and one axis of their elements.
#pragma once

#include "arithmetic/rows/strides.hpp"

namespace steadfold::test {

/// The bytes from one row to the next, and from one element of a row to the next.
struct Steps {
  arithmetic::Stride row = 0;
  arithmetic::Stride element = 0;
};

inline arithmetic::Strides two_axes(const arithmetic::RowShape& shape, const Steps& first, const Steps& second = {},
                                    arithmetic::Stride mask = 1, order::Bytes mask_bytes = 1) {
  const arithmetic::Axis rows{.extent = 0, .strides = {first.row, second.row, mask}};
  const arithmetic::Axis columns{.extent = shape.columns, .strides = {first.element, second.element, 0}};
  return {shape, {&rows, 1}, {&columns, 1}, {.mask_bytes = mask_bytes}};
}

}  // namespace steadfold::test
