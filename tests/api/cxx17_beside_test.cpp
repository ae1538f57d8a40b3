// The APIs for C++20 and C++17 in one source and in one program (cxx17_test.cpp is compiled as C++17): the same bits,
// one type of errors, and ranks of which some call the one and some the other.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "steadfold/cxx17.hpp"
#include "steadfold/steadfold.hpp"
#include "support/hostile.hpp"
#include "support/on_team.hpp"

namespace steadfold::test::cxx17_test {
void fail_in_cxx17();
bool catches_in_cxx17(void (*call)());
}  // namespace steadfold::test::cxx17_test

namespace steadfold::test::cxx17_beside_test {
namespace {

TEST(Cxx17Beside, HasTheBitsOfCxx20) {
  for (const std::size_t count : {0, 1, 2, 63, 1000}) {
    const auto x = hostile(count, count), y = hostile(count, count + 1);
    const std::vector<float> floats(x.begin(), x.end());
    EXPECT_EQ(bits(sf17::sum(x)), bits(sf::sum(x)));
    EXPECT_EQ(bits(sf17::sum(x, sf17::tree())), bits(sf::sum(x, sf::tree())));
    EXPECT_EQ(bits(sf17::dot(x, y)), bits(sf::dot(x, y)));
    EXPECT_EQ(bits(sf17::norm2(x)), bits(sf::norm2(x)));
    EXPECT_EQ(bits(sf17::to<double>(sf17::sum)(floats)), bits(sf::sum<double>(floats)));
    EXPECT_EQ(bits(sf17::sum(x, sf17::binned({2}))), bits(sf::sum(x, {.method = sf::binned({.bins = 2})})));
  }
}

TEST(Cxx17Beside, ErrorsPassBetweenSourcesOfBothStandards) {
  try {
    cxx17_test::fail_in_cxx17();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const sf::Error& error) {
    EXPECT_EQ(error.status(), SF_INVALID_ARGUMENT);
  }
  EXPECT_TRUE(cxx17_test::catches_in_cxx17([] { sf::sum(std::vector<double>(3), sf::binned({.bins = 9})); }));
}

TEST(Cxx17Beside, RanksOfBothMakeOneCall) {
  const auto subtract = [](double a, double b) { return a - b / 3; };
  const auto x = hostile(100, 4);
  const std::vector<double> first(x.begin(), x.begin() + 30), second(x.begin() + 30, x.end());
  const double wanted = sf::reduce(x, subtract);
  on_team(2, [&](const Team::Member& member) {
    if (member.worker() == 0) {
      EXPECT_EQ(bits(sf::reduce(first, subtract, member)), bits(wanted));
      EXPECT_EQ(bits(sf::sum(first, member)), bits(sf::sum(x)));
    } else {
      EXPECT_EQ(bits(sf17::reduce(second, subtract, member)), bits(wanted));
      EXPECT_EQ(bits(sf17::sum(second, member)), bits(sf::sum(x)));
    }
  });
}

}  // namespace
}  // namespace steadfold::test::cxx17_beside_test
