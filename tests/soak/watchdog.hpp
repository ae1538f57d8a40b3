// Ends the program if a case takes a minute, or crashes, and names the case.
#pragma once

#include <cstddef>

#include "case.hpp"

namespace steadfold::soak {

void watch();
/// Sets the current case, to be named if it hangs or crashes. Restarts the minute.
void note(const Case& made, std::size_t rank);
/// Reports a hang at once. For ranks that are known to wait for each other.
[[noreturn]] void hang();

}  // namespace steadfold::soak
