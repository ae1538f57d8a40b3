// Every call of the C++ API, compiled as C++17.
#include "every_call/every_call.hpp"

#include "steadfold/accumulator.hpp"
#include "steadfold/diagnosis.hpp"
#include "steadfold/memory.hpp"
#include "steadfold/started.hpp"
#include "support/environments.hpp"
#include "support/hostile.hpp"

#if __cplusplus >= 202002L
#error "this file is compiled as C++17"
#endif

namespace steadfold::test::every_call_in_cxx17 {

#include "every_call/calls.hpp"

}  // namespace steadfold::test::every_call_in_cxx17

namespace steadfold::test {
Transcript transcript_in_cxx17(Group group) { return every_call_in_cxx17::transcript(group); }
Check check_in_cxx17() { return &detail::check; }
}  // namespace steadfold::test
