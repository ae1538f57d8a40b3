// Finds the places of calls in the program's source.
#pragma once

#include <string>
#include <vector>

namespace steadfold::interpose {

/// Returns the place of each call, as precise as the symbols allow: "solve (solver.c:88)", "solve in app",
/// "app+0x1b2f". `addresses` are return addresses; null if unknown. Runs addr2line once per file, if it is installed.
std::vector<std::string> places_of(const std::vector<const void*>& addresses);

}  // namespace steadfold::interpose
