// Every public function of the C++ API on hostile values, called by a source in C++17 (cxx17.cpp) and by one in C++20
// (cxx20.cpp), which share the calls (calls.hpp), and by one in C (c.c). All are linked into one program.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "every_call/transcript.hpp"
#include "steadfold/group.hpp"

namespace steadfold::test {

/// What every call came to in the floating-point environment in force. Collective over the group; all ranks have the
/// same data, and take their parts.
[[gnu::visibility("default")]] Transcript transcript_in_cxx17(Group group);
[[gnu::visibility("default")]] Transcript transcript_in_cxx20(Group group);
/// What most of these calls came to in C (c.c), under the names that they have in C++.
[[gnu::visibility("default")]] Transcript transcript_in_c(Group group);
/// What calls on doubles should come to, under the same names, by references that share nothing with the library.
[[gnu::visibility("default")]] Transcript transcript_of_references();

/// Where a function of the headers stands that both have compiled.
using Check = void (*)(sf_status, detail::OperatorHolder*);
[[gnu::visibility("default")]] Check check_in_cxx17();
[[gnu::visibility("default")]] Check check_in_cxx20();

}  // namespace steadfold::test
