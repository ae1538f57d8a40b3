// What the environment asks of the interposer: the table of its variables, and all that reads them.
#pragma once

#include <string>

namespace steadfold::interpose {

/// The value of a variable of the table, or nothing where it is not set.
std::string setting(const char* name);

/// What is wrong with the variables, "problem (why), suggestion"; or nothing. An empty value and one that no variable
/// of its kind has are faults, never silently as if they were not there.
std::string fault_of_settings();

}  // namespace steadfold::interpose
