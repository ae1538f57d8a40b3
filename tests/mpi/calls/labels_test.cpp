// Sums by label over all ranks: each group has the bits of the sum of its elements gathered in one process, whatever
// ranks the elements are on and however many groups there are. Seeds are printed.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
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
    for (const Method& method : {Method(exact()), Method(binned()), Method(binned({2}))}) {
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

/// A loop's sums depend on which rank has what.
TEST_F(LabelsTest, ControlALoopDiffers) {
  Labelled all(1000, 3, random);
  all.x = test::hostile(all.x.size(), 5);
  const std::size_t half = all.x.size() / 2;
  EXPECT_FALSE(are(all.loop({half, all.x.size() - half}), all.loop({all.x.size()})));
}

}  // namespace
}  // namespace steadfold::tests::labels_test
