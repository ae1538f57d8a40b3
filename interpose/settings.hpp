// The interposer's settings: the table of its environment variables, and the functions that read them.
#pragma once

#include <string>

namespace steadfold::interpose {

/// Returns the value of a variable of the table; empty if it is not set.
std::string setting(const char* name);

/// Returns the error in the variables, as "problem (why), suggestion"; empty if there is none. An empty or unknown
/// value is an error; it is never ignored.
std::string fault_of_settings();

/// An outcome of a run. `reported`: rank 0 has written a report. The others are results of a comparison.
enum class Outcome { reported, same, differs, not_compared };
/// Adds the outcome to the file that `steadfold run` names, if it started this process on its machine.
void note_outcome(Outcome outcome);

}  // namespace steadfold::interpose
