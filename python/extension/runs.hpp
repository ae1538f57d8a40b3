// Makes calls that run at once, are started, or are bound to plans and bundles.
#pragma once

#include <memory>
#include <vector>

#include "call.hpp"
#include "groups.hpp"

namespace steadfold::python {

void add_runs(nb::module_& module);

}  // namespace steadfold::python
