// single_notify and multi_notify: trees given as data, costs, waves, and what the checker reports of waves that are
// wrong.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <set>
#include <stdexcept>

#include "broken_star.hpp"
#include "schedule/algorithms/rank_tree.hpp"
#include "schedule/program.hpp"
#include "schedule/served.hpp"

namespace steadfold::schedule::notify_test {
namespace {

const std::vector<std::string> shapes = {"binary", "binomial", "chain",    "flat",
                                         "kary",   "kary:k=2", "kary:k=3", "kary:k=64"};

Spec spec_of(const std::string& name, const std::string& shape) { return parse(name + ":tree=" + shape); }

// Parents, by rank behind the root, of a tree in which each top deals the ranks behind it to its children.
void deal(const RankTree& tree, Subtree of, std::map<Rank, Rank>& parents) {
  Rank next = of.top + 1;
  for (Rank i = 0; i < tree.children(of); ++i) {
    const Subtree child = tree.child(of, i);
    ASSERT_EQ(child.top, next) << "a gap or an overlap before child " << i << " of " << of.ranks;
    ASSERT_GE(child.ranks, 1);
    for (const Rank inside : {child.top, child.top + child.ranks - 1}) ASSERT_EQ(tree.child_at(of, inside), i);
    ASSERT_TRUE(parents.try_emplace(next, of.top).second);
    deal(tree, child, parents);
    next += child.ranks;
  }
  ASSERT_EQ(next, of.top + of.ranks);
}

/// Returns the parents of the ranks 1 to ranks - 1 of a random tree whose subtrees are consecutive.
std::vector<Rank> random_parents(Rank ranks, std::mt19937_64& random) {
  std::vector<Rank> parents;
  std::vector<Rank> path = {0};
  for (Rank rank = 1; rank < ranks; ++rank) {
    path.resize(1 + random() % path.size());
    parents.push_back(path.back());
    path.push_back(rank);
  }
  return parents;
}

std::string listed(const std::vector<Rank>& parents) {
  std::string text = ":parents=";
  for (const Rank parent : parents) text += (text.back() == '=' ? "" : ".") + std::to_string(parent);
  return text;
}

std::map<Rank, Rank> dealt(const RankTree& tree, Rank ranks) {
  std::map<Rank, Rank> parents;
  deal(tree, {0, ranks}, parents);
  EXPECT_EQ(parents.size() + 1, static_cast<std::size_t>(ranks));
  for (Rank rank = 0; rank < ranks; ++rank) {
    const TreePosition place(tree, ranks, rank);
    EXPECT_EQ(place.subtree.top, rank);
    EXPECT_EQ(place.parent, rank == 0 ? -1 : parents.at(rank));
    if (rank == 0) continue;
    const TreePosition above(tree, ranks, place.parent);
    const Subtree child = tree.child(above.subtree, place.number);
    EXPECT_EQ(child.top, rank);
    EXPECT_EQ(child.ranks, place.subtree.ranks);
  }
  return parents;
}

TEST(RankTrees, HaveEveryRankOnceAndKnowWhereItIs) {
  for (const std::string& shape : shapes) {
    const Spec spec = spec_of("multi_notify", shape);
    for (Rank ranks = 1; ranks <= 150; ++ranks) {
      SCOPED_TRACE(shape + " of " + std::to_string(ranks));
      dealt(RankTree(&spec), ranks);
    }
  }
}

TEST(RankTrees, HaveTheParentsOfAList) {
  std::mt19937_64 random(77);
  for (Rank ranks = 2; ranks <= 70; ++ranks) {
    const std::vector<Rank> parents = random_parents(ranks, random);
    const Spec spec = parse("multi_notify" + listed(parents));
    SCOPED_TRACE(text_of(spec));
    const std::map<Rank, Rank> found = dealt(RankTree(&spec), ranks);
    for (Rank rank = 1; rank < ranks; ++rank) EXPECT_EQ(found.at(rank), parents[static_cast<std::size_t>(rank - 1)]);
  }
}

TEST(RankTrees, AreNotListedWithGaps) {
  std::string long_list = ":parents=0";
  for (int i = 0; i < 1023; ++i) long_list += "." + std::to_string(i);
  for (const std::string parameters :
       {":parents=1", ":parents=0.2", ":parents=0.0.1.0.1", ":parents=0.", ":parents=0..0", ":parents=0,0",
        ":parents=-1", ":parents=x", ":parents=0.99999999999", ":parents=0:tree=flat", ":parents=0:k=3",
        ":parents=[flat]"})
    EXPECT_THROW(parse("single_notify" + parameters), std::invalid_argument) << parameters;
  EXPECT_THROW(parse("single_notify" + long_list), std::invalid_argument);
  EXPECT_THROW(parse("reduce_broadcast:reduce=[single_notify:parents=0.0]"), std::invalid_argument);
  EXPECT_NO_THROW(parse("reduce_broadcast:reduce=[single_notify:tree=flat]"));
  const Spec of_four = parse("single_notify:parents=0.0.2");
  for (Rank ranks = 1; ranks <= 6; ++ranks) EXPECT_EQ(refusal(of_four, ranks) == std::nullopt, ranks == 4) << ranks;
}

TEST(RankTrees, HaveTheirShapes) {
  const auto children = [](const std::string& shape, Rank ranks) {
    const Spec spec = spec_of("multi_notify", shape);
    const RankTree tree(&spec);
    std::vector<Rank> sizes;
    for (Rank i = 0; i < tree.children({0, ranks}); ++i) sizes.push_back(tree.child({0, ranks}, i).ranks);
    return sizes;
  };
  EXPECT_EQ(children("binary", 8), (std::vector<Rank>{3, 4}));
  EXPECT_EQ(children("binary", 2), (std::vector<Rank>{1}));
  EXPECT_EQ(children("binomial", 14), (std::vector<Rank>{1, 2, 4, 6}));
  EXPECT_EQ(children("chain", 5), (std::vector<Rank>{4}));
  EXPECT_EQ(children("flat", 5), (std::vector<Rank>{1, 1, 1, 1}));
  EXPECT_EQ(children("kary:k=3", 12), (std::vector<Rank>{3, 4, 4}));
  EXPECT_EQ(children("kary", 3), (std::vector<Rank>{1, 1}));
}

struct Cost {
  Count messages;
  Count rounds;
  friend bool operator==(const Cost&, const Cost&) = default;
};
void PrintTo(const Cost& cost, std::ostream* out) {
  *out << cost.messages << " messages in " << cost.rounds << " rounds";
}

Cost cost(const Spec& spec, Context context) {
  context.spec = &spec;
  return {spec.algorithm->messages(context), spec.algorithm->rounds(context)};
}
Cost cost(const std::string& text, Context context) { return cost(parse(text), context); }

constexpr Context reduce(Rank ranks, Rank root = 0) {
  return {.rank_count = ranks, .root = root, .collective = Collective::reduce};
}

/// Those that no sweep has; users' are proved when they are bound.
TEST(Notify, IsProvedOverEveryTree) {
  for (const std::string name : {"single_notify", "multi_notify"}) {
    for (const std::string_view parameters : {"tree=chain", "tree=flat", "tree=kary", "tree=kary:k=7"}) {
      Algorithm algorithm = *find(name);
      algorithm.examples = std::span(&parameters, 1);
      const Algorithm* const only = &algorithm;
      const SweepResult sweep = check_all(1, 17, {std::span(&only, 1), {}});
      EXPECT_GT(sweep.passed, 1000u);
      EXPECT_EQ(sweep.failures, std::vector<std::string>{});
    }
    const Spec flat = spec_of(name, "flat");  // slots are filled again
    for (const Rank ranks : {65, 66, 130, 200})
      for (const Collective collective : {Collective::reduce, Collective::allreduce})
        EXPECT_EQ(check(*flat.algorithm, {.rank_count = ranks,
                                          .root = collective == Collective::reduce ? 7 : 0,
                                          .collective = collective,
                                          .segments = 2,
                                          .spec = &flat})
                      .value_or(""),
                  "");
  }
}

/// Every list of parents up to seven ranks, and random longer ones: messages, rounds and coverage, by the checker.
TEST(Notify, IsProvedOverListedTrees) {
  std::mt19937_64 random(78);
  int proved = 0;
  const auto prove = [&](const std::vector<Rank>& parents) {
    for (const std::string name : {"single_notify", "multi_notify"}) {
      const Spec spec = parse(name + listed(parents));
      const Rank ranks = static_cast<Rank>(parents.size()) + 1;
      for (const auto& [collective, root] : {std::pair{Collective::reduce, ranks / 2}, {Collective::allreduce, 0}}) {
        const Context context{
            .rank_count = ranks, .root = root, .collective = collective, .segments = 2, .spec = &spec};
        EXPECT_EQ(check(*spec.algorithm, context).value_or(""), "") << text_of(spec);
        ++proved;
      }
    }
  };
  const std::function<void(std::vector<Rank>&, const std::vector<Rank>&)> prove_all =
      [&](std::vector<Rank>& parents, const std::vector<Rank>& path) {
        if (!parents.empty()) prove(parents);
        if (parents.size() == 6) return;
        for (std::size_t above = 1; above <= path.size(); ++above) {
          std::vector<Rank> next(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(above));
          parents.push_back(next.back());
          next.push_back(static_cast<Rank>(parents.size()));
          prove_all(parents, next);
          parents.pop_back();
        }
      };
  std::vector<Rank> parents;
  prove_all(parents, {0});
  EXPECT_EQ(proved, 4 * (1 + 2 + 5 + 14 + 42 + 132));  // Catalan numbers
  for (Rank ranks = 8; ranks <= 100; ranks += 7) prove(random_parents(ranks, random));
}

TEST(Notify, CostsByHand) {
  EXPECT_EQ(cost("multi_notify", reduce(1)), (Cost{0, 0}));
  EXPECT_EQ(cost("multi_notify", reduce(2)), (Cost{1, 1}));
  EXPECT_EQ(cost("multi_notify", reduce(4)), (Cost{3, 2}));     // 1 waits for 3, meanwhile the root takes in the other
  EXPECT_EQ(cost("multi_notify", reduce(7, 3)), (Cost{6, 4}));  // two levels, two messages each
  EXPECT_EQ(cost("multi_notify", reduce(8)), (Cost{7, 4}));
  EXPECT_EQ(cost("multi_notify", {.rank_count = 7}), (Cost{12, 8}));
  EXPECT_EQ(cost("multi_notify", {.rank_count = 7, .segments = 5}), (Cost{12, 8}));  // together
  EXPECT_EQ(cost("multi_notify:tree=kary:k=3", reduce(13)), (Cost{12, 6}));
  EXPECT_EQ(cost("multi_notify:tree=chain", reduce(1000, 8)), (Cost{999, 999}));
  EXPECT_EQ(cost("multi_notify:tree=flat", reduce(1000, 8)), (Cost{999, 999}));
  EXPECT_EQ(cost("multi_notify:tree=chain", reduce(1 << 30)).rounds, (Count{1} << 30) - 1);
  const std::vector<std::uint32_t> blocks = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(cost("single_notify",
                 {.rank_count = 7, .collective = Collective::reduce_scatter, .segments = 7, .blocks = blocks}),
            (Cost{12, 4 + 3}));
}

TEST(Notify, CostsWhatRowsWithTheirOwnTreesCost) {
  for (const Rank ranks : {1, 2, 3, 7, 64, 100, 1000, 1 << 20}) {
    const Context all{.rank_count = ranks};
    for (const std::string name : {"single_notify", "multi_notify"}) {
      EXPECT_EQ(cost(name + ":tree=binomial", reduce(ranks)), cost("binomial", reduce(ranks)));
      EXPECT_EQ(cost(name + ":tree=flat", all), cost("flat", all));
      EXPECT_EQ(cost(name + ":tree=chain", all), cost("linear", all));
      EXPECT_EQ(cost(name, all), cost(name + ":tree=kary:k=2", all));
    }
  }
}

TEST(Notify, ParametersAreChecked) {
  const auto error = [](const std::string& text) -> std::string {
    try {
      parse(text);
      return "";
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
  };
  EXPECT_EQ(error("multi_notify:tree=oak"),
            "parameter 'tree' of schedule 'multi_notify' cannot be 'oak' (no tree has this name), choose binary, "
            "binomial, chain, flat or kary");
  EXPECT_EQ(error("single_notify:k=3"),
            "parameter 'k' of schedule 'single_notify' cannot be '3' (only tree=kary has this parameter), leave out "
            "parameter k");
  EXPECT_EQ(error("single_notify:tree=flat:k=3"),
            "parameter 'k' of schedule 'single_notify' cannot be '3' (only tree=kary has this parameter), leave out "
            "parameter k");
  EXPECT_EQ(
      error("single_notify:tree=kary:k=1"),
      "parameter 'k' of schedule 'single_notify' cannot be '1' (it is a number from 2 to 64), choose a number from "
      "this range");
  EXPECT_NE(error("multi_notify:tree=[flat]"), "");
  EXPECT_EQ(error("multi_notify:k=5:tree=kary"), "");
  EXPECT_EQ(error("reduce_broadcast:reduce=[single_notify:tree=flat]"), "");
  EXPECT_NE(error("reduce_broadcast:reduce=[multi_notify]").find("that schedule does not keep rank order"),
            std::string::npos);
}

TEST(Notify, ArrivalServesOnlyWhatKeepsItsBits) {
  const auto why_not = [](const std::string& text, Collective collective, const Merging& merging, OperatorKind kind) {
    return refusal(parse(text), collective, 0, merging, kind).value_or("");
  };
  for (const std::string text : {"multi_notify", "multi_notify:tree=chain", "two_level:outer=[multi_notify]"}) {
    for (const OperatorKind kind : {OperatorKind::commutative, OperatorKind::ordered, OperatorKind::idempotent}) {
      EXPECT_EQ(why_not(text, Collective::allreduce, test::tree_merging, kind), "");
      EXPECT_EQ(why_not(text, Collective::reduce, test::exact_merging, kind), "");
      EXPECT_EQ(why_not(text, Collective::reduce, test::order_free_merging, kind), "");
      EXPECT_NE(why_not(text, Collective::reduce, test::plain_merging, kind), "") << text;
      Merging measured = test::plain_merging;
      measured.may_differ = true;
      EXPECT_NE(why_not(text, Collective::allreduce, measured, kind), "") << text;
    }
  }
  EXPECT_EQ(why_not("multi_notify", Collective::reduce, test::plain_merging, OperatorKind::commutative),
            "schedule 'multi_notify' cannot serve method 'plain' with this operator (it merges in the order in which "
            "messages arrive, which would change the bits), use schedule single_notify or another one, or method tree, "
            "exact or binned");
  EXPECT_EQ(why_not("single_notify", Collective::reduce, test::plain_merging, OperatorKind::ordered), "");
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> waves(const std::string& text, Context context) {
  const Spec spec = parse(text);
  context.spec = &spec;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
  const Program program(spec.algorithm->steps(context), context.segments);
  for (const Program::Wave& wave : program.waves()) found.emplace_back(wave.first, wave.count);
  return found;
}

TEST(Notify, WavesAreTheChildrenOfANode) {
  using Waves = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  EXPECT_EQ(waves("multi_notify", reduce(8)), (Waves{{0, 2}}));
  EXPECT_EQ(waves("multi_notify", {.rank = 7, .rank_count = 8}), Waves{});  // a leaf
  EXPECT_EQ(waves("multi_notify:tree=binomial", {.rank_count = 14, .segments = 3}), (Waves{{0, 4}}));
  EXPECT_EQ(waves("multi_notify:tree=flat", reduce(130)), (Waves{{0, 64}, {64, 64}, {128, 1}}));
  EXPECT_EQ(waves("single_notify:tree=flat", reduce(130)), Waves{});
}

// Steps of `multi_notify:tree=flat` on four ranks with those of rank 0 changed.
using Change = std::function<void(std::vector<Step>&)>;
Change* change = nullptr;

Steps changed(Context c) {
  const Spec spec = spec_of("multi_notify", "flat");
  c.spec = &spec;
  std::vector<Step> steps;
  for (Steps all = spec.algorithm->steps(c); const Step* step = all.next();) steps.push_back(*step);
  if (c.rank == 0) (*change)(steps);
  for (const Step& step : steps) co_yield step;
}

std::string report_of(Change own, bool says_so = true, Context context = reduce_of_four) {
  change = &own;
  Algorithm algorithm = algorithm_of(changed);
  algorithm.keeps_rank_order = KeepsRankOrder::never;
  algorithm.merges_on_arrival = says_so;
  return check(algorithm, context).value_or("nothing");
}

// Three receives, the lift, three merges, the finish.
constexpr std::size_t first_merge = 4;

TEST(Waves, AreTakenAsTheyAre) {
  EXPECT_EQ(report_of([](auto&) {}), "nothing");
  EXPECT_REPORTS(report_of([](auto&) {}, false),
                 "merges in the order of arrival, which the schedule's entry in the registry does not declare");
}

TEST(Waves, ReportMessagesMergedTwiceOrNever) {
  EXPECT_REPORTS(report_of([](auto& steps) { steps[first_merge + 2].right = landing(1); }),
                 "the slots of a wave (receives in any order) are merged in another order, or not at all");
  EXPECT_REPORTS(report_of([](auto& steps) { steps.erase(steps.begin() + first_merge + 1); }),
                 "a wave (receives in any order) with 3 slots and 2 merges");
  EXPECT_REPORTS(report_of([](auto& steps) { steps.insert(steps.begin() + first_merge + 1, steps[first_merge]); }),
                 "a wave (receives in any order) with 3 slots and 4 merges");
  EXPECT_REPORTS(
      report_of([](auto& steps) { steps.erase(steps.begin() + first_merge, steps.begin() + first_merge + 3); }),
      "the slots of the last wave (receives in any order) are not merged");
}

TEST(Waves, ReportWhatHoldsInOneOrderOnly) {
  EXPECT_REPORTS(report_of([](auto& steps) { steps[first_merge + 1].any_order = false; }),
                 "a wave (receives in any order) with 3 slots and 1 merges");
  EXPECT_REPORTS(report_of([](auto& steps) { std::swap(steps[first_merge].right, steps[first_merge + 1].right); }),
                 "the slots of a wave (receives in any order) are merged in another order, or not at all");
  EXPECT_REPORTS(report_of([](auto& steps) {
                   steps[first_merge].target = partial(1);
                   steps[first_merge + 1].left = partial(1);
                   steps[first_merge + 1].target = partial(1);
                   steps[first_merge + 2].left = partial(1);
                 }),
                 "a wave (receives in any order) is merged into several partial results of one segment");
  // The slot of the first message that came would be filled again while the wave is still being merged.
  EXPECT_REPORTS(report_of([](auto& steps) { std::swap(steps[2], steps[first_merge + 1]); }), "a wave");
  EXPECT_REPORTS(report_of([](auto& steps) {
                   steps.insert(steps.end() - 1, make::copy(partial(1), landing(0), {1, 1}));
                 }),
                 "a copy reads a slot of a wave before the wave is merged");
  EXPECT_REPORTS(report_of([](auto& steps) { steps.insert(steps.begin() + 3, make::send(2, landing(1), landing(0))); }),
                 "a send reads a slot of a wave before the wave is merged");
  EXPECT_REPORTS(report_of([](auto& steps) { steps[1].any_order = false; }), "a wave");
  EXPECT_REPORTS(report_of([](auto& steps) { steps[3].any_order = true; }), "a lift is marked any_order");
}

TEST(Waves, ReportUnlikeMessages) {
  EXPECT_REPORTS(report_of([](auto& steps) { steps[0].more = true; }), "message");
  const Context two_segments{.rank_count = 4, .collective = Collective::reduce, .segments = 2};
  EXPECT_EQ(report_of([](auto&) {}, true, two_segments), "nothing");
  EXPECT_REPORTS(report_of([](auto& steps) { std::swap(steps[2].target, steps[3].target); }, true, two_segments),
                 "the messages of a wave (receives in any order) differ in their slots or segments");
}

}  // namespace
}  // namespace steadfold::schedule::notify_test
