// Layouts with gaps and overlaps, and counts that do not match them: an error on every rank, by every method, in
// one-shot calls and at bind.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "mpi/misuse/misuse.hpp"

namespace steadfold::tests::misused_layout_test {
namespace {

class MisusedLayoutTest : public MisuseTest {
 protected:
  /// One-shot, by name and at bind, by each method.
  void expect_refused(sf_status status, const std::string& what, const Layout& layout, std::uint64_t rows) {
    const std::vector<double> mine(rows, 0.5);
    for (const Method method : {tree(), exact(), plain()}) {
      for (const std::string schedule : {"", "binomial"}) {
        const Options options{.method = method, .layout = layout, .schedule = schedule};
        const std::string context = what + ", " + text_of(options);
        expect_error(status, {}, context, [&] { sum(mine, world.comm, options); });
        expect_error(status, {}, context + ", bind", [&] { Plan<double>(plus, rows, world.comm, options); });
      }
    }
    expect_error(status, {}, what + ", to a root",
                 [&] { sum(mine, world.comm, {.method = tree(), .layout = layout, .root = 0}); });
  }

  std::uint64_t begin = 5 * world.index();
  bool last = world.rank == world.size - 1;
};

TEST_F(MisusedLayoutTest, AGapAtTheBeginning) {
  expect_refused(SF_GAP, "nobody has element 0", Layout::intervals({{begin + 1, begin + 6}}), 5);
}
TEST_F(MisusedLayoutTest, AGapInTheMiddle) {
  const std::uint64_t shift = last ? 2 : 0;
  if (world.size == 1) return;
  expect_refused(SF_GAP, "a gap before the last rank", Layout::intervals({{begin + shift, begin + shift + 5}}), 5);
}
TEST_F(MisusedLayoutTest, AGapWithinARank) {
  expect_refused(SF_GAP, "a gap within each rank", Layout::intervals({{begin, begin + 2}, {begin + 3, begin + 5}}), 4);
}
TEST_F(MisusedLayoutTest, AnOverlapBetweenRanks) {
  if (world.size == 1) return;
  expect_refused(SF_OVERLAP, "all have the same", Layout::intervals({{0, 5}}), 5);
  const std::uint64_t shift = last ? 1 : 0;
  expect_refused(SF_OVERLAP, "one in common", Layout::intervals({{begin - shift, begin + 5}}), 5 + shift);
}
TEST_F(MisusedLayoutTest, AnOverlapWithinARank) {
  std::vector<Interval> mine = {{begin, begin + 5}};
  if (last) mine = {{begin, begin + 3}, {begin + 2, begin + 5}};
  expect_refused(SF_OVERLAP, "one twice on the last rank", Layout::intervals(mine), last ? 6 : 5);
}
TEST_F(MisusedLayoutTest, GapAndOverlapThatMakeUpForEachOther) {
  if (world.size == 1) return;
  const std::uint64_t shift = last ? 1 : 0;  // as many rows as there should be
  const Layout layout = Layout::intervals({{begin - shift, begin - shift + 5}}, 5 * world.count());
  const std::vector<double> mine(5, 0.5);
  for (const Method method : {tree(), exact(), plain()}) {
    const Outcome outcome = outcome_of([&] { sum(mine, world.comm, {.method = method, .layout = layout}); });
    EXPECT_TRUE(outcome.status == SF_GAP || outcome.status == SF_OVERLAP)
        << name_of(method) << ": " << outcome.string();
    expect_usable("gap and overlap");
  }
}
TEST_F(MisusedLayoutTest, FewerElementsThanSaid) {
  expect_refused(SF_GAP, "one missing", Layout::intervals({{begin, begin + 5}}, 5 * world.count() + 1), 5);
}
TEST_F(MisusedLayoutTest, MoreElementsThanSaid) {
  expect_refused(SF_OVERLAP, "one too many", Layout::intervals({{begin, begin + 5}}, 5 * world.count() - 1), 5);
}
/// Without intervals the number of rows alone tells.
TEST_F(MisusedLayoutTest, OtherCountsThanSaidInRankOrder) {
  double result = 0;
  for (const sf_layout layout : {SF_ANYWHERE, SF_RANK_ORDER}) {
    for (const sf_method method : {SF_TREE, SF_EXACT, SF_PLAIN}) {
      for (const int extra : {-1, 1}) {
        sf_call call = call_of_rows(5);
        call.method = method;
        call.layout = layout;
        call.element_count = 5 * world.count() + static_cast<std::uint64_t>(extra);
        expect_status(extra > 0 ? SF_GAP : SF_OVERLAP, {}, "count of method " + std::to_string(method),
                      [&] { return sf_reduce(&call, x.data(), nullptr, &result, world.comm); });
        sf_plan* plan = nullptr;
        expect_status(extra > 0 ? SF_GAP : SF_OVERLAP, {}, "count at bind, method " + std::to_string(method),
                      [&] { return sf_plan_bind(&call, world.comm, &plan); });
      }
    }
  }
}
TEST_F(MisusedLayoutTest, RowsThatDoNotMatchTheLayout) {
  for (int odd = 0; odd < world.size; ++odd) {
    const std::vector<double> mine(is_astray(odd) ? 4 : 5, 0.5);
    const Options options{.method = tree(), .layout = Layout::intervals({{begin, begin + 5}})};
    expect_error(SF_INVALID_ARGUMENT, {"4", "5"}, "too few rows", [&] { sum(mine, world.comm, options); });
    expect_error(SF_INVALID_ARGUMENT, {"4", "5"}, "too few rows at bind",
                 [&] { Plan<double>(plus, mine.size(), world.comm, options); });
  }
}
TEST_F(MisusedLayoutTest, IntervalsThatEndBeforeTheyBegin) {
  for (int odd = 0; odd < world.size; ++odd) {
    std::vector<Interval> mine = {{begin, begin + 5}};
    if (is_astray(odd)) mine = {{begin + 7, begin + 2}};
    const Options options{.layout = Layout::intervals(mine)};
    expect_error(SF_INVALID_ARGUMENT, {std::to_string(5 * odd + 7), std::to_string(5 * odd + 2)}, "backwards",
                 [&] { sum(x, world.comm, options); });
  }
}

}  // namespace
}  // namespace steadfold::tests::misused_layout_test
