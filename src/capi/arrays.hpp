// Converts the arrays of a C call to axes of rows and columns.
// Cost: some 10 ns per axis. Broadcasting follows NumPy.
#pragma once

#include "call/description.hpp"
#include "steadfold/steadfold.h"

namespace steadfold::capi {

/// Whether an optional array (factors, a mask or labels) is given.
inline bool is_given(const sf_array& array) noexcept { return array.data != nullptr || array.axis_count != 0; }

/// Sets the call's array and the fields that follow from it: type, columns and rows. `array` must outlive the call.
/// Throws Failure if the shapes of the arrays do not fit each other or the call.
void take_arrays(const sf_arrays& callers, call::Call& call, call::Array& array);

}  // namespace steadfold::capi
