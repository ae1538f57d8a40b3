// The variables of the environment that the library reads, and what their values may be. Each is read where it matters;
// here all of them are checked, so that a mistake is an error also in calls that would not read it.
#pragma once

#include <string>

namespace steadfold::order {

/// What is wrong with the variables as they were when the process first asked: "problem (why), suggestion", or nothing.
const std::string& fault_of_settings();

}  // namespace steadfold::order
