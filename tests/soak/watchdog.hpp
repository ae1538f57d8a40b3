// A case that takes a minute hangs: it is named, and the program ends. So does a crash.
#pragma once

#include <cstddef>

#include "case.hpp"

namespace steadfold::soak {

void watch();
/// What is under way now: said when it hangs or crashes. Another minute begins.
void note(const Case& made, std::size_t rank);
/// For ranks that are known to wait for each other.
[[noreturn]] void hang();

}  // namespace steadfold::soak
