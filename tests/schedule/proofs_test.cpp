// Every registered schedule is proved, alone and made of others, and what users put together is proved when it is
// bound.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <stdexcept>

#include "schedule/checker/checker.hpp"

namespace steadfold::schedule::proofs_test {
namespace {

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// Rank counts in a row, of which each is a test by itself, so that cores share them.
struct Ranks {
  Rank first;
  Rank last;
};

void PrintTo(const Ranks& ranks, std::ostream* out) { *out << ranks.first << " to " << ranks.last; }

// All up to 18; beyond, those beside powers of two, multiples of 3, 5 and 7, and where landing slots are used again
// (from 66 ranks on): once, twice and four times. STEADFOLD_FULL=1: all to 257.
std::vector<Ranks> rank_counts() {
  if (!std::getenv("STEADFOLD_FULL"))
    return {{1, 18},  {21, 21}, {24, 25}, {27, 27},   {31, 32},  {33, 34},
            {48, 48}, {63, 64}, {65, 66}, {129, 129}, {257, 257}};
  std::vector<Ranks> all = {{1, 16}};
  for (Rank first = 17; first <= 257; first += 6) all.push_back({first, std::min(first + 5, 257)});
  return all;
}

class ProvesEverySchedule : public testing::TestWithParam<Ranks> {};

TEST_P(ProvesEverySchedule, At) {
  const auto [first, last] = GetParam();
  const SweepResult sweep = check_all(first, last);
  EXPECT_EQ(joined(sweep.failures), "");
  EXPECT_GT(sweep.passed, 200u * static_cast<Count>(last - first + 1));
}

INSTANTIATE_TEST_SUITE_P(RankCounts, ProvesEverySchedule, testing::ValuesIn(rank_counts()), [](const auto& test) {
  return std::to_string(test.param.first) + "To" + std::to_string(test.param.last);
});

/// Where there is one algorithm. It is looked at in the expression in which this stands.
Algorithms only(const Algorithm* const& algorithm) { return {std::span(&algorithm, 1), {}}; }

// A sweep that finds nothing because it looks at nothing would pass, too.
TEST(Proofs, FindWhatIsWrongAtOneRankCountOnly) {
  Algorithm algorithm = *find("linear");
  algorithm.steps = [](Context c) -> Steps {
    for (Steps all = find("linear")->steps(c); const Step* step = all.next();)
      if (c.rank_count != 5 || c.rank != 3 || step->kind != StepKind::lift) co_yield *step;
  };
  EXPECT_EQ(check_all(1, 4, only(&algorithm)).failures.size(), 0u);
  const SweepResult sweep = check_all(3, 7, only(&algorithm));
  EXPECT_EQ(sweep.failures.size() + sweep.passed, check_all(3, 7, only(find("linear"))).passed);
  EXPECT_EQ(sweep.failures.size(), check_all(5, 5, only(find("linear"))).passed);
}

TEST(Proofs, AnyNumberOfOpenReceives) {
  for (const std::string name : {"flat", "transpose"}) {
    for (const Rank open : {1, 4, 5, 31, 63}) {
      const std::string parameter = "open=" + std::to_string(open);
      const std::string_view example = parameter;
      Algorithm algorithm = *find(name);
      algorithm.examples = std::span(&example, 1);
      EXPECT_EQ(joined(check_all(1, 16, only(&algorithm)).failures), "");
      EXPECT_EQ(joined(check_all(open, open + 3, only(&algorithm)).failures), "");
    }
  }
}

std::string random_name(std::mt19937_64& random, int depth) {
  if (depth == 0 || random() % 4 == 0) {
    const std::vector<std::string> names = names_of(registry()[random() % registry().size()]);
    return names[random() % names.size()];
  }
  const auto nested = [&](const std::string& key) { return ":" + key + "=[" + random_name(random, depth - 1) + "]"; };
  if (random() % 4 == 0) return "reduce_broadcast" + nested("reduce");
  std::string name = "two_level";
  if (random() % 2 == 0) name += nested("inner");
  if (random() % 4 != 0) name += nested("outer");
  return random() % 2 == 0 ? name : name + ":size=" + std::to_string(1 + random() % 6);
}

// A random job by a schedule, and what its context points to.
struct RandomJob {
  std::vector<std::uint32_t> blocks;
  std::optional<order::Nodes> nodes;
};

Context random_context(std::mt19937_64& random, const Spec& spec, Collective collective, RandomJob& job) {
  std::vector<std::uint32_t>& blocks = job.blocks;
  Context context{
      .rank_count = static_cast<Rank>(1 + random() % 24), .root = 0, .collective = collective, .spec = &spec};
  std::vector<Rank> labels(static_cast<std::size_t>(context.rank_count));
  for (Rank& label : labels) label = static_cast<Rank>(random() % (1 + labels.size() / 2));
  if (random() % 4 != 0) context.nodes = nodes_of(*spec.algorithm, &spec, &job.nodes.emplace(labels));
  if (context.rooted()) context.root = static_cast<Rank>(random() % static_cast<Count>(context.rank_count));
  const auto unit = static_cast<std::uint32_t>(spec.algorithm->unit_of(context));
  context.segments = random() % 3 == 0 ? 1 : unit * (1 + static_cast<std::uint32_t>(random() % 2));
  if (collective != Collective::reduce_scatter) return context;
  blocks = {0};
  for (Rank rank = 0; rank < context.rank_count; ++rank)
    blocks.push_back(blocks.back() + static_cast<std::uint32_t>(random() % 3));
  blocks.back() += blocks.back() == 0 ? 1 : 0;
  context.blocks = blocks;
  context.segments = blocks.back();
  return context;
}

// Whatever `parse` and `refusal` let pass is right, formulas included.
TEST(Proofs, SchedulesMadeOfOthers) {
  constexpr std::uint64_t seed = 20261121;
  constexpr std::uint32_t most_segments = 1000;  // units of several levels multiply
  std::mt19937_64 random(seed);
  Count proved = 0;
  for (int i = 0; i < 4000 && !testing::Test::HasFailure(); ++i) {
    Spec spec;
    try {
      spec = parse(random_name(random, 1 + static_cast<int>(random() % 3)));
    } catch (const std::invalid_argument&) {
      continue;
    }
    for (const Collective collective : every_collective) {
      RandomJob job;
      const Context context = random_context(random, spec, collective, job);
      const Merging merging{.method = "any", .may_overlap = true, .offers_words = true};
      if (refusal(spec, collective, context.root, merging, OperatorKind::idempotent)) continue;
      if (spec.algorithm->layouts != Layouts::any || context.segments > most_segments) continue;
      ++proved;
      EXPECT_EQ(check(*spec.algorithm, context).value_or(""), "") << "seed " << seed;
    }
  }
  EXPECT_GT(proved, 5000u);
}

TEST(Proofs, FormulasForMoreSegments) {
  for (const Algorithm& algorithm : registry()) {
    for (Rank rank_count = 1; rank_count <= 17; ++rank_count) {
      for (const std::uint32_t segments : {4u, 5u, 8u, 33u}) {
        Context context{.rank_count = rank_count,
                        .segments = algorithm.segments_up_to(segments, {.rank_count = rank_count})};
        if (offers(algorithm.collectives, Collective::allreduce)) {
          EXPECT_EQ(check(algorithm, context).value_or(""), "");
        }
        if (!offers(algorithm.collectives, Collective::reduce)) continue;
        context.collective = Collective::reduce;
        for (context.root = 0; context.root < rank_count; ++context.root) {
          EXPECT_EQ(check(algorithm, context).value_or(""), "");
        }
      }
    }
  }
}

// As `flat`, but that at least `from` ranks leave the last one out; counts the steps that are made.
Rank broken_from = 0;
Count steps_made = 0;

Algorithm broken_flat(Rank from) {
  broken_from = from;
  steps_made = 0;
  Algorithm algorithm = *find("flat");
  algorithm.steps = [](Context c) -> Steps {
    for (Steps all = find("flat")->steps(c); const Step* step = all.next(); ++steps_made) {
      const bool is_last = c.rank + 1 == c.rank_count && c.rank_count >= broken_from;
      if (!is_last || step->kind != StepKind::send) co_yield *step;
    }
  };
  return algorithm;
}

TEST(WhenBound, OnlyWhatNoSweepHasIsProved) {
  EXPECT_TRUE(is_swept(parse("binomial_spanning_tree")));
  for (const Algorithm& algorithm : registry())
    for (const std::string& name : names_of(algorithm)) EXPECT_TRUE(is_swept(parse(name))) << name;
  EXPECT_TRUE(is_swept(parse("ring:block=77")));
  for (const std::string name : {"flat:open=7", "knomial:k=5", "two_level:size=5", "two_level:outer=[ring]",
                                 "reduce_broadcast:reduce=[flat:open=2]"})
    EXPECT_FALSE(is_swept(parse(name))) << name;

  const Algorithm algorithm = broken_flat(1);
  const auto fault = [&](std::string_view name) {
    const Spec spec = parse(name, only(&algorithm));
    return check_when_bound(spec, {.rank_count = 4}).value_or("");
  };
  EXPECT_EQ(fault("flat"), "");
  EXPECT_EQ(steps_made, 0u);
  EXPECT_EQ(fault("flat:open=7"),
            "flat:open=7 allreduce ranks=4 root=0 segments=1: a receive from rank 3 to rank 0 waits for a message that "
            "no rank sends");
}

TEST(WhenBound, TheCallsOwnCaseIsProved) {
  const Algorithm algorithm = broken_flat(6);
  const Spec spec = parse("flat:open=7", only(&algorithm));
  EXPECT_EQ(check_when_bound(spec, {.rank_count = 5, .segments = 3}).value_or(""), "");
  EXPECT_NE(check_when_bound(spec, {.rank_count = 6, .segments = 3}).value_or("").find("ranks=6 root=0 segments=3"),
            std::string::npos);
}

TEST(WhenBound, TheWorkIsBoundedAndFaultsAreFoundAllTheSame) {
  const auto fault = [](const Context& context, Rank from) {
    const Algorithm algorithm = broken_flat(from);
    const Spec spec = parse("flat:open=7", only(&algorithm));
    const std::string found = check_when_bound(spec, context).value_or("");
    EXPECT_LT(steps_made, Count{40} << 16);
    return found;
  };
  EXPECT_EQ(fault({.rank_count = 1 << 20, .segments = 1000}, 2000), "");
  EXPECT_NE(fault({.rank_count = 1 << 20, .segments = 1000}, 1024).find("ranks=1024 root=0 segments=3"),
            std::string::npos);
  EXPECT_NE(fault({.rank_count = 700, .segments = 1000}, 700).find("ranks=700 root=0 segments=3"), std::string::npos);
  const Context to_root{.rank_count = 3000, .root = 300, .collective = Collective::reduce, .segments = 2};
  EXPECT_NE(fault(to_root, 2).find("reduce ranks=750 root=300 segments=3"), std::string::npos);
  std::vector<std::uint32_t> blocks;
  for (std::uint32_t rank = 0; rank <= 500; ++rank) blocks.push_back(1000 * rank);
  const Context scatter{
      .rank_count = 500, .collective = Collective::reduce_scatter, .segments = blocks.back(), .blocks = blocks};
  EXPECT_NE(fault(scatter, 2).find("reduce_scatter ranks="), std::string::npos);
}

}  // namespace
}  // namespace steadfold::schedule::proofs_test
