// Sums by label over all ranks: each group has the bits of the sum of its elements gathered in one process, whatever
// ranks the elements are on and however many groups there are. Seeds are printed.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/inputs.hpp"
#include "mpi/ranks.hpp"
#include "steadfold/mpi.hpp"
#include "support/hostile.hpp"
#include "support/hostile_terms.hpp"

namespace steadfold::tests::labels_test {
namespace {

class LabelsTest : public testing::Test {
 protected:
  Ranks world;
  Random random{seed_of("labels_test", 72001)};
};

/// Elements of all ranks, and their groups.
struct Labelled {
  std::uint64_t groups;
  std::vector<double> x;
  std::vector<std::int32_t> labels;

  /// Random, sorted, all the same, or one element for each group; some belong to none.
  Labelled(std::size_t count, std::uint64_t group_count, Random& random) : groups(group_count), labels(count) {
    test::HostileTerms<double> terms(random());
    x = terms.of(count, test::troubles[draw(random, std::size(test::troubles))]);
    const std::vector<double> others = terms.of(count, test::troubles[draw(random, std::size(test::troubles))]);
    for (std::size_t i = 0; i < count; i += 1 + draw(random, 3)) x[i] = others[i];
    const std::size_t form = draw(random, 4);
    for (std::size_t i = 0; i < count; ++i)
      labels[i] = static_cast<std::int32_t>((form == 0 ? 0 : form == 1 ? i : draw(random, groups)) % groups);
    if (form == 2) std::sort(labels.begin(), labels.end());
    for (std::int32_t& label : labels)
      if (draw(random, 20) == 0) label = -1;
  }

  std::vector<double> sums(const Method& method) const {
    std::vector<std::vector<double>> gathered(groups);
    for (std::size_t i = 0; i < x.size(); ++i)
      if (labels[i] >= 0) gathered[static_cast<std::size_t>(labels[i])].push_back(x[i]);
    std::vector<double> all;
    for (const std::vector<double>& group : gathered)
      all.push_back(group.empty() ? 0.0 : sum(group, {.method = method}));
    return all;
  }
  /// What a program would do: every rank adds up its own, one after the other, and then ranks do.
  std::vector<double> loop(const std::vector<std::size_t>& counts) const {
    std::vector<double> all(groups);
    std::size_t at = 0;
    for (const std::size_t count : counts) {
      std::vector<double> own(groups);
      for (const std::size_t end = at + count; at < end; ++at)
        if (labels[at] >= 0) own[static_cast<std::size_t>(labels[at])] += x[at];
      for (std::size_t g = 0; g < groups; ++g) all[g] += own[g];
    }
    return all;
  }
};

TEST_F(LabelsTest, SumsAreThoseOfOneProcess) {
  for (const std::uint64_t groups : {1, 7, 8, 9, 100, 1000, 3000}) {
    for (const Method& method : {Method(exact()), Method(binned()), Method(binned({2})), Method(tree())}) {
      const Labelled all(200 + draw(random, 3000), groups, random);
      const std::vector<std::size_t> counts = random_counts(all.x.size(), static_cast<std::size_t>(world.size), random);
      std::size_t begin = 0;
      for (int r = 0; r < world.rank; ++r) begin += counts[static_cast<std::size_t>(r)];
      const std::size_t count = counts[static_cast<std::size_t>(world.rank)];
      const std::span<const double> x = std::span(all.x).subspan(begin, count);
      const std::span<const std::int32_t> labels = std::span(all.labels).subspan(begin, count);
      const std::vector<double> wanted = all.sums(method);
      for (const unsigned threads : {1, 2, 1})  // the last one by a plan that is there
        EXPECT_TRUE(are(sum_by(x, labels, groups, world.comm, {.method = method, .threads = threads}), wanted))
            << groups << " groups, " << threads << " threads";
      EXPECT_TRUE(are(sum_by(all.x, all.labels, groups, {.method = method}), wanted)) << groups << " groups, alone";
    }
  }
}

/// By method tree, the rows of a group are numbered in the order of their indices, whatever intervals the ranks have.
TEST_F(LabelsTest, TreesFollowTheIndices) {
  const auto size = static_cast<std::size_t>(world.size);
  for (const std::uint64_t groups : {1, 7, 600}) {
    const Labelled all(1 + draw(random, 2000), groups, random);
    const std::vector<double> wanted = all.sums(tree());
    for (const auto& [name, ownership] : sorts_of_layouts(all.x.size(), size, random)) {
      const auto& mine = ownership[world.index()];
      const std::vector<double> x = pick(all.x, mine);
      const std::vector<std::int32_t> labels = pick(all.labels, mine);
      for (const char* schedule : {"", "binomial", "recursive_doubling", "pipelined_tree:block=3"}) {
        const Options options{.method = tree(), .layout = layout_on(world, ownership), .schedule = schedule};
        EXPECT_TRUE(are(sum_by(x, labels, groups, world.comm, options), wanted))
            << groups << " groups of " << all.x.size() << ", " << name << ", schedule '" << schedule << "'";
      }
    }
  }
}

/// Labels, elements and masks may change between the runs of a plan. A kept axis has a tree for each of its indices.
TEST_F(LabelsTest, TreesOfAPlanAreThoseOfEachRun) {
  constexpr std::uint64_t columns = 40;
  constexpr std::uint64_t groups = 3;
  const std::size_t rows = 700;
  const Ownership ownership = shuffled(rows, static_cast<std::size_t>(world.size), 20, false, random);
  const auto& mine = ownership[world.index()];
  std::vector<double> x;
  std::vector<std::int32_t> labels;
  std::vector<std::uint8_t> mask;
  for (const Interval i : mine) {
    x.resize(x.size() + (i.end - i.begin) * columns);
    labels.resize(labels.size() + (i.end - i.begin));
    mask.resize(labels.size());
  }
  const std::uint64_t own = labels.size();
  const Axes axes{.keep = {1},
                  .where = Array<std::uint8_t>(mask.data(), {own, 1}),
                  .labels = Array<std::int32_t>(labels.data(), {own, 1}),
                  .groups = groups};
  ArrayPlan plan(mean, Array<double>(x.data(), {own, columns}), axes, world.comm,
                 {.method = tree(), .layout = layout_on(world, ownership)});
  for (int run = 0; run < 3; ++run) {
    Labelled all(rows, groups, random);
    std::vector<double> elements = test::hostile(rows * columns, random());
    std::vector<std::uint8_t> selected(rows);
    for (std::uint8_t& each : selected) each = draw(random, 4) != 0;
    std::copy_n(pick(all.labels, mine).begin(), own, labels.begin());
    std::copy_n(pick(selected, mine).begin(), own, mask.begin());
    std::size_t to = 0;
    for (const Interval i : mine)
      for (std::uint64_t row = i.begin; row < i.end; ++row)
        for (std::uint64_t column = 0; column < columns; ++column) x[to++] = elements[row * columns + column];
    std::vector<double> wanted;
    for (std::uint64_t group = 0; group < groups; ++group) {
      for (std::uint64_t column = 0; column < columns; ++column) {
        std::vector<double> gathered;
        for (std::size_t row = 0; row < rows; ++row)
          if (selected[row] != 0 && all.labels[row] == static_cast<std::int32_t>(group))
            gathered.push_back(elements[row * columns + column]);
        wanted.push_back(gathered.empty() ? std::numeric_limits<double>::quiet_NaN()
                                          : mean(gathered, {.method = tree()}));
      }
    }
    const View<const double> found = plan.run();
    EXPECT_TRUE(are(std::vector<double>(found.begin(), found.end()), wanted)) << "run " << run;
  }
}

/// Schedule owner sends parts of the rows of a rank, which are not numbered.
TEST_F(LabelsTest, TreesByOwnerAreRefused) {
  const std::vector<double> x(10, 1.0);
  const std::vector<std::int32_t> labels(10, 1);
  try {
    sum_by(x, labels, 2, world.comm, {.method = tree(), .schedule = "owner"});
    EXPECT_EQ(world.size, 1);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), SF_UNSUPPORTED);
    EXPECT_NE(std::string(error.what()).find("schedule 'owner' cannot serve groups with method tree"),
              std::string::npos)
        << error.what();
  }
}

/// A loop's sums depend on which rank has what.
TEST_F(LabelsTest, ControlALoopDiffers) {
  Labelled all(1000, 3, random);
  all.x = test::hostile(all.x.size(), 5);
  const std::size_t half = all.x.size() / 2;
  EXPECT_FALSE(are(all.loop({half, all.x.size() - half}), all.loop({all.x.size()})));
}

}  // namespace
}  // namespace steadfold::tests::labels_test
