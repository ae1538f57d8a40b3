// Where in the program a call stands.
#pragma once

#include <string>

namespace steadfold::interpose {

/// A place in the source, or as much of it as symbols tell: "solve (solver.c:88)", "solve in app", "app+0x1b2f".
/// `address` is where a call returns to; null: nobody knows. Runs addr2line, if it is there.
std::string place_of(const void* address);

}  // namespace steadfold::interpose
