// N-way dissemination in its original form: to whom it sends, its costs by hand, proofs that every rank counts at least
// once, and that the same steps are no proof of each counting once.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "broken_star.hpp"
#include "schedule/checker/checker.hpp"
#include "schedule/rank_counts.hpp"
#include "schedule/served.hpp"

namespace steadfold::schedule::original_dissemination_test {
namespace {

Spec original(int n) { return parse("original_dissemination:n=" + std::to_string(n)); }

struct Cost {
  Count messages, rounds, partials;
  friend bool operator==(const Cost&, const Cost&) = default;
};
void PrintTo(const Cost& cost, std::ostream* out) {
  *out << cost.messages << " messages, " << cost.rounds << " rounds, " << cost.partials << " partials";
}

Cost cost(Rank ranks, const Spec& spec, std::uint32_t segments = 1) {
  const Context context{.rank_count = ranks, .segments = segments, .spec = &spec};
  return {spec.algorithm->messages(context), spec.algorithm->rounds(context),
          spec.algorithm->partial_messages(context)};
}

TEST(OriginalDissemination, CostByHand) {
  EXPECT_EQ(cost(1, original(3)), (Cost{0, 0, 0}));
  EXPECT_EQ(cost(2, original(1)), (Cost{2, 1, 2}));
  EXPECT_EQ(cost(5, original(2)), (Cost{3 * 5, 2, 3 * 5}));     // 3, 6: from 6 on all is known
  EXPECT_EQ(cost(13, original(1)), (Cost{4 * 13, 4, 4 * 13}));  // 1, 2, 4, 8
  EXPECT_EQ(cost(27, original(2)), (Cost{6 * 27, 3, 6 * 27}));
  EXPECT_EQ(cost(3, original(8)), (Cost{2 * 3, 1, 2 * 3}));
  EXPECT_EQ(cost(5, original(2), 4), (Cost{3 * 5, 2, 4 * 3 * 5}));
  EXPECT_EQ(cost(13, parse("original_dissemination")), cost(13, original(1)));
}

/// (1) of [S4]: rank 0 sends to the ranks at distances j (n+1)^i, less those a circle away or more.
std::vector<Rank> targets(Rank ranks, Rank n) {
  std::vector<Rank> all;
  for (Rank power = 1; power < ranks; power *= n + 1)
    for (Rank j = 1; j <= n && j * power < ranks; ++j) all.push_back(j * power);
  return all;
}

TEST(OriginalDissemination, SendsItsWholeSumAsTheSourceSays) {
  for (Rank ranks = 1; ranks <= 100; ++ranks) {
    for (int n = 1; n <= 8; ++n) {
      const Spec spec = original(n);
      std::vector<Rank> found;
      Steps steps = spec.algorithm->steps({.rank_count = ranks, .spec = &spec});
      while (const Step* step = steps.next()) {
        if (step->kind == StepKind::send) found.push_back(step->peer);
        EXPECT_FALSE(step->more) << "every message is one partial";
      }
      EXPECT_EQ(found, targets(ranks, n)) << ranks << " ranks, n = " << n;
      EXPECT_EQ(cost(ranks, spec).messages, found.size() * static_cast<Count>(ranks));
    }
  }
}

/// What the adapted form adds: as many rounds, and never fewer messages or partials.
TEST(OriginalDissemination, TakesNoMoreThanTheAdaptedForm) {
  for (Rank ranks = 1; ranks <= 512; ++ranks) {
    for (int n = 1; n <= 8; ++n) {
      const Cost adapted = cost(ranks, parse("dissemination:n=" + std::to_string(n)));
      const Cost found = cost(ranks, original(n));
      EXPECT_EQ(found.rounds, adapted.rounds);
      EXPECT_LE(found.messages, adapted.messages);
      EXPECT_LE(found.partials, adapted.partials);
    }
  }
}

class ProvesEveryOriginal : public testing::TestWithParam<int> {};

/// Every contribution at least once, in the rounds, messages and partials of the formulas.
TEST_P(ProvesEveryOriginal, ToRanks512) {
  const Spec spec = original(GetParam());
  for (const Rank ranks : rank_counts_to_512(GetParam()))
    EXPECT_EQ(check(*spec.algorithm, {.rank_count = ranks, .spec = &spec}).value_or(""), "") << ranks << " ranks";
}

/// Without its mark it is refused, but where nothing counts twice.
TEST_P(ProvesEveryOriginal, OnlyWithItsMark) {
  const Spec spec = original(GetParam());
  Algorithm unmarked = *spec.algorithm;
  unmarked.counts = Counts::once;
  const Rank base = static_cast<Rank>(GetParam()) + 1;
  for (Rank ranks = 1; ranks <= 100; ++ranks) {
    Rank size = 1;
    while (size * base < ranks) size *= base;
    const std::string found = check(unmarked, {.rank_count = ranks, .spec = &spec}).value_or("");
    if (ranks % size == 0)
      EXPECT_EQ(found, "") << ranks << " ranks";
    else
      EXPECT_REPORTS(found, "merges overlapping");
  }
}

INSTANTIATE_TEST_SUITE_P(Ports, ProvesEveryOriginal, testing::Range(1, 9));

TEST(OriginalDissemination, ProvedWithTheMostPortsAndBetweenGroups) {
  for (const auto& [ranks, name] : {std::pair{1100, "original_dissemination:n=32"},
                                    {1500, "original_dissemination"},
                                    {100, "two_level:size=7:outer=[original_dissemination:n=3]"}}) {
    const Spec spec = parse(name);
    EXPECT_EQ(check(*spec.algorithm, {.rank_count = ranks, .segments = 2, .spec = &spec}).value_or(""), "");
    EXPECT_EQ(counts_of(*spec.algorithm, &spec), Counts::at_least_once);
  }
  const Spec adapted = parse("two_level:outer=[dissemination]");
  EXPECT_EQ(counts_of(*adapted.algorithm, &adapted), Counts::once);
}

/// The mark lets rows count twice, not be left out.
TEST(OriginalDissemination, IsRefusedWhereARankIsMissing) {
  Algorithm algorithm = *find("original_dissemination");
  algorithm.steps = [](Context c) -> Steps {
    for (Steps all = find("original_dissemination")->steps(c); const Step* step = all.next();) {
      Step each = *step;
      if (each.kind == StepKind::merge && each.covers.ranks.count == c.rank_count) {
        each.kind = StepKind::copy;
        each.left = each.right;
        each.right = {};
        each.covers = {(c.rank + c.rank_count - 3) % c.rank_count, 4};
      }
      co_yield each;
    }
  };
  EXPECT_REPORTS(check(algorithm, {.rank_count = 5}).value_or(""), "finishes 4 ranks from 1 only");
}

TEST(OriginalDissemination, ServesIdempotentOperatorsByPlainOnly) {
  const auto refused = [](const std::string& name, const Merging& merging, OperatorKind kind) {
    return refusal(parse(name), Collective::allreduce, 0, merging, kind).has_value();
  };
  for (const std::string name : {"original_dissemination", "two_level:outer=[original_dissemination:n=3]"}) {
    EXPECT_FALSE(refused(name, test::order_free_merging, OperatorKind::idempotent)) << name;
    EXPECT_TRUE(refused(name, test::order_free_merging, OperatorKind::commutative))
        << name << ", as for sums of integers";
    EXPECT_TRUE(refused(name, test::tree_merging, OperatorKind::idempotent)) << name;
    EXPECT_TRUE(refused(name, test::exact_merging, OperatorKind::commutative)) << name;
  }
  EXPECT_TRUE(serves(*find("original_dissemination"), test::plain_merging));
  EXPECT_FALSE(serves(*find("original_dissemination"), test::exact_merging));
}

TEST(OriginalDissemination, ChecksItsParameter) {
  for (const std::string wrong : {"n=0", "n=33", "strict=1", "k=2"})
    EXPECT_THROW(parse("original_dissemination:" + wrong), std::invalid_argument) << wrong;
}

}  // namespace
}  // namespace steadfold::schedule::original_dissemination_test
