// Which instruction sets there are, and which one runs.
#include "kernels/target.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

namespace steadfold::test::target_test {
namespace {

TEST(Targets, BeginWithTheReference) {
  ASSERT_FALSE(kernels::available().empty());
  EXPECT_EQ(kernels::available().front(), kernels::Target::scalar);
}

TEST(Targets, TheBestIsChosenUnlessOneIsForced) {
  const char* const forced = std::getenv("STEADFOLD_TARGET");
  if (forced == nullptr || *forced == '\0') {
    EXPECT_EQ(kernels::chosen(), kernels::available().back());
    EXPECT_TRUE(kernels::forced_is_available());
  } else {
    EXPECT_EQ(kernels::forced(), std::string_view(forced));
    EXPECT_TRUE(kernels::forced_is_available()) << forced;
    EXPECT_EQ(kernels::name_of(kernels::chosen()), std::string_view(forced));
  }
}

}  // namespace
}  // namespace steadfold::test::target_test
