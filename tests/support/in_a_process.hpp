// Parts of tests that change what a process cannot change back.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

namespace steadfold::test {

/// Runs `body` in a process of its own, in which nothing has happened yet but the test up to here.
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
