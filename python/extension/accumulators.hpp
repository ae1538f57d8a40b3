// Exact sums as objects, over steadfold_accumulator.h.
#pragma once

#include "groups.hpp"

namespace steadfold::python {

void add_accumulators(nb::module_& module);

}  // namespace steadfold::python
