// Pairwise exchange: what it sends by hand, proofs, and what the checker finds where it is broken; and the butterfly of
// [S4] with virtual processes, which is no schedule since it counts ranks twice.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "schedule/checker/checker.hpp"
#include "schedule/make_step.hpp"
#include "schedule/registry.hpp"

namespace steadfold::schedule::pairwise_exchange_test {
namespace {

std::vector<Step> steps_of(const std::string& name, Rank ranks, Rank rank) {
  std::vector<Step> all;
  for (Steps steps = find(name)->steps({.rank = rank, .rank_count = ranks}); const Step* step = steps.next();)
    all.push_back(*step);
  return all;
}

std::vector<Rank> peers_of(Rank ranks, Rank rank, StepKind kind) {
  std::vector<Rank> peers;
  for (const Step& step : steps_of("pairwise_exchange", ranks, rank))
    if (step.kind == kind) peers.push_back(step.peer);
  return peers;
}

/// Figure 1 of [S4]: rank 4 sends to rank 0, ranks 0 to 3 exchange, rank 0 sends the value back.
TEST(PairwiseExchange, ExampleOfTheSource) {
  using Peers = std::vector<Rank>;
  EXPECT_EQ(peers_of(5, 0, StepKind::send), (Peers{1, 2, 4}));
  EXPECT_EQ(peers_of(5, 0, StepKind::receive), (Peers{4, 1, 2}));
  EXPECT_EQ(peers_of(5, 3, StepKind::send), (Peers{2, 1}));
  EXPECT_EQ(peers_of(5, 4, StepKind::send), (Peers{0}));
  EXPECT_EQ(peers_of(7, 2, StepKind::send), (Peers{3, 0, 6}));
}

bool are_equal(const Step& a, const Step& b) {
  const auto runs_of = [](const Covers& c) { return std::vector{c.ranks.first, c.ranks.count, c.apart.count}; };
  return a.kind == b.kind && a.target == b.target && a.left == b.left && a.right == b.right && a.peer == b.peer &&
         runs_of(a.covers) == runs_of(b.covers);
}

TEST(PairwiseExchange, IsRecursiveDoublingForPowersOfTwo) {
  for (const Rank ranks : {1, 2, 4, 8, 64}) {
    for (Rank rank = 0; rank < ranks; ++rank) {
      const std::vector<Step> steps = steps_of("pairwise_exchange", ranks, rank);
      EXPECT_TRUE(std::ranges::equal(steps, steps_of("recursive_doubling", ranks, rank), are_equal)) << ranks;
    }
  }
}

/// Once each, and along one tree on all ranks: hence the same bits of plain sums.
TEST(PairwiseExchange, ProvesEveryRankCountTo512AtTheCostOfRecursiveDoubling) {
  const Algorithm& algorithm = *find("pairwise_exchange");
  const Algorithm& doubling = *find("recursive_doubling");
  EXPECT_EQ(algorithm.same_on_all_ranks, SameOnAllRanks::yes);
  for (Rank ranks = 1; ranks <= 512; ++ranks) {
    const Context context{.rank_count = ranks};
    EXPECT_EQ(check(algorithm, context).value_or(""), "") << ranks << " ranks";
    EXPECT_EQ(algorithm.messages(context), doubling.messages(context));
    EXPECT_EQ(algorithm.rounds(context), doubling.rounds(context));
  }
}

TEST(PairwiseExchange, ServesPlainWhereOperatorsCommute) {
  const Merging plain{.method = "plain", .is_associative = false};
  const Algorithm& algorithm = *find("pairwise_exchange");
  EXPECT_FALSE(refusal(algorithm, Collective::allreduce, 0, plain, OperatorKind::commutative));
  EXPECT_TRUE(refusal(algorithm, Collective::allreduce, 0, plain, OperatorKind::ordered));
  EXPECT_FALSE(refusal(algorithm, Collective::allreduce, 0, {.method = "tree"}, OperatorKind::ordered));
}

TEST(PairwiseExchange, CoversTheRowsOfBothRuns) {
  const std::vector<Count> counts = {2, 3, 0, 1, 4};
  const order::Layout in_order = order::Layout::contiguous(counts);
  const auto rows = [](std::vector<order::Interval> intervals) {
    order::IntervalSet set;
    for (const order::Interval each : intervals) set.add(each);
    return set;
  };
  EXPECT_EQ(Covers({0, 1}, {4, 1}).rows(in_order), rows({{0, 2}, {6, 10}}));
  EXPECT_EQ(Covers({3, 1}, {1, 2}).rows(in_order), rows({{2, 6}}));
  EXPECT_EQ(Covers({0, 4}, {4, 1}).rows(in_order), rows({{0, 10}}));
  const std::vector<std::vector<order::Interval>> dealt = {{{4, 6}}, {{0, 1}, {8, 9}}, {{1, 4}}, {{6, 8}}};
  EXPECT_EQ(Covers({1, 1}, {3, 1}).rows(order::Layout::lists(dealt)), rows({{0, 1}, {6, 9}}));
}

/// What the checker says about 6 ranks if a step of one of them is changed.
std::string fault_of(Rank rank, StepKind kind, Rank nth, void (*change)(Step&)) {
  struct Wrong {
    Rank rank, nth;
    StepKind kind;
    void (*change)(Step&);
  };
  static Wrong wrong;
  wrong = {rank, nth, kind, change};
  Algorithm algorithm = *find("pairwise_exchange");
  algorithm.steps = [](Context c) -> Steps {
    Rank met = 0;
    for (Steps all = find("pairwise_exchange")->steps(c); const Step* step = all.next();) {
      Step own = *step;
      if (c.rank == wrong.rank && own.kind == wrong.kind && met++ == wrong.nth) wrong.change(own);
      co_yield own;
    }
  };
  return check(algorithm, {.rank_count = 6}).value_or("");
}

TEST(PairwiseExchange, FaultsInOneRanksStepsAreFound) {
  const auto expect = [](const std::string& found, const std::string& words) {
    EXPECT_NE(found.find(words), std::string::npos) << found;
  };
  EXPECT_EQ(fault_of(0, StepKind::send, 0, [](Step&) {}), "");
  expect(fault_of(1, StepKind::merge, 1, [](Step& s) { std::swap(s.left, s.right); }), "a different tree");
  expect(fault_of(1, StepKind::merge, 1, [](Step& s) { s.right = s.left; }), "merges overlapping");
  expect(fault_of(1, StepKind::receive, 1, [](Step& s) { s.covers.apart = {}; }),
         "brings rank 0 and rank 4, not rank 0 as declared");
  expect(fault_of(1, StepKind::merge, 0, [](Step& s) { s.covers.apart.first = 4; }),
         "covers rank 1 and rank 5, not rank 1 and rank 4 as declared");
  expect(fault_of(1, StepKind::merge, 0, [](Step& s) { s.covers.apart = {}; }), "merges ranks that are not adjacent");
  expect(fault_of(1, StepKind::merge, 0, [](Step& s) { s.covers.apart.first = 6; }), "covers ranks that do not exist");
  expect(fault_of(1, StepKind::merge, 0, [](Step& s) { s.covers.apart.count = -1; }), "covers ranks that do not exist");
}

TEST(PairwiseExchange, TwoRunsAreNoRankOrder) {
  Algorithm algorithm = *find("pairwise_exchange");
  algorithm.keeps_rank_order = KeepsRankOrder::always;
  EXPECT_EQ(check(algorithm, {.rank_count = 8}).value_or(""), "");
  EXPECT_NE(check(algorithm, {.rank_count = 6}).value_or("").find("merges ranks that are not adjacent"),
            std::string::npos);
}

// The first adaption of the butterfly for p ranks, p no power of two: processes p, p + 1, ... up to the next power are
// virtual, ranks 0, 1, ... act as them. As a barrier it is right.
class Roles {
 public:
  explicit Roles(const Context& c) : context_(c), rounds_(order::ceil_log2(c.ranks())) {}

  int rounds() const { return rounds_; }
  bool is_mine(Rank role) const { return role % context_.rank_count == context_.rank; }
  std::vector<Rank> all() const {
    std::vector<Rank> roles;
    for (Rank role = 0; role < Rank{1} << rounds_; ++role) roles.push_back(role);
    return roles;
  }
  Rank rank_of(Rank role) const { return role % context_.rank_count; }
  // The ranks behind the processes of an aligned block of 2^level.
  RankRange block(Rank role, int level) const {
    return {rank_of(role >> level << level), std::min(Rank{1} << level, context_.rank_count)};
  }

 private:
  Context context_;
  int rounds_;
};

Steps round_of(Roles roles, int round) {
  const auto partner = [&](Rank role) { return role ^ (Rank{1} << round); };
  for (const Rank role : roles.all())  // in the order in which they are received
    if (roles.is_mine(partner(role))) co_yield make::send(roles.rank_of(role), partial(partner(role)), landing(role));
  for (const Rank role : roles.all())
    if (roles.is_mine(role))
      co_yield make::receive(roles.rank_of(partner(role)), landing(role), roles.block(partner(role), round));
  for (const Rank role : roles.all()) {
    const bool is_left = role < partner(role);
    const Slot left = is_left ? partial(role) : landing(role);
    if (roles.is_mine(role))
      co_yield make::merge(partial(role), left, is_left ? landing(role) : partial(role), roles.block(role, round + 1));
  }
}

Steps butterfly(Context c) {
  const Roles roles(c);
  for (const Rank role : roles.all())
    if (roles.is_mine(role)) co_yield make::lift(partial(role), c.rank);
  for (int round = 0; round < roles.rounds(); ++round)
    for (Steps steps = round_of(roles, round); const Step* step = steps.next();) co_yield *step;
  co_yield make::finish(value(), partial(c.rank));
}

TEST(ButterflyWithVirtualProcesses, CountsRanksTwiceUnlessTheyAreAPowerOfTwo) {
  Algorithm algorithm = *find("pairwise_exchange");
  algorithm.steps = butterfly;
  algorithm.messages = algorithm.rounds = algorithm.partial_messages = nullptr;
  for (Rank ranks = 1; ranks <= 64; ++ranks) {
    const std::string found = check(algorithm, {.rank_count = ranks}).value_or("");
    const bool is_power = (ranks & (ranks - 1)) == 0;
    EXPECT_EQ(found.find("merges overlapping") != std::string::npos, !is_power) << found;
    EXPECT_EQ(found.empty(), is_power) << found;
  }
}

}  // namespace
}  // namespace steadfold::schedule::pairwise_exchange_test
