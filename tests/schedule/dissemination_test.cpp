// Adapted n-way dissemination: what it sends by hand, which pairs (p, n) are adaptable, and proofs.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "schedule/checker/checker.hpp"
#include "schedule/rank_counts.hpp"
#include "schedule/registry.hpp"

namespace steadfold::schedule::dissemination_test {
namespace {

Spec dissemination(int n, bool is_strict = false) {
  return parse("dissemination:n=" + std::to_string(n) + (is_strict ? ":strict=1" : ""));
}

struct Cost {
  Count messages, rounds, partials;
  friend bool operator==(const Cost&, const Cost&) = default;
};
void PrintTo(const Cost& cost, std::ostream* out) {
  *out << cost.messages << " messages, " << cost.rounds << " rounds, " << cost.partials << " partials";
}

Cost cost(Rank ranks, const Spec& spec) {
  const Context context{.rank_count = ranks, .spec = &spec};
  return {spec.algorithm->messages(context), spec.algorithm->rounds(context),
          spec.algorithm->partial_messages(context)};
}
Cost cost(Rank ranks, int n) { return cost(ranks, dissemination(n)); }

// Per rank: n in each round but the last.
TEST(Dissemination, CostByHand) {
  EXPECT_EQ(cost(1, 3), (Cost{0, 0, 0}));
  EXPECT_EQ(cost(2, 1), (Cost{2, 1, 2}));
  EXPECT_EQ(cost(6, 5), (Cost{5 * 6, 1, 5 * 6}));           // all to all
  EXPECT_EQ(cost(3, 8), (Cost{2 * 3, 1, 2 * 3}));           // more ports than others
  EXPECT_EQ(cost(27, 2), (Cost{6 * 27, 3, 6 * 27}));        // 3^3: nothing to adapt
  EXPECT_EQ(cost(8, 2), (Cost{4 * 8, 2, 4 * 8}));           // the example of [S4]
  EXPECT_EQ(cost(13, 2), (Cost{5 * 13, 3, 5 * 13}));        // 13 = 9 + 6 - 2
  EXPECT_EQ(cost(13, 1), (Cost{4 * 13, 4, 5 * 13}));        // 13 = 8 + 5, 5 = 101: not adaptable
  EXPECT_EQ(cost(29, 1), (Cost{5 * 29, 5, (5 + 2) * 29}));  // 29 = 16 + 13, 13 = 1101
}

TEST(Dissemination, TakesTheSmallestAdaptableNumberOfPorts) {
  for (Rank ranks = 1; ranks <= 300; ++ranks) {
    int n = 1;
    while (refusal(dissemination(n, true), ranks)) ++n;
    const Spec chosen = parse("dissemination:strict=1");
    EXPECT_EQ(refusal(chosen, ranks).value_or(""), "");
    EXPECT_EQ(cost(ranks, chosen), cost(ranks, n)) << ranks;
    EXPECT_EQ(chosen.algorithm->port_count({.rank_count = ranks, .spec = &chosen}), static_cast<std::uint32_t>(n))
        << ranks;
  }
}

// What rank 0 gets, a message per text: from whom, then each partial as its first rank and how many.
std::vector<std::string> received(Rank ranks, int n) {
  const Spec spec = dissemination(n);
  std::vector<std::string> messages;
  bool is_new = true;
  Steps steps = spec.algorithm->steps({.rank_count = ranks, .spec = &spec});
  while (const Step* step = steps.next()) {
    if (step->kind != StepKind::receive) continue;
    if (is_new) messages.push_back(std::to_string(step->peer) + ":");
    messages.back() += " " + std::to_string(step->covers.ranks.first) + "+" + std::to_string(step->covers.ranks.count);
    is_new = !step->more;
  }
  return messages;
}

using Texts = std::vector<std::string>;

/// In round 2 rank 5 sends all that it holds, rank 2 not the data of rank 0.
TEST(Dissemination, ExampleOfTheSource) { EXPECT_EQ(received(8, 2), (Texts{"7: 7+1", "6: 6+1", "5: 3+3", "2: 1+2"})); }

TEST(Dissemination, CutsAndCompanionsByHand) {
  EXPECT_EQ(received(7, 1), (Texts{"6: 6+1", "5: 4+2", "3: 0+4"}));  // rank 0 leaves its own row out at the end
  // Rank 9 sends its own row beside its sum: with what rank 0 holds by then it is the part that rank 0 sends last.
  EXPECT_EQ(received(13, 1), (Texts{"12: 12+1", "11: 10+2", "9: 6+4 9+1", "5: 1+5"}));
}

/// How many ranks' rows a rank's sum holds after each message of the rounds before the last, its own rows first.
std::vector<Rank> boundaries(Rank n, Rank size) {
  std::vector<Rank> ends = {1};
  for (Rank reach = 1; reach < size; reach = ends.back())
    for (Rank i = 0; i < n; ++i) ends.push_back(ends.back() + reach);
  return ends;
}

/// Whether own rows from `cut` on, those of `whole` sources and the first `part` of the next are all ranks once.
bool counts_each_once(Rank ranks, Rank size, Rank cut, Rank whole, Rank part) {
  std::vector<int> times(static_cast<std::size_t>(ranks));
  for (Rank offset = cut; offset < size * (whole + 1) + part; ++offset)
    ++times[static_cast<std::size_t>(offset % ranks)];
  return std::ranges::all_of(times, [](int each) { return each == 1; });
}

bool is_adaptable(Rank ranks, Rank n) {
  Rank size = 1;
  while (size * (n + 1) < ranks) size *= n + 1;
  const std::vector<Rank> parts = boundaries(n, size);
  std::vector<Rank> cuts = parts;
  cuts.push_back(0);
  for (const Rank cut : cuts)
    for (const Rank part : parts)
      for (Rank whole = 0; whole < n; ++whole)
        if (counts_each_once(ranks, size, cut, whole, part)) return true;
  return ranks == 1;
}

/// The definition, tried out, against the search of the schedule.
TEST(Dissemination, AdaptablePairs) {
  constexpr std::array<int, 5> expected = {163, 93, 51, 36, 0};
  for (int n = 1; n <= 5; ++n) {
    int not_adaptable = 0;
    for (Rank ranks = 1; ranks <= 256; ++ranks) {
      const bool is_refused = refusal(dissemination(n, true), ranks).has_value();
      EXPECT_EQ(is_refused, !is_adaptable(ranks, n)) << ranks << " ranks, n = " << n;
      EXPECT_EQ(is_refused, cost(ranks, n).partials > cost(ranks, n).messages) << ranks << " ranks, n = " << n;
      not_adaptable += is_refused ? 1 : 0;
    }
    EXPECT_EQ(not_adaptable, expected[static_cast<std::size_t>(n) - 1]) << "n = " << n;
  }
}

TEST(Dissemination, NeedsNineForEveryJobTo1024) {
  const auto is_served = [](Rank ranks, int most) {
    for (int n = 1; n <= most; ++n)
      if (!refusal(dissemination(n, true), ranks)) return true;
    return false;
  };
  bool by_eight = true;
  for (Rank ranks = 1; ranks <= 1024; ++ranks) {
    EXPECT_TRUE(is_served(ranks, 9)) << ranks;
    by_eight = by_eight && is_served(ranks, 8);
  }
  EXPECT_FALSE(by_eight);
}

TEST(Dissemination, StrictRefusesWhatIsNotAdaptable) {
  EXPECT_EQ(refusal(dissemination(1, true), 13).value_or(""),
            "schedule 'dissemination:n=1:strict=1' cannot serve 13 ranks ('strict' allows one partial result per "
            "message, and some messages would need two), use n=2 or leave out 'strict'");
  EXPECT_FALSE(refusal(dissemination(1, true), 14));
  EXPECT_FALSE(refusal(dissemination(1), 13));
  const Spec groups = parse("two_level:size=4:outer=[dissemination:n=1:strict=1]");
  EXPECT_TRUE(refusal(groups, 4 * 13));
  EXPECT_FALSE(refusal(groups, 4 * 14));
  EXPECT_FALSE(refusal(parse("two_level:size=4"), 13));
}

TEST(Dissemination, ChecksItsParameters) {
  for (const std::string wrong : {"n=0", "n=33", "strict=2", "strict=yes", "k=2"})
    EXPECT_THROW(parse("dissemination:" + wrong), std::invalid_argument) << wrong;
}

class ProvesEveryDissemination : public testing::TestWithParam<int> {};

/// Every contribution exactly once, in the rounds, messages and partials of the formulas.
TEST_P(ProvesEveryDissemination, ToRanks512) {
  const Spec spec = dissemination(GetParam());
  for (const Rank ranks : rank_counts_to_512(GetParam()))
    EXPECT_EQ(check(*spec.algorithm, {.rank_count = ranks, .spec = &spec}).value_or(""), "") << ranks << " ranks";
}

INSTANTIATE_TEST_SUITE_P(Ports, ProvesEveryDissemination, testing::Range(1, 9));

/// With the most ports, and with cuts and several companions in one job.
TEST(Dissemination, ProvedWhereSlotsAreMost) {
  for (const auto& [ranks, n] : {std::pair{1030, 32}, {1090, 32}, {1500, 31}, {2000, 1}, {1900, 2}}) {
    const Spec spec = dissemination(n);
    EXPECT_EQ(check(*spec.algorithm, {.rank_count = ranks, .segments = 2, .spec = &spec}).value_or(""), "");
  }
}

}  // namespace
}  // namespace steadfold::schedule::dissemination_test
