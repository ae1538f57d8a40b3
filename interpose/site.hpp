// Where in the program calls stand.
#pragma once

#include <string>
#include <vector>

namespace steadfold::interpose {

/// Places in the source, or as much of them as symbols tell: "solve (solver.c:88)", "solve in app", "app+0x1b2f". An
/// address is where a call returns to; null: nobody knows. Runs addr2line once for each file, if it is there.
std::vector<std::string> places_of(const std::vector<const void*>& addresses);

}  // namespace steadfold::interpose
