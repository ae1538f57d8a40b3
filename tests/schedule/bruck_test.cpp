// Bruck's global combine: messages and rounds by hand, and the example that [S4] section III.C works out.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "schedule/checker/checker.hpp"
#include "schedule/rank_counts.hpp"
#include "schedule/registry.hpp"

namespace steadfold::schedule::bruck_test {
namespace {

struct Cost {
  Count messages, rounds;
  friend bool operator==(const Cost&, const Cost&) = default;
};
void PrintTo(const Cost& cost, std::ostream* out) {
  *out << cost.messages << " messages, " << cost.rounds << " rounds";
}

Cost cost(Rank ranks, int n) {
  const Spec spec = parse("bruck:n=" + std::to_string(n));
  const Context context{.rank_count = ranks, .spec = &spec};
  return {spec.algorithm->messages(context), spec.algorithm->rounds(context)};
}

TEST(Bruck, MessagesAndRoundsByHand) {
  EXPECT_EQ(cost(1, 1), (Cost{0, 0}));
  EXPECT_EQ(cost(2, 1), (Cost{2, 1}));
  EXPECT_EQ(cost(7, 1), (Cost{3 * 7, 3}));              // 6 = 110: a message in every round
  EXPECT_EQ(cost(8, 2), (Cost{(2 + 2) * 8, 2}));        // 7 = 21
  EXPECT_EQ(cost(5, 2), (Cost{(1 + 2) * 5, 2}));        // 4 = 11: at first nobody has a sum without itself to send
  EXPECT_EQ(cost(6, 5), (Cost{5 * 6, 1}));              // all to all
  EXPECT_EQ(cost(64, 5), (Cost{(1 + 2 * 5) * 64, 3}));  // 63 = 143
  EXPECT_EQ(cost(3, 8), (Cost{2 * 3, 1}));              // more ports than others
}

/// To whom rank 0 of 8 sends, with two ports: in round 1 its own to 7 and 6, in round 2 the sum of 0, 1 and 2 to 5 and
/// that of 1 and 2 to 3; from whom it receives, and what.
TEST(Bruck, ExampleOfTheSource) {
  const Spec spec = parse("bruck:n=2");
  std::vector<Rank> targets;
  std::vector<std::string> received;
  Steps steps = spec.algorithm->steps({.rank_count = 8, .spec = &spec});
  while (const Step* step = steps.next()) {
    if (step->kind == StepKind::send) targets.push_back(step->peer);
    if (step->kind == StepKind::receive)
      received.push_back(std::to_string(step->peer) + ": " + std::to_string(step->covers.ranks.first) + "+" +
                         std::to_string(step->covers.ranks.count));
  }
  EXPECT_EQ(targets, (std::vector<Rank>{7, 6, 5, 3}));
  EXPECT_EQ(received, (std::vector<std::string>{"1: 1+1", "2: 2+1", "3: 3+3", "5: 6+2"}));
}

class ProvesEveryBruck : public testing::TestWithParam<int> {};

/// Every contribution exactly once.
TEST_P(ProvesEveryBruck, ToRanks512) {
  const Spec spec = parse("bruck:n=" + std::to_string(GetParam()));
  for (const Rank ranks : rank_counts_to_512(GetParam()))
    EXPECT_EQ(check(*spec.algorithm, {.rank_count = ranks, .spec = &spec}).value_or(""), "") << ranks << " ranks";
}

INSTANTIATE_TEST_SUITE_P(Ports, ProvesEveryBruck, testing::Range(1, 9));

TEST(Bruck, RefusesPlainSumsAlsoBetweenGroups) {
  const Merging plain{.method = "plain", .is_associative = false};
  const Merging tree{.method = "tree"};
  for (const std::string name : {"bruck", "bruck:n=5", "two_level:outer=[bruck]"}) {
    const Spec spec = parse(name);
    EXPECT_TRUE(refusal(spec, Collective::allreduce, 0, plain, OperatorKind::commutative)) << name;
    EXPECT_FALSE(refusal(spec, Collective::allreduce, 0, tree, OperatorKind::ordered)) << name;
    EXPECT_FALSE(same_on_all_ranks(*spec.algorithm, &spec)) << name;
  }
  EXPECT_TRUE(same_on_all_ranks(*find("two_level"), nullptr));
}

TEST(Bruck, ChecksItsParameter) {
  EXPECT_THROW(parse("bruck:n=0"), std::invalid_argument);
  EXPECT_THROW(parse("bruck:n=33"), std::invalid_argument);
  EXPECT_THROW(parse("bruck:k=2"), std::invalid_argument);
}

}  // namespace
}  // namespace steadfold::schedule::bruck_test
