// Sources in C++20 and in C++17 (cxx17_test.cpp) in one program: one type of errors, plans that pass between them, and
// ranks of which some call from the one and some from the other.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "steadfold/team.hpp"
#include "support/hostile.hpp"
#include "support/on_team.hpp"

namespace steadfold::test::cxx17_test {
double sum_in_cxx17(const std::vector<double>& x, const sf::Team::Member& member);
double mean_in_cxx17(sf::Plan<double>& plan, const std::vector<double>& x);
void fail_in_cxx17();
bool catches_in_cxx17(void (*call)());
}  // namespace steadfold::test::cxx17_test

namespace steadfold::test::cxx17_beside_test {
namespace {

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
  const auto x = hostile(100, 4);
  const std::vector<double> first(x.begin(), x.begin() + 30), second(x.begin() + 30, x.end());
  on_team(2, [&](const Team::Member& member) {
    const auto& mine = member.worker() == 0 ? first : second;
    EXPECT_EQ(bits(member.worker() == 0 ? sf::sum(mine, member) : cxx17_test::sum_in_cxx17(mine, member)),
              bits(sf::sum(x)));
    sf::Plan<double> plan(sf::mean, mine.size(), member);
    EXPECT_EQ(bits(cxx17_test::mean_in_cxx17(plan, mine)), bits(sf::mean(x)));
  });
}

}  // namespace
}  // namespace steadfold::test::cxx17_beside_test
