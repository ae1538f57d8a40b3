// Runs given other sizes than their plan was bound for, on one rank: that rank's error says both sizes, no rank waits,
// no memory outside is touched, and the plan goes on.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "mpi/misuse/misuse.hpp"
#include "steadfold/started.hpp"

namespace steadfold::tests::sizes_test {
namespace {

// --- what does not compile -------------------------------------------------------------------------------------------

template <class AnyPlan, class Buffer>
concept RunsOn = requires(AnyPlan plan, Buffer buffer) { plan.run(buffer); };
template <class AnyPlan, class Buffer>
concept GivesANumber = requires(AnyPlan plan, Buffer buffer) { double(plan.run(buffer)); };

static_assert(GivesANumber<Plan<double>, const std::vector<double>&>);
static_assert(RunsOn<VectorPlan<double>, std::vector<double>&>);
static_assert(!GivesANumber<VectorPlan<double>, std::vector<double>&>, "many results are not one");
static_assert(!RunsOn<VectorPlan<double>, const std::vector<double>&>, "results have nowhere to go");
static_assert(!RunsOn<VectorPlan<float, double>, std::vector<float>&>, "results do not fit in the place of elements");
static_assert(std::is_same_v<decltype(Plan<double>::of_scan(plus, 1, MPI_COMM_WORLD)), VectorPlan<double>>);

// --- sizes -----------------------------------------------------------------------------------------------------------

class SizesTest : public MisuseTest {
 protected:
  static constexpr std::size_t rows = 6;

  /// Every rank in turn; some of many.
  std::vector<int> odd_ones() const {
    if (world.size <= 3)
      return world.size == 1   ? std::vector<int>{0}
             : world.size == 2 ? std::vector<int>{0, 1}
                               : std::vector<int>{0, 1, 2};
    return {0, world.size / 2, world.size - 1};
  }

  /// The run fails on the odd rank, whose text has these words, and on those that wait for it; others may learn of it.
  template <class Run>
  void expect_refused(int odd, const Words& words, const std::string& what, const Run& run, bool waits = true) {
    const Outcome outcome = outcome_of(run);
    EXPECT_TRUE(outcome.status == SF_INVALID_ARGUMENT || (!is_astray(odd) && !waits && !outcome.failed()))
        << what << ": " << outcome.string();
    if (is_astray(odd)) expect_text(outcome.text, words, what);
  }

  std::vector<double> all() const {
    std::vector<double> result;
    for (std::size_t i = 0; i < rows * world.count(); ++i) result.push_back(0.1 * static_cast<double>(i + 1));
    return result;
  }
  std::vector<double> mine() const {
    const std::vector<double> everything = all();
    return {everything.begin() + static_cast<std::ptrdiff_t>(rows * world.index()),
            everything.begin() + static_cast<std::ptrdiff_t>(rows * (world.index() + 1))};
  }
  /// As many numbers as this rank gives where it is the odd one.
  std::vector<double> given(int odd, std::size_t wrong, std::size_t right = rows) const {
    return std::vector<double>(is_astray(odd) ? wrong : right, 0.5);
  }
};

TEST_F(SizesTest, Elements) {
  for (const std::string schedule : {"", "linear", "binomial"}) {
    Plan<double> plan(subtract, rows, world.comm, {.schedule = schedule});
    for (const int odd : odd_ones()) {
      for (const std::size_t wrong : {std::size_t{0}, rows - 1, rows + 1}) {
        const Words words = {std::to_string(wrong) + " elements", "bound for 6"};
        const std::vector<double> values = given(odd, wrong);
        expect_refused(odd, words, "run", [&] { plan.run(values); });
        double result = 7;
        expect_refused(odd, words, "start, wait", [&] {
          plan.start(values, {&result, 1});
          plan.wait();
        });
        expect_refused(odd, words, "start, test", [&] {
          plan.start(values, {&result, 1});
          while (!plan.test()) {
          }
        });
        EXPECT_TRUE(is(result, 7.0)) << "a refused run wrote its result";
      }
      EXPECT_TRUE(is(plan.run(mine()), tree_of(all(), subtract))) << schedule;
    }
  }
}

TEST_F(SizesTest, ElementsOfARankWithoutAny) {
  for (const int odd : odd_ones()) {
    const int root = (odd + 1) % world.size;
    const bool is_odd = is_astray(odd);
    Plan<double> to_all(subtract, is_odd ? 0 : rows, world.comm);
    Plan<double> to_root(subtract, is_odd ? 0 : rows, world.comm, {.root = root});
    const std::vector<double> none;
    const std::vector<double> wrong = given(odd, 3);
    const std::vector<double> right = is_odd ? none : given(odd, 0);
    expect_refused(odd, {"3 elements", "bound for 0"}, "to all", [&] { to_all.run(wrong); });
    expect_refused(
        odd, {"3 elements", "bound for 0"}, "to a root", [&] { to_root.run(wrong); }, world.rank == root);
    if (world.size == 1) continue;
    to_root.run(right);
    EXPECT_EQ(outcome_of([&] { to_all.run(right); }).status, SF_OK);
  }
}

TEST_F(SizesTest, ResultsOfOneNumber) {
  Plan<double> plan(subtract, rows, world.comm);
  Plan<double> rooted(subtract, rows, world.comm, {.root = 0});
  std::vector<double> results(2, 7.0);
  const std::vector<double> values = mine();
  for (const int odd : odd_ones()) {
    for (const std::size_t wrong : {std::size_t{0}, std::size_t{2}}) {
      const std::span<double> place = std::span(results).first(is_astray(odd) ? wrong : 1);
      expect_refused(odd, {std::to_string(wrong) + " places", "bound for 1"}, "results", [&] {
        plan.start(values, place);
        plan.wait();
      });
    }
  }
  EXPECT_TRUE(are(results, std::vector<double>(2, 7.0)));
  rooted.start(values, std::span(results).first(world.rank == 0 ? 1 : 0));
  rooted.wait();
  EXPECT_TRUE(is(results[0], world.rank == 0 ? tree_of(all(), subtract) : 7.0));
}

TEST_F(SizesTest, SecondVectorsAndMasks) {
  Plan<double> dots(dot, rows, world.comm);
  Plan<double> masked(masked_sum, rows, world.comm);
  Plan<double> sums(plus, rows, world.comm);
  const std::vector<double> values = mine();
  const std::vector<std::uint8_t> mask(rows, 1);
  double result = 0;
  for (const int odd : odd_ones()) {
    const std::vector<double> y = given(odd, 5);
    const std::vector<std::uint8_t> short_mask(is_astray(odd) ? 5 : rows, 1);
    expect_refused(odd, {"5 elements in the second vector", "bound for 6"}, "dot", [&] { dots.run(values, y); });
    expect_refused(odd, {"5 elements in the second vector", "bound for 6"}, "dot in two phases", [&] {
      dots.start(values, y, {&result, 1});
      dots.wait();
    });
    expect_refused(odd, {"5 bytes in the mask", "bound for 6"}, "mask", [&] { masked.run(values, short_mask); });
    expect_refused(odd, {"no second vector"}, "dot of one",
                   [&] { is_astray(odd) ? dots.run(values) : dots.run(values, values); });
    expect_refused(odd, {"no second vector"}, "dot with a mask",
                   [&] { is_astray(odd) ? dots.run(values, mask) : dots.run(values, values); });
    expect_refused(odd, {"no mask"}, "a masked sum of two vectors",
                   [&] { is_astray(odd) ? masked.run(values, values) : masked.run(values, mask); });
    expect_refused(odd, {"one vector"}, "a sum of two",
                   [&] { is_astray(odd) ? sums.run(values, values) : sums.run(values); });
    EXPECT_TRUE(is(dots.run(values, values), dot(all(), all())));
    EXPECT_TRUE(is(masked.run(values, mask), sum(all())));
    EXPECT_TRUE(is(sums.run(values), sum(all())));
  }
}

TEST_F(SizesTest, OneShotsOfTwoVectors) {
  const std::vector<std::uint8_t> mask(5, 1);
  for (const int odd : odd_ones()) {
    const std::vector<double> y = given(odd, 4, 5);
    expect_refused(odd, {"5 and 4 elements"}, "dot", [&] { dot(x, y, world.comm); });
    expect_refused(odd, {"4 and 5 elements"}, "dot the other way", [&] { dot(y, x, world.comm); });
    expect_refused(odd, {"4 and 5"}, "masked_sum", [&] { masked_sum(y, mask, world.comm); });
  }
}

/// A vector among numbers that must stay as they are.
struct Fenced {
  explicit Fenced(std::size_t size) : memory(size + 200, -7.0), inside(std::span(memory).subspan(100, size)) {}
  bool is_whole() const {
    return std::all_of(memory.begin(), memory.end(), [](double value) { return same_bits(value, -7.0); });
  }
  std::vector<double> memory;
  std::span<double> inside;
};

TEST_F(SizesTest, Vectors) {
  const std::size_t columns = 40;
  for (const std::string schedule : {"", "binomial"}) {
    auto plan = Plan<double>::of_vectors(plus, columns, world.comm, {.schedule = schedule});
    for (const int odd : odd_ones()) {
      for (const std::size_t wrong : {std::size_t{0}, columns - 1, columns + 1}) {
        Fenced result(is_astray(odd) ? wrong : columns);
        const std::vector<double> right(columns, 1.0);
        expect_refused(odd, {std::to_string(wrong) + " places", "bound for 40"}, "result",
                       [&] { plan.run(right, result.inside); });
        EXPECT_TRUE(result.is_whole());
        Fenced place(columns);
        expect_refused(odd, {std::to_string(wrong) + " elements", "bound for 40"}, "values",
                       [&] { plan.run(given(odd, wrong, columns), place.inside); });
        expect_refused(odd, {std::to_string(wrong) + " elements", "bound for 40"}, "in place", [&] {
          plan.start(result.inside);
          plan.wait();
        });
        EXPECT_TRUE(result.is_whole() && place.is_whole());
      }
      std::vector<double> buffer(columns, 1.0);
      plan.run(buffer);
      EXPECT_TRUE(are(buffer, std::vector<double>(columns, world.size)));
    }
  }
}

TEST_F(SizesTest, VectorsForARoot) {
  auto plan = Plan<double>::of_vectors(plus, 4, world.comm, {.root = 0});
  const std::vector<double> values(4, 1.0);
  std::vector<double> result(4, -7.0);
  plan.run(values, std::span(result).first(world.rank == 0 ? 4 : 0));
  EXPECT_TRUE(are(result, std::vector<double>(4, world.rank == 0 ? world.size : -7.0)));
  for (const int odd : odd_ones()) {
    Fenced place(is_astray(odd) ? 3 : 4);
    expect_refused(
        odd, {"3 places", "bound for 4"}, "places", [&] { plan.run(values, place.inside); }, world.rank == 0);
    EXPECT_TRUE(place.is_whole());
  }
}

TEST_F(SizesTest, Scans) {
  for (const bool exclusive : {false, true}) {
    auto plan = exclusive ? Plan<double>::of_exscan(plus, 4, world.comm) : Plan<double>::of_scan(plus, 4, world.comm);
    const std::vector<double> values(4, 1.0);
    std::vector<double> result(4, -7.0);
    plan.run(values, std::span(result).first(exclusive && world.rank == 0 ? 0 : 4));
    const double wanted = exclusive ? (world.rank == 0 ? -7.0 : world.rank) : world.rank + 1.0;
    EXPECT_TRUE(are(result, std::vector<double>(4, wanted)));
    for (const int odd : odd_ones()) {
      Fenced place(is_astray(odd) ? 3 : 4);
      expect_refused(
          odd, {"3 places", "bound for 4"}, "scan", [&] { plan.run(values, place.inside); }, world.rank > odd);
      EXPECT_TRUE(place.is_whole() || !is_astray(odd));
    }
  }
}

TEST_F(SizesTest, Blocks) {
  std::vector<std::uint64_t> blocks;
  for (std::uint64_t r = 0; r < world.count(); ++r) blocks.push_back(r % 2 == 0 ? 3 : 0);
  const std::uint64_t columns = std::accumulate(blocks.begin(), blocks.end(), std::uint64_t{0});
  auto plan = Plan<double>::of_reduce_scatter(plus, blocks, world.comm);
  const std::vector<double> values(columns, 1.0);
  const std::size_t own = blocks[world.index()];
  for (const int odd : odd_ones()) {
    const std::size_t bound = blocks[static_cast<std::size_t>(odd)];
    for (const std::size_t wrong : {std::size_t{2}, std::size_t{4}}) {
      Fenced place(is_astray(odd) ? wrong : own);
      expect_refused(
          odd, {std::to_string(wrong) + " places", "bound for " + std::to_string(bound)}, "plan",
          [&] { plan.run(values, place.inside); }, own > 0);
      EXPECT_TRUE(place.is_whole());
      expect_refused(odd, {std::to_string(wrong) + " results", std::to_string(bound) + " elements"}, "one-shot",
                     [&] { reduce_scatter(values, blocks, place.inside, plus, world.comm); });
      EXPECT_TRUE(place.is_whole());
    }
    std::vector<double> result(own);
    plan.run(values, result);
    EXPECT_TRUE(are(result, std::vector<double>(own, world.size)));
  }
}

/// Nothing is sent, so that nobody waits and nobody learns of it.
TEST_F(SizesTest, VectorsOfNoElements) {
  auto plan = Plan<double>::of_vectors(plus, 0, world.comm);
  for (const int odd : odd_ones()) {
    Fenced place(is_astray(odd) ? 1 : 0);
    expect_refused(
        odd, {"1 elements", "bound for 0"}, "no elements", [&] { plan.run(place.inside); }, false);
    const std::vector<double> nothing;
    const std::vector<std::uint64_t> blocks(world.count());
    const Words texts = {"1 results", "0 elements"};
    expect_refused(odd, texts, "no blocks", [&] { reduce_scatter(nothing, blocks, place.inside, plus, world.comm); });
    expect_refused(odd, texts, "no blocks, started",
                   [&] { start_reduce_scatter(nothing, blocks, place.inside, plus, world.comm).wait(); });
    EXPECT_TRUE(place.is_whole());
  }
}

}  // namespace
}  // namespace steadfold::tests::sizes_test
