// The interposer's settings: the table of its environment variables, and the functions that read them.
#pragma once

#include <string>

namespace steadfold::interpose {

/// Returns the value of a variable of the table; empty if it is not set.
std::string setting(const char* name);

/// Returns the error in the variables, as "problem (why), suggestion"; empty if there is none. An empty or unknown
/// value is an error; it is never ignored.
std::string fault_of_settings();

}  // namespace steadfold::interpose
