// Every call of the API for C++17, compiled as C++17.
#include "steadfold/cxx17.hpp"
#include "every_call/every_call.hpp"
#include "support/hostile.hpp"

#if __cplusplus >= 202002L
#error "this file is compiled as C++17"
#endif

namespace steadfold::test::every_call_in_cxx17 {

namespace api = ::sf17;

namespace spelling {
template <class P, class T>
void start(P& plan, const std::vector<T>& x, T& result) {
  plan.start(x, result);
}
template <class P, class T>
void start(P& plan, const std::vector<T>& x, const std::vector<T>& y, T& result) {
  plan.start(x, y, result);
}
inline std::vector<int> numbers_of(const std::vector<sf_order>& orders) { return {orders.begin(), orders.end()}; }
}  // namespace spelling

#include "every_call/calls.hpp"

}  // namespace steadfold::test::every_call_in_cxx17

namespace steadfold::test {
Transcript transcript_in_cxx17(Group group) { return every_call_in_cxx17::transcript(group); }
}  // namespace steadfold::test
