// Runs parts of tests that change state that a process cannot restore.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

namespace steadfold::test {

/// Runs `body` in a new process, which runs only this test up to this point.
template <class Body>
void in_a_process(const Body& body) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        body();
        std::_Exit(testing::Test::HasFailure() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace steadfold::test
