// Finds the places of calls in the program's source.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace steadfold::interpose {

/// The largest number of callers that a place names.
constexpr int most_callers = 8;
/// The return addresses of a call and of its callers, the call first; null at the end.
using Addresses = std::array<const void*, 1 + most_callers>;

/// Returns the addresses of the call that returns to `site`, on this thread's stack. If the site is in a library, its
/// callers begin with the first function outside this library.
Addresses addresses_of(const void* site, int callers);

/// Whether the address is in the program, not in a library.
bool is_in_program(const void* address);

/// Returns the place of each call, as precise as the symbols allow: "solve (solver.c:88)", "solve in app",
/// "app+0x1b2f". Callers follow after " < ". Runs addr2line once per file, if it is installed.
std::vector<std::string> places_of(const std::vector<Addresses>& calls);

}  // namespace steadfold::interpose
