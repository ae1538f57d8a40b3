// The arrays of a call of C, as axes of rows and columns.
// Cost: some 10 ns per axis. Broadcasting is NumPy's.
#pragma once

#include "agreement/description.hpp"
#include "steadfold/steadfold.h"

namespace steadfold::capi {

/// Whether there are factors, a mask or labels.
inline bool is_given(const sf_array& array) noexcept { return array.data != nullptr || array.axis_count != 0; }

/// Gives the call its array, and what follows from that: type, columns and rows. `array` must outlive the call. Throws
/// Failure where the arrays do not fit each other, or the call.
void take_arrays(const sf_arrays& callers, agreement::Call& call, agreement::Array& array);

}  // namespace steadfold::capi
