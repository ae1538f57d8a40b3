// Plans whose workers reduce over a board, without messages.
#include <gtest/gtest.h>

#include <cmath>

#include "support/board_reduction_cases.hpp"
#include "support/on_team.hpp"
#include "support/sanitized.hpp"

namespace steadfold::test::board_reduction_test {
namespace {

constexpr int all_sizes[] = {2, 3, 5, 1, 4, 7, 8};
constexpr std::span team_sizes = std::span(all_sizes).first(sanitized ? 3 : 7);

template <class Body>
void on_teams(std::span<const int> sizes, const Body& body) {
  for (const int workers : sizes)
    on_team(workers, [&](const Team::Member& member) {
      EXPECT_STREQ(member.group().transport(), "shared");
      body(Here<Team::Member>{member, member.worker(), member.size(), member.group().handle()});
    });
}

TEST(BoardReduction, VectorsHaveTheBitsOfReferences) {
  constexpr std::size_t widths[] = {1, 8, 9, 255, 3001};
  on_teams(team_sizes, [&](const auto& here) { vectors_have_the_bits_of_references(here, widths); });
}

TEST(BoardReduction, ExactSumsOfHostileTerms) {
  on_teams(team_sizes, [](const auto& here) {
    exact_sums_of_hostile_terms<double>(here);
    exact_sums_of_hostile_terms<float>(here);
  });
}

/// A sum by `plain` depends on the number of workers alone: all of them have it.
TEST(BoardReduction, PlainSumsAreTheSameOnAllWorkers) {
  for (const int workers : {3, 5, 8}) {
    const auto all = with_specials<double>(static_cast<std::size_t>(workers), 3);
    std::vector<double> found(all.size());
    on_team(workers, [&](const Team::Member& member) {
      const auto w = static_cast<std::size_t>(member.worker());
      auto plan = Plan<double>::of_vectors(sf::plus, 1, member, {.method = sf::plain()});
      plan.run(std::span(all).subspan(w, 1), std::span(found).subspan(w, 1));
    });
    for (const double each : found) EXPECT_EQ(bytes_of<double>({&each, 1}), bytes_of<double>({found.data(), 1}));
  }
}

TEST(BoardReduction, UserOperators) {
  on_teams(team_sizes, [](const auto& here) {
    vectors_of_user_operators(here);
    rows_of_an_operator_that_does_not_commute(here);
  });
}

TEST(BoardReduction, RowsHaveTheBitsOfReferences) {
  on_teams(team_sizes, [](const auto& here) { rows_have_the_bits_of_references(here); });
}

TEST(BoardReduction, RowsDealtOneByOne) {
  on_teams(team_sizes, [](const auto& here) { rows_dealt_one_by_one(here); });
}

/// Where the greatest is: by index, which rows do not carry themselves.
TEST(BoardReduction, Locations) {
  auto x = with_specials<double>(300, 31);
  for (double& each : x)
    if (std::isnan(each)) each = 0;
  for (const int workers : team_sizes) {
    for (const std::size_t rows : {5u, 300u}) {
      const std::vector<double> some(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(rows));
      const auto due = sf::max_location(some);
      on_team(workers, [&](const Team::Member& member) {
        const auto mine = part_of(some, member.worker(), workers);
        Plan<double, Located<double>> plan(sf::max_location, mine.size(), member);
        EXPECT_TRUE(says_on_board(plan.describe()));
        const auto found = plan.run(mine);
        EXPECT_EQ(found.index, due.index) << rows << " rows, " << workers << " workers";
        EXPECT_EQ(bytes_of<double>({&found.value, 1}), bytes_of<double>({&due.value, 1}));
      });
    }
  }
}

/// Elements that are converted on the way, to results of another size: in place such a result overlaps other rows.
constexpr int some_sizes[] = {2, 3, 5};

TEST(BoardReduction, ResultsOfAnotherSize) {
  for (const std::size_t columns : {1u, 50u, 5000u})
    on_teams(some_sizes, [&](const auto& here) { results_of_another_size(here, columns); });
}

TEST(BoardReduction, SomeStayAndSomeDoNot) {
  on_teams(some_sizes, [](const auto& here) { some_stay_and_some_do_not(here, 900); });
}

TEST(BoardReduction, DataThatCannotBeUsed) {
  for (const std::size_t columns : {1u, 100u})
    on_teams(some_sizes, [&](const auto& here) { data_that_cannot_be_used(here, columns); });
}

/// Traced runs have messages to be counted; bits stay.
TEST(BoardReduction, TracedRunsSendMessages) {
  on_team(4, [](const Team::Member& member) {
    Plan<double> plan(sf::plus, 1, member);
    const double mine = 0.1 * (member.worker() + 1);
    const double due = plan.run({&mine, 1});
    EXPECT_EQ(plan.figures().messages, 3u);
    plan.trace(true);
    EXPECT_EQ(plan.run({&mine, 1}), due);
    EXPECT_EQ(plan.figures().rounds, 2u);
    plan.trace(false);
    EXPECT_EQ(plan.run({&mine, 1}), due);
  });
}

/// More workers than read each other's posts take messages; so do fewer, if each would merge the partials of all.
TEST(BoardReduction, LargeTeamsTakeMessages) {
  for (const int workers : {64, 65}) {
    const auto x = with_specials<double>(static_cast<std::size_t>(workers), 1);
    const double due = sf::sum(x);
    on_team(workers, [&](const Team::Member& member) {
      Plan<double> plan(sf::plus, 1, member);
      EXPECT_EQ(says_on_board(plan.describe()), workers <= 64);
      const double found = plan.run(std::span(x).subspan(static_cast<std::size_t>(member.worker()), 1));
      EXPECT_EQ(bytes_of<double>({&found, 1}), bytes_of<double>({&due, 1}));
    });
  }
  for (const int workers : {32, 33}) {
    std::vector<double> x(300);
    std::iota(x.begin(), x.end(), 0.5);
    on_team(workers, [&](const Team::Member& member) {
      const auto mine = part_of(x, member.worker(), workers);
      Plan<double, Located<double>> plan(sf::max_location, mine.size(), member);
      EXPECT_EQ(says_on_board(plan.describe()), workers <= 32);
      EXPECT_EQ(plan.run(mine).index, 299u);
    });
  }
}

}  // namespace
}  // namespace steadfold::test::board_reduction_test
