// When a rank that waits leaves its core to others.
#include "transport/backoff.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {
thread_local int yields = 0;
}

// In place of the C library's in this program.
extern "C" int sched_yield() noexcept {
  ++yields;
  return static_cast<int>(syscall(SYS_sched_yield));
}

namespace backoff_test {
using steadfold::transport::Backoff;

int yields_of(Backoff& backoff, int tests) {
  yields = 0;
  for (int i = 0; i < tests; ++i) backoff.found_nothing();
  return yields;
}

TEST(Backoff, RanksThatShareCoresYieldSoonAndLearnHowSoon) {
  Backoff backoff(true);
  EXPECT_EQ(yields_of(backoff, 4096), 0);
  EXPECT_EQ(yields_of(backoff, 160), 10);
  backoff.found_something();  // a wait that ended after yields: the next is less patient
  EXPECT_EQ(yields_of(backoff, 2048), 0);
  EXPECT_EQ(yields_of(backoff, 16), 1);
}

TEST(Backoff, RanksThatHaveACoreEachYieldWhenTheOtherHasLostIts) {
  Backoff backoff(false);
  for (int wait = 0; wait < 3; ++wait) {  // nothing is learned from a wait that another program made long
    EXPECT_EQ(yields_of(backoff, 1 << 14), 0);
    EXPECT_EQ(yields_of(backoff, 160), 10);
    backoff.found_something();
  }
}
}  // namespace backoff_test
