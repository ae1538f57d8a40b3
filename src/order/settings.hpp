// Checks the environment variables that the library reads. The code that needs a variable reads it. All variables are
// checked here, so that a wrong value is an error in every call, even in a call that does not read the variable.
#pragma once

#include <string>

namespace steadfold::order {

/// Returns the fault in the values that the variables had at the first call, as "problem (why), suggestion"; empty if
/// there is none.
const std::string& fault_of_settings();

}  // namespace steadfold::order
