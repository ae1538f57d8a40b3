// Tags: every one is handed out, and none that somebody holds.
#include "transport/tags.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace steadfold::transport::tags_test {
namespace {

TEST(Tags, FromTheFirstToTheLast) {
  Tags tags(9);
  EXPECT_EQ(tags.take(4), 0u);
  EXPECT_EQ(tags.take(7), std::nullopt) << "there are ten";
  EXPECT_EQ(tags.take(5), 4u);
  EXPECT_EQ(tags.take(2), std::nullopt);
  EXPECT_EQ(tags.take(1), 9u) << "the last one";
  EXPECT_EQ(tags.take(1), std::nullopt);
}

TEST(Tags, ThatAreHeldAreLeftOut) {
  Tags tags(9);
  EXPECT_EQ(tags.take(10), 0u);
  tags.start_over({7, 2, 3});
  EXPECT_EQ(tags.take(2), 0u);
  EXPECT_EQ(tags.take(1), 4u);
  EXPECT_EQ(tags.take(2), 5u);
  EXPECT_EQ(tags.take(3), std::nullopt);
  EXPECT_EQ(tags.take(2), 8u);
}

}  // namespace
}  // namespace steadfold::transport::tags_test
