// Algorithms, formulas at points worked out by hand, refusals, and the names that people write.
#include "schedule/registry.hpp"

#include <gtest/gtest.h>

#include <array>
#include <ostream>
#include <stdexcept>

#include "schedule/served.hpp"

namespace steadfold::schedule::registry_test {
namespace {

struct Cost {
  Count messages;
  Count rounds;
  friend bool operator==(const Cost&, const Cost&) = default;
};

void PrintTo(const Cost& cost, std::ostream* out) {
  *out << cost.messages << " messages in " << cost.rounds << " rounds";
}

Cost cost(std::string_view name, Context context) {
  const Algorithm& algorithm = *find(name);
  return {algorithm.messages(context), algorithm.rounds(context)};
}

Context reduce(Rank rank_count, Rank root = 0, std::uint32_t segments = 1) {
  return {.rank_count = rank_count, .root = root, .collective = Collective::reduce, .segments = segments};
}
Context allreduce(Rank rank_count, std::uint32_t segments = 1) {
  return {.rank_count = rank_count, .segments = segments};
}

TEST(Formulas, Flat) {
  EXPECT_EQ(cost("flat", reduce(1)), (Cost{0, 0}));
  EXPECT_EQ(cost("flat", reduce(5, 3)), (Cost{4, 4}));
  EXPECT_EQ(cost("flat", allreduce(5)), (Cost{8, 8}));
  EXPECT_EQ(cost("flat", reduce(5, 0, 2)), (Cost{8, 8}));
  EXPECT_EQ(cost("flat", allreduce(2, 3)), (Cost{6, 4}));
}

TEST(Formulas, Linear) {
  EXPECT_EQ(cost("linear", reduce(1)), (Cost{0, 0}));
  EXPECT_EQ(cost("linear", reduce(5, 0)), (Cost{4, 4}));
  EXPECT_EQ(cost("linear", reduce(5, 4)), (Cost{4, 4}));
  EXPECT_EQ(cost("linear", reduce(5, 2)), (Cost{4, 3}));  // both chains arrive in round 2; the port takes one a round
  EXPECT_EQ(cost("linear", reduce(5, 1)), (Cost{4, 3}));
  EXPECT_EQ(cost("linear", reduce(5, 0, 3)), (Cost{12, 6}));
  EXPECT_EQ(cost("linear", allreduce(5)), (Cost{8, 8}));
  EXPECT_EQ(cost("linear", allreduce(2, 3)), (Cost{6, 4}));
}

TEST(Formulas, Binomial) {
  EXPECT_EQ(cost("binomial", reduce(1)), (Cost{0, 0}));
  EXPECT_EQ(cost("binomial", reduce(5, 2)), (Cost{4, 3}));
  EXPECT_EQ(cost("binomial", reduce(8)), (Cost{7, 3}));
  EXPECT_EQ(cost("binomial", allreduce(8)), (Cost{14, 6}));
  EXPECT_EQ(cost("binomial", allreduce(9)), (Cost{16, 8}));
  EXPECT_EQ(cost("binomial", reduce(4, 0, 3)), (Cost{9, 6}));
  EXPECT_EQ(cost("binomial", allreduce(2, 3)), (Cost{6, 4}));
}

TEST(Formulas, RecursiveDoubling) {
  EXPECT_EQ(cost("recursive_doubling", allreduce(1)), (Cost{0, 0}));
  EXPECT_EQ(cost("recursive_doubling", allreduce(2)), (Cost{2, 1}));
  EXPECT_EQ(cost("recursive_doubling", allreduce(8)), (Cost{24, 3}));
  EXPECT_EQ(cost("recursive_doubling", allreduce(3)), (Cost{4, 3}));   // ceil(log2 3) + 1 rounds
  EXPECT_EQ(cost("recursive_doubling", allreduce(7)), (Cost{14, 4}));  // 3 + 4 x 2 + 3 messages
  EXPECT_EQ(cost("recursive_doubling", allreduce(8, 2)), (Cost{48, 6}));
}

TEST(Formulas, Binary) {
  EXPECT_EQ(cost("binary", reduce(1)), (Cost{0, 0}));
  EXPECT_EQ(cost("binary", reduce(3, 1)), (Cost{2, 2}));
  EXPECT_EQ(cost("binary", reduce(7, 3)), (Cost{6, 4}));       // two levels, two messages each
  EXPECT_EQ(cost("binary", reduce(7, 3, 5)), (Cost{30, 12}));  // two rounds for a segment more
  EXPECT_EQ(cost("binary", allreduce(7)), (Cost{12, 8}));
  EXPECT_EQ(cost("pipelined_tree", allreduce(7, 5)), (Cost{60, 21}));  // in the end four
}

TEST(Formulas, Knomial) {
  const auto knomial = [](std::string_view text, Context context) {
    const Spec spec = parse(text);
    context.spec = &spec;
    return cost("knomial", context);
  };
  EXPECT_EQ(knomial("knomial", reduce(16)), (Cost{15, 6}));     // two levels of three children
  EXPECT_EQ(knomial("knomial:k=3", reduce(10)), (Cost{9, 5}));  // two, two, and one at 9
  EXPECT_EQ(knomial("knomial:k=2", allreduce(9)), cost("binomial", allreduce(9)));
}

TEST(Formulas, DoublyPipelined) {
  EXPECT_EQ(cost("doubly_pipelined_linear", allreduce(2, 3)), (Cost{6, 3}));
  EXPECT_EQ(cost("doubly_pipelined_linear", allreduce(8)), (Cost{14, 7}));  // three up, one across, three down
  EXPECT_EQ(cost("doubly_pipelined_linear", allreduce(8, 4)), (Cost{56, 13}));
  EXPECT_EQ(cost("doubly_pipelined_tree", allreduce(6, 4)), (Cost{40, 14}));  // two up, one, two down; three a segment
  const auto of_one_root = [](std::string_view name, Context context) {
    const Spec spec = parse(std::string(name) + ":roots=1");
    context.spec = &spec;
    return cost(name, context);
  };
  EXPECT_EQ(of_one_root("doubly_pipelined_linear", allreduce(8)), (Cost{14, 14}));  // seven up, seven down
  EXPECT_EQ(of_one_root("doubly_pipelined_linear", allreduce(8, 4)), (Cost{56, 19}));
  EXPECT_EQ(of_one_root("doubly_pipelined_tree", allreduce(3)), (Cost{4, 4}));
  EXPECT_EQ(of_one_root("doubly_pipelined_tree", allreduce(7, 4)), (Cost{48, 16}));  // four up, four down
  EXPECT_THROW(parse("doubly_pipelined_tree:roots=3"), std::invalid_argument);
}

TEST(Formulas, Blocks) {
  for (const std::string_view name : {"transpose", "ring"}) {
    EXPECT_EQ(cost(name, allreduce(5, 5)), (Cost{2 * 4 * 5, 8}));
    EXPECT_EQ(cost(name, allreduce(5, 10)), (Cost{2 * 4 * 10, 16}));
    EXPECT_EQ(cost(name, reduce(5, 2, 5)), (Cost{4 * 5 + 4, 8}));
    EXPECT_EQ(cost(name, reduce(5, 2)), (Cost{4, 4}));  // one segment, the root's
  }
  EXPECT_EQ(cost("halving_doubling", allreduce(8, 8)), (Cost{48, 6}));
  EXPECT_EQ(cost("halving_doubling", allreduce(7, 7)), (Cost{2 * (2 * 4 + 3), 6}));
  EXPECT_EQ(cost("halving_doubling", reduce(7, 3, 7)), (Cost{8 + 3 + 3 + 1, 6}));  // rank 3 is the second of its pair
  EXPECT_EQ(cost("circulant", allreduce(7, 7)), (Cost{2 * 3 * 7, 6}));
  EXPECT_EQ(cost("circulant", reduce(7, 3, 7)), (Cost{3 * 7 + 6, 6}));
}

TEST(Formulas, TwoLevel) {
  const Spec spec = parse("two_level:inner=[flat]:outer=[ring]:size=4");
  const auto messages = [&](Context context) {
    context.spec = &spec;
    return find("two_level")->messages(context);
  };
  EXPECT_EQ(messages(allreduce(12, 3)), 3u * (9 + 2 * 2 + 9));  // there, between three leaders, and back
  EXPECT_EQ(messages(allreduce(10, 3)), 3u * (7 + 2 * 2 + 7));
  EXPECT_EQ(messages(reduce(12, 5, 3)), 3u * 9 + (2 * 3 + 2) + 3);  // and from the leader 4 to the root
  const auto rounds = [&](Context context) {
    context.spec = &spec;
    return find("two_level")->rounds(context);
  };
  EXPECT_EQ(rounds(allreduce(12, 3)), 3u * 3 + 2 * 2 + 3 * 2);
  EXPECT_EQ(rounds(reduce(12, 5, 3)), 3u * 3 + 2 * 2 + 3);
  const order::Nodes nodes(std::array{0, 1, 0, 1, 0, 1, 0, 2});  // of 4, 3 and 1
  EXPECT_EQ(find("two_level")->messages({.rank_count = 8, .nodes = &nodes}), 3u + 2 + 4 + 3 + 2);
  EXPECT_EQ(find("two_level")->rounds({.rank_count = 8, .nodes = &nodes}), 2u + 3 + 2);
}

TEST(Formulas, ReduceBroadcast) {
  EXPECT_EQ(cost("reduce_broadcast", allreduce(8)), (Cost{14, 6}));
  const Spec spec = parse("reduce_broadcast:reduce=[linear]");
  Context context = allreduce(8, 2);
  context.spec = &spec;
  EXPECT_EQ(cost("reduce_broadcast", context), (Cost{28, 8 + 6}));
}

// A partial takes 1000 bytes and a value 1, so that digits are counts; segments together, whatever their widths.
TEST(Formulas, GiveTheBytesOfPartialsAndValuesOfFixedSizes) {
  const SegmentBytes sizes{.partials = 1000, .values = 1};
  EXPECT_EQ(bytes_of(*find("flat"), reduce(5, 3), sizes), 4000u);
  EXPECT_EQ(bytes_of(*find("linear"), allreduce(5), sizes), 4004u);
  EXPECT_EQ(bytes_of(*find("binomial"), allreduce(8, 3), sizes), 7007u);
  EXPECT_EQ(bytes_of(*find("recursive_doubling"), allreduce(8), sizes), 24000u);
  EXPECT_EQ(bytes_of(*find("recursive_doubling"), allreduce(7, 2), sizes), 11003u);  // 3 + 4 x 2, and 3 values back
}

TEST(Formulas, HoldForRankCountsThatNobodyCanRun) {
  EXPECT_EQ(cost("recursive_doubling", allreduce(1 << 30)), (Cost{Count{30} << 30, 30}));
  EXPECT_EQ(cost("binomial", reduce(2'000'000'000, 7)), (Cost{1'999'999'999, 31}));
}

TEST(Registry, FindsRowsByNameAndAlias) {
  EXPECT_EQ(find("flat")->name, "flat");
  EXPECT_EQ(find("binomial_spanning_tree"), find("binomial"));
  EXPECT_EQ(find("no_such"), nullptr);
  EXPECT_EQ(find(""), nullptr);
}

TEST(Registry, RowsAreComplete) {
  for (const Algorithm& algorithm : registry()) {
    EXPECT_EQ(find(algorithm.name), &algorithm);
    EXPECT_FALSE(algorithm.sentence.empty());
    EXPECT_FALSE(algorithm.source.empty());
    EXPECT_NE(algorithm.steps, nullptr);
    EXPECT_EQ(algorithm.messages == nullptr, algorithm.name == "native");
    EXPECT_EQ(algorithm.rounds == nullptr, algorithm.name == "native" || algorithm.name == "owner");
    EXPECT_EQ(algorithm.partial_messages == nullptr, algorithm.name == "native" || algorithm.has_groups);
  }
}

std::string why_not(std::string_view name, Collective collective, Rank root, const Merging& merging,
                    OperatorKind kind = OperatorKind::commutative) {
  return refusal(*find(name), collective, root, merging, kind).value_or("");
}

// What an algorithm, or a schedule as asked for, says it serves is never refused; and nothing else is served.
TEST(Refusal, OfNothingThatARowSaysItServes) {
  for (const Algorithm& algorithm : registry()) {
    for (const std::string& name : names_of(algorithm)) {
      const Spec spec = parse(name);
      for (const Collective collective : every_collective) {
        for (const Merging& merging : test::every_merging) {
          for (const OperatorKind kind : {OperatorKind::commutative, OperatorKind::ordered, OperatorKind::idempotent}) {
            for (const Rank root : {0, 1, 63, 64, 1000}) {
              const bool says = test::says_it_serves(algorithm, collective, root, merging, kind);
              EXPECT_EQ(refusal(algorithm, collective, root, merging, kind).value_or("").empty(), says) << name;
              EXPECT_EQ(refusal(spec, collective, root, merging, kind).value_or("").empty(), says) << name;
            }
          }
        }
      }
    }
  }
}

TEST(Refusal, OfACollectiveThatIsNotOffered) {
  EXPECT_EQ(why_not("recursive_doubling", Collective::reduce, 0, test::exact_merging),
            "schedule 'recursive_doubling' cannot serve reduce (it offers allreduce, scan, exscan only), choose "
            "another schedule");
  EXPECT_EQ(why_not("recursive_doubling", Collective::allreduce, 0, test::exact_merging), "");
}

TEST(Refusal, OfAMethodThatIsNotServed) {
  EXPECT_EQ(why_not("native", Collective::allreduce, 0, test::tree_merging),
            "schedule 'native' cannot serve method 'tree' (it serves only method exact, and method binned with the "
            "double sweep), choose another schedule or method");
  EXPECT_EQ(why_not("native", Collective::reduce, 3, test::exact_merging), "");
}

TEST(Refusal, OfPlainWhereRankOrderIsNotKept) {
  const auto asked = [](Rank root, const Merging& merging, OperatorKind kind) {
    return why_not("binomial", Collective::reduce, root, merging, kind);
  };
  EXPECT_EQ(asked(2, test::plain_merging, OperatorKind::ordered),
            "schedule 'binomial' cannot serve method 'plain' at root 2 (it does not keep rank order there "
            "and the operator does not commute), use root 0, a schedule that keeps rank order, or method tree");
  EXPECT_EQ(asked(0, test::plain_merging, OperatorKind::ordered), "");
  EXPECT_EQ(asked(2, test::plain_merging, OperatorKind::commutative), "");
  EXPECT_EQ(asked(2, test::tree_merging, OperatorKind::ordered), "");
  EXPECT_EQ(why_not("binomial", Collective::allreduce, 2, test::plain_merging, OperatorKind::ordered), "");
  EXPECT_EQ(why_not("linear", Collective::reduce, 2, test::plain_merging, OperatorKind::ordered), "");
}

TEST(Refusal, OfPlainWhereRanksWouldDiffer) {
  Algorithm algorithm = *find("flat");
  algorithm.same_on_all_ranks = SameOnAllRanks::no;
  EXPECT_TRUE(refusal(algorithm, Collective::allreduce, 0, test::plain_merging, OperatorKind::commutative));
  EXPECT_FALSE(refusal(algorithm, Collective::reduce, 0, test::plain_merging, OperatorKind::commutative));
  EXPECT_FALSE(refusal(algorithm, Collective::allreduce, 0, test::tree_merging, OperatorKind::ordered));
  Merging measured = test::plain_merging;
  measured.may_differ = true;
  EXPECT_FALSE(refusal(algorithm, Collective::allreduce, 0, measured, OperatorKind::commutative));
  algorithm.counts = Counts::at_least_once;
  EXPECT_TRUE(refusal(algorithm, Collective::allreduce, 0, measured, OperatorKind::commutative));
}

std::string why_not(std::string_view name, const std::vector<order::Layout>& layouts) {
  std::vector<const order::Layout*> each;
  for (const order::Layout& layout : layouts) each.push_back(&layout);
  return refusal(*find(name), each).value_or("");
}

TEST(Refusal, OfLayoutsThatAScheduleCannotFollow) {
  using Lists = std::vector<std::vector<order::Interval>>;
  const auto two = order::Layout::contiguous(std::vector<Count>{3, 2});
  const auto listed = order::Layout::lists(Lists{{{0, 1}, {1, 3}}, {{3, 5}}});
  const auto other = order::Layout::contiguous(std::vector<Count>{2, 3});
  const auto reversed = order::Layout::lists(Lists{{{3, 5}}, {{0, 3}}});
  EXPECT_EQ(why_not("owner", {two}), "");
  EXPECT_EQ(why_not("owner", {listed}), "");
  EXPECT_EQ(why_not("owner", {two, two}), "");
  EXPECT_EQ(why_not("owner", {reversed}),
            "schedule 'owner' cannot serve this layout (it needs elements in rank order), give every rank the elements "
            "that follow the elements of the rank before it, or choose another schedule");
  EXPECT_EQ(why_not("owner", {two, other}),
            "schedule 'owner' cannot serve a bundle of several layouts (its messages follow a single layout), bind the "
            "calls separately or choose another schedule");
  EXPECT_EQ(why_not("flat", {reversed, two}), "");
}

std::string error_of(std::string_view text, Algorithms algorithms = registry()) {
  try {
    parse(text, algorithms);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Parse, NamesWithoutParameters) {
  EXPECT_EQ(parse("linear").algorithm, find("linear"));
  EXPECT_TRUE(parse("linear").parameters.empty());
  EXPECT_EQ(parse("binomial_spanning_tree").algorithm, find("binomial"));
  EXPECT_EQ(parse("binomial_spanning_tree").name, "binomial_spanning_tree");
}

std::string all_names() {
  std::string names;
  for (const Algorithm& algorithm : registry()) names.append(names.empty() ? "" : ", ").append(algorithm.name);
  return names;
}

TEST(Parse, UnknownNamesListTheKnownOnes) {
  EXPECT_EQ(error_of("butterfly"),
            "unknown schedule 'butterfly' (no name is similar), choose one of auto, mpich, " + all_names());
  EXPECT_EQ(error_of("two_level:inner=[butterfly]"),
            "unknown schedule 'butterfly' (no name is similar), choose one of " + all_names())
      << "in brackets algorithms only";
  EXPECT_NE(error_of("").find("the schedule name is missing"), std::string::npos);
  EXPECT_NE(error_of(":n=2").find("the schedule name is missing"), std::string::npos);
  EXPECT_NE(error_of("flat "), "");
}

TEST(Parse, UnknownNamesAreToldTheNearestOne) {
  const auto expect = [](const std::string& asked, const std::string& why) {
    EXPECT_TRUE(error_of(asked).starts_with("unknown schedule '" + asked + "' (" + why + "), choose one of "))
        << error_of(asked);
  };
  expect("linaer", "the nearest name is 'linear'");
  expect("Binomial", "the nearest name is 'binomial'");
  expect("recursive-doubling", "the nearest name is 'recursive_doubling'");
  expect("halvingdoubling", "the nearest name is 'halving_doubling'");
  expect("pipelined_tee", "the nearest name is 'pipelined_tree'");
  expect("mpihc", "the nearest name is 'mpich'");
  expect("autos", "the nearest name is 'auto'");
  expect("a", "no name is similar");
  expect(std::string(5000, 'x'), "no name is similar");
  for (const Algorithm& algorithm : registry()) {
    if (algorithm.name.size() < 5) continue;
    for (std::size_t at = 0; at < algorithm.name.size(); ++at) {
      std::string wrong(algorithm.name);
      wrong[at] = 'X';
      expect(wrong, "the nearest name is '" + std::string(algorithm.name) + "'");
      expect(wrong.erase(at, 1), "the nearest name is '" + std::string(algorithm.name) + "'");
    }
  }
}

TEST(Parse, RowsAcceptTheirOwnParametersOnly) {
  for (const Algorithm& algorithm : registry()) {
    std::string accepted;
    for (const std::string_view each : algorithm.parameters) accepted.append(accepted.empty() ? "" : ", ").append(each);
    accepted = accepted.empty() ? "it has no parameters" : "its parameters are " + accepted;
    EXPECT_EQ(error_of(std::string(algorithm.name) + ":colour=3"), "schedule '" + std::string(algorithm.name) +
                                                                       "' has no parameter 'colour' (" + accepted +
                                                                       "), leave out the parameter");
    for (const std::string& name : names_of(algorithm)) EXPECT_EQ(parse(name).algorithm, &algorithm) << name;
  }
}

TEST(Parse, ReportsValuesThatARowCannotUse) {
  EXPECT_EQ(number_of(parse("owner:buffer=64"), "buffer", 1, 1, 64), 64u);
  EXPECT_EQ(number_of(parse("owner"), "buffer", 7, 1, 64), 7u);
  for (const std::string value : {"0", "65", "-1", "+4", "4.", "0x4", "four", "18446744073709551617"}) {
    EXPECT_EQ(error_of("owner:buffer=" + value),
              "parameter 'buffer' of schedule 'owner' cannot be '" + value +
                  "' (it is a number from 1 to 64), choose a number from this range");
  }
  EXPECT_NE(error_of("owner:buffer=[flat]"), "");
}

TEST(Parse, ReportsNestedSchedulesThatDoNotServe) {
  const std::string cannot = "parameter 'reduce' of schedule 'reduce_broadcast' cannot be ";
  EXPECT_EQ(error_of("reduce_broadcast:reduce=flat"),
            cannot + "'flat' (its value is a schedule), write the schedule in brackets, as in reduce=[flat]");
  EXPECT_EQ(error_of("reduce_broadcast:reduce=[recursive_doubling]"),
            cannot + "'recursive_doubling' (that schedule does not offer reduce), choose another schedule");
  for (const std::string name : {"native", "owner"})
    EXPECT_NE(error_of("reduce_broadcast:reduce=[" + name + "]").find("cannot be '" + name + "'"), std::string::npos);
  EXPECT_EQ(error_of("reduce_broadcast:reduce=[knomial:k=3]:block=7"), "");
  EXPECT_EQ(error_of("two_level:inner=[ring]:size=4"),
            "parameter 'inner' of schedule 'two_level' cannot be 'ring' (that schedule does not keep rank order), "
            "choose another schedule");
  EXPECT_EQ(error_of("two_level:outer=[owner]").find("parameter 'outer' of schedule 'two_level' cannot be 'owner'"),
            0u);
}

// As many levels as can be asked for run on slots of their own; one more would not find numbers for all.
TEST(Parse, LevelsNestNoDeeperThanSlotsHaveNumbers) {
  std::string name = "flat";
  for (int level = 0; level < most_nested; ++level) {
    EXPECT_EQ(error_of(name), "");
    name = "two_level:outer=[" + name + "]:size=2";
  }
  EXPECT_EQ(error_of(name), "");
  EXPECT_EQ(error_of("two_level:outer=[" + name + "]"),
            "too many brackets around 'flat' (schedules can be nested 4 levels deep at most), nest fewer schedules");
  std::string deep;
  for (int level = 0; level < 100000; ++level) deep += "two_level:outer=[";
  EXPECT_NE(error_of(deep + "flat" + std::string(100000, ']')).find("too many brackets"), std::string::npos);
}

TEST(Refusal, OfWhatASchedulesPartsDoNotServe) {
  const Spec spec = parse("two_level:outer=[recursive_doubling]:size=4");
  EXPECT_FALSE(refusal(spec, Collective::allreduce, 0, test::tree_merging, OperatorKind::ordered));
  EXPECT_EQ(refusal(spec, Collective::reduce, 0, test::tree_merging, OperatorKind::ordered).value_or(""),
            "schedule 'two_level' cannot serve reduce with 'recursive_doubling' between groups (that schedule does not "
            "offer this collective), choose another schedule for 'outer'");
  EXPECT_TRUE(refusal(spec, Collective::allreduce, 0, test::plain_merging, OperatorKind::ordered));
  const Spec deep = parse("two_level:outer=[two_level:outer=[recursive_doubling]]");
  EXPECT_FALSE(refusal(deep, Collective::allreduce, 0, test::tree_merging, OperatorKind::ordered));
  EXPECT_TRUE(refusal(deep, Collective::reduce_scatter, 0, test::tree_merging, OperatorKind::ordered));
}

TEST(Parse, ParametersAndNestedNames) {
  const Spec spec = parse("two_level:inner=[flat]:outer=[ring:block=64]:size=4");
  EXPECT_EQ(spec.algorithm->name, "two_level");
  ASSERT_EQ(spec.parameters.size(), 3u);
  EXPECT_EQ(spec.parameter("inner")->nested.at(0).algorithm->name, "flat");
  EXPECT_EQ(spec.parameter("size")->value, "4");
  EXPECT_TRUE(spec.parameter("size")->nested.empty());
  EXPECT_EQ(spec.parameter("block"), nullptr);
  EXPECT_EQ(spec.parameter("outer")->value, "ring:block=64");
  EXPECT_EQ(spec.parameter("outer")->nested.at(0).parameter("block")->value, "64");

  const Spec deep = parse("two_level:outer=[two_level:inner=[pipelined_tree:block=2]:size=3]");
  const Spec& middle = deep.parameter("outer")->nested.at(0);
  EXPECT_EQ(middle.parameter("inner")->nested.at(0).parameter("block")->value, "2");
  EXPECT_EQ(middle.parameter("size")->value, "3");
}

TEST(Parse, ReportsFormsThatAreNotOnes) {
  const auto expect = [&](std::string_view text, std::string_view part) {
    const std::string error = error_of(text);
    EXPECT_NE(error.find(part), std::string::npos) << text << ": " << error;
    EXPECT_NE(error.find(" ("), std::string::npos) << error;
    EXPECT_NE(error.find("), "), std::string::npos) << error;
  };
  expect("ring:block", "parameter 'block' has no value");
  expect("ring:block=", "parameter 'block' has no value");
  expect("ring:block:n=2", "parameter 'block' has no value");
  expect("ring:block=[]", "the schedule name is missing");
  expect("ring:=3", "a parameter has no name in '=3'");
  expect("ring::block=3", "a parameter has no name");
  expect("ring:", "the text ends with ':'");
  expect("ring:block=3:", "the text ends with ':'");
  expect("ring:block=3:block=4", "parameter 'block' twice");
  expect("ring:size=3", "no parameter 'size' (its parameters are block)");
  expect("two_level:inner=[flat", "a bracket is not closed in '[flat'");
  expect("two_level:inner=[flat]x", "unexpected 'x' after a bracket");
  expect("two_level:inner=[flat]]", "unexpected ']' after a bracket");
  expect("two_level:inner=[flta]", "unknown schedule 'flta'");
  expect("two_level:inner=[ring:size=1]", "schedule 'ring' has no parameter 'size'");
}

}  // namespace
}  // namespace steadfold::schedule::registry_test
