// Calls when threads and the process end: by thread_local objects that were made before the library's first call and
// after it, by handlers of atexit, by static objects, and by what runs when these are gone.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "steadfold/accumulator.hpp"
#include "steadfold/steadfold.hpp"
#include "steadfold/steadfold_names.h"
#include "steadfold/team.hpp"

namespace steadfold::test::at_exit_test {
namespace {

template <class Call>
bool is_refused(const Call& call, const std::string& part) {
  try {
    call();
    return false;
  } catch (const Error& error) {
    return std::string(error.what()).find(part) != std::string::npos && std::string(error.what()) == sf_error_text();
  }
}

/// Whether calls work, are refused with a text, and work again: in this thread, by a team, and by accumulators.
bool does_work() {
  const std::vector<double> x = {0.1, 0.2, 0.3};
  const auto product = [](double a, double b) { return a * b; };
  bool is_right = true;
  for (int repeated = 0; repeated < 3; ++repeated) {
    is_right = is_right && sum(x) == 0.6 && sum(x, tree()) == 0.1 + 0.2 + 0.3 && reduce(x, product) == 0.1 * 0.2 * 0.3;
    is_right = is_right && is_refused([&] { sum(x, {.threads = 5000}); }, "5000 threads");
  }
  const Team team(1);
  is_right = is_right && sum(x, team[0]) == 0.6 && is_refused([&] { sum(x, team[0], {.root = 1}); }, "root 1");
  Accumulator<double> accumulator;
  accumulator += x;
  is_right = is_right && accumulator.sum() == 0.6;
  const char* const schedule = sf_list_name(SF_LIST_SCHEDULES, 0);
  return is_right && schedule != nullptr && *schedule != '\0';
}

struct OfThread {
  bool& is_right;
  ~OfThread() { is_right = does_work(); }
};

TEST(AtExit, ThreadsCallFromTheirDestructors) {
  for (const bool calls_first : {false, true}) {
    bool is_first_right = false, is_last_right = false;
    std::thread([&] {
      EXPECT_TRUE(!calls_first || does_work());
      const thread_local OfThread destroyed_last{is_last_right};
      static_cast<void>(destroyed_last);
      EXPECT_TRUE(does_work());
      const thread_local OfThread destroyed_first{is_first_right};
      static_cast<void>(destroyed_first);
    }).join();
    EXPECT_TRUE(is_first_right);
    EXPECT_TRUE(is_last_right);
  }
}

bool is_checked = false;  // in the process that ends
void check() {
  if (is_checked && !does_work()) std::_Exit(1);
}
const struct OfProcess {
  OfProcess() = default;
  ~OfProcess() { check(); }
} of_process;
/// When all static objects are gone, those of libraries too.
[[gnu::destructor]] void check_at_last() { check(); }

TEST(AtExit, ProcessesCallFromHandlersAndStaticObjects) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process that has called nothing
  EXPECT_EXIT(
      {
        is_checked = true;
        std::atexit(check);
        check();
        std::atexit(check);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace steadfold::test::at_exit_test
