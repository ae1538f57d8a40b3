// The interposer's settings: the table of its environment variables, and the functions that read them.
#pragma once

#include <string>

namespace steadfold::interpose {

/// The value of a variable of the table; empty if it is not set.
std::string setting(const char* name);

/// The fault of the variables, as "problem (why), suggestion"; empty if there is none. An empty or unknown value is a
/// fault; it is never ignored.
std::string fault_of_settings();

}  // namespace steadfold::interpose
