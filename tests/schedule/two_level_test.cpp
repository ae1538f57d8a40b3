// Schedules with groups, on the nodes of machines: what is proved on nodes of all kinds, formulas for rounds beside the
// programs, where groups come from.
#include <gtest/gtest.h>

#include <charconv>
#include <random>

#include "schedule/checker/checker.hpp"

namespace steadfold::schedule::two_level_test {
namespace {

constexpr std::uint64_t seed = 20261122;

using Labels = std::vector<Rank>;

Labels blocks(Rank nodes, Rank size) {
  Labels labels;
  for (Rank rank = 0; rank < nodes * size; ++rank) labels.push_back(rank / size);
  return labels;
}
Labels in_turn(Rank nodes, Rank size) {
  Labels labels;
  for (Rank rank = 0; rank < nodes * size; ++rank) labels.push_back(rank % nodes);
  return labels;
}
Labels random_labels(std::mt19937_64& random, Rank ranks) {
  Labels labels(static_cast<std::size_t>(ranks));
  const std::uint64_t nodes = 1 + random() % labels.size();
  for (Rank& label : labels) label = static_cast<Rank>(random() % nodes);
  return labels;
}

/// The rounds that the checker counts.
Count rounds_of(const Algorithm& algorithm, const Context& context) {
  Algorithm wrong = algorithm;
  wrong.rounds = [](Context) { return ~Count{0}; };
  wrong.rounds_at_most = false;
  const std::string text = check(wrong, context).value_or("");
  const std::size_t at = text.find(": rounds: ");
  Count rounds = 0;
  EXPECT_NE(at, std::string::npos) << text;
  if (at != std::string::npos) std::from_chars(text.data() + at + 10, text.data() + text.size(), rounds);
  return rounds;
}

std::vector<Context> contexts(const Spec& spec, const order::Nodes& nodes) {
  const Rank p = nodes.rank_count();
  std::vector<Context> all;
  const Context job{.rank_count = p, .segments = 1, .spec = &spec, .nodes = nodes_of(*spec.algorithm, &spec, &nodes)};
  for (const Collective collective : {Collective::allreduce, Collective::reduce}) {
    for (Rank root = 0; root < (collective == Collective::reduce ? p : 1); ++root) {
      Context& context = all.emplace_back(job);
      context.collective = collective;
      context.root = root;
      if (!offers(spec.algorithm->collectives, collective)) all.pop_back();
    }
  }
  return all;
}

std::vector<std::string> names_with_groups() {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : registry())
    if (algorithm.has_groups) names.push_back(std::string(algorithm.name));
  return names;
}

TEST(Groups, AreNodesUnlessASizeIsAskedFor) {
  const order::Nodes nodes(in_turn(3, 4));
  const Spec plain = parse("two_level");
  const Spec sized = parse("two_level:size=2");
  const Spec other = parse("binomial");
  EXPECT_EQ(nodes_of(*plain.algorithm, &plain, &nodes), &nodes);
  EXPECT_EQ(nodes_of(*plain.algorithm, nullptr, &nodes), &nodes);
  EXPECT_EQ(nodes_of(*plain.algorithm, &plain, nullptr), nullptr);
  EXPECT_EQ(nodes_of(*sized.algorithm, &sized, &nodes), nullptr);
  EXPECT_EQ(nodes_of(*other.algorithm, &other, &nodes), nullptr);
}

/// Messages that leave a node: those between leaders.
TEST(Groups, OnlyLeadersSendToOtherNodes) {
  std::mt19937_64 random(seed);
  const Spec spec = parse("two_level");
  for (int i = 0; i < 50; ++i) {
    const order::Nodes nodes(random_labels(random, 1 + static_cast<Rank>(random() % 40)));
    for (Context context : contexts(spec, nodes)) {
      for (Rank& rank = context.rank; rank < context.rank_count; ++rank) {
        for (Steps steps = spec.algorithm->steps(context); const Step* step = steps.next();) {
          if (step->kind != StepKind::send || nodes.node_of(rank) == nodes.node_of(step->peer)) continue;
          EXPECT_EQ(nodes.rank_at(nodes.first_place(nodes.node_of(rank))), rank) << "seed " << seed;
        }
      }
    }
  }
}

TEST(Groups, AreProvedOnNodesOfAllKinds) {
  std::mt19937_64 random(seed);
  Count proved = 0;
  std::vector<std::string> names = names_with_groups();
  for (const char* const levels :
       {"inner=[flat]:outer=[ring]", "inner=[linear]:outer=[two_level]", "inner=[pipelined_tree]:outer=[circulant]",
        "inner=[halving_doubling]:outer=[knomial]"})
    names.push_back(std::string("two_level:") + levels);
  for (const std::string& name : names) {
    const Spec spec = parse(name);
    for (int i = 0; i < 60; ++i) {
      const Rank p = 1 + static_cast<Rank>(random() % (i % 10 == 0 ? 80 : 30));
      const order::Nodes nodes(random_labels(random, p));
      for (Context context : contexts(spec, nodes)) {
        const Merging merging{.method = "any"};
        if (refusal(spec, context.collective, context.root, merging, OperatorKind::commutative)) continue;
        if (random() % 4 != 0) continue;
        const auto unit = static_cast<std::uint32_t>(std::min<Count>(spec.algorithm->unit_of(context), 1000));
        context.segments = random() % 2 == 0 || unit == 1000 ? 1 : 2 * unit;
        if (context.segments > 200) context.segments = 1;
        ++proved;
        EXPECT_EQ(check(*spec.algorithm, context).value_or(""), "") << "seed " << seed;
      }
    }
  }
  EXPECT_GT(proved, 1000u);
}

bool root_leads(const order::Nodes& nodes, Rank root) {
  return nodes.place_of(root) == nodes.first_place(nodes.node_of(root));
}

/// With nodes of one size and one segment the formula is what the programs take, by blocks as in turn; root_group_last
/// may take fewer if the others' partial enters the root's group by another rank.
TEST(GroupRounds, AreExactOnNodesOfOneSize) {
  for (const std::string& name : names_with_groups()) {
    const Spec spec = parse(name);
    for (Rank count = 1; count <= 9; ++count) {
      for (Rank size = 1; size <= 9; ++size) {
        for (const Labels& labels : {blocks(count, size), in_turn(count, size)}) {
          const order::Nodes nodes(labels);
          for (const Context& context : contexts(spec, nodes)) {
            if (name == "root_group_last" && !root_leads(nodes, context.root)) continue;
            SCOPED_TRACE(testing::Message()
                         << name << ", " << count << " nodes of " << size << ", root " << context.root);
            EXPECT_EQ(spec.algorithm->rounds(context), rounds_of(*spec.algorithm, context));
          }
        }
      }
    }
  }
}

/// Else they take no more rounds than if all nodes were as large as the largest, and no fewer than as the smallest.
TEST(GroupRounds, AreBetweenThoseOfNodesOfOneSize) {
  std::mt19937_64 random(seed);
  Count exact = 0;
  Count all = 0;
  for (const std::string& name : names_with_groups()) {
    const Spec spec = parse(name);
    for (int i = 0; i < 100; ++i) {
      const order::Nodes nodes(random_labels(random, 1 + static_cast<Rank>(random() % 30)));
      const order::Nodes small(blocks(nodes.count(), nodes.sizes().front().ranks));
      for (const Context& context : contexts(spec, nodes)) {
        Context least = context;
        least.nodes = &small;
        least.rank_count = small.rank_count();
        least.root = small.rank_at(small.first_place(nodes.node_of(context.root)));
        const Count found = rounds_of(*spec.algorithm, context);
        EXPECT_LE(found, spec.algorithm->rounds(context)) << name << ", seed " << seed;
        if (root_leads(nodes, context.root)) {
          EXPECT_GE(found, spec.algorithm->rounds(least)) << name << ", seed " << seed;
        }
        exact += found == spec.algorithm->rounds(context) ? 1 : 0;
        ++all;
      }
    }
  }
  EXPECT_GT(exact, all / 2) << "of " << all;
}

}  // namespace
}  // namespace steadfold::schedule::two_level_test
