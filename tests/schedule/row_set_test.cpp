// Row sets against sets of single rows: every pair of sets of one or two runs on small circles.
#include "schedule/checker/row_set.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

namespace steadfold::schedule::row_set_test {
namespace {

using Bits = std::uint32_t;

Bits bits_of(const RowRun& run, Count rows) {
  Bits bits = 0;
  for (Count i = 0; i < run.count; ++i) bits |= Bits{1} << (run.first + i) % rows;
  return bits;
}
Bits bits_of(const RowSet& set, Count rows) { return bits_of(set.run, rows) | bits_of(set.apart, rows); }

Count runs_in(Bits bits, Count rows) {
  Count begins = 0;
  for (Count i = 0; i < rows; ++i) begins += (bits >> i & 1) == 1 && (bits >> (i + rows - 1) % rows & 1) == 0;
  return begins == 0 && bits != 0 ? 1 : begins;
}

/// One run, or two that neither overlap nor touch, in both orders.
std::vector<RowSet> all_sets(Count rows) {
  std::vector<RowRun> runs = {RowRun()};
  for (Index first = 0; first < rows; ++first)
    for (Count count = 1; count <= rows; ++count) runs.push_back({first, count});
  std::vector<RowSet> sets(runs.begin(), runs.end());
  for (const RowRun& one : runs) {
    for (const RowRun& other : runs) {
      const Bits both = bits_of(one, rows) | bits_of(other, rows);
      const bool is_apart = static_cast<Count>(std::popcount(both)) == one.count + other.count;
      if (one.count > 0 && other.count > 0 && is_apart && runs_in(both, rows) == 2) sets.emplace_back(one, other);
    }
  }
  return sets;
}

TEST(RowSet, IsTheSetOfItsRows) {
  for (const Count rows : {1, 2, 3, 6, 7}) {
    const Circle circle(rows);
    for (const RowSet& a : all_sets(rows)) {
      for (const RowSet& b : all_sets(rows)) {
        const Bits of_a = bits_of(a, rows);
        const Bits of_b = bits_of(b, rows);
        EXPECT_EQ(circle.same(a, b), of_a == of_b);
        EXPECT_EQ(circle.overlap(a, b), (of_a & of_b) != 0);
        const std::optional<RowSet> both = circle.joined(a, b);
        ASSERT_EQ(both.has_value(), runs_in(of_a | of_b, rows) <= 2);
        if (!both) continue;
        EXPECT_EQ(bits_of(*both, rows), of_a | of_b);
        EXPECT_EQ(both->count(), static_cast<Count>(std::popcount(of_a | of_b)));
        EXPECT_EQ(both->apart.count > 0, runs_in(of_a | of_b, rows) == 2);
      }
    }
  }
}

TEST(RowSet, OneRunFollowsAnother) {
  const Circle circle(7);
  EXPECT_TRUE(circle.follows(RowRun{5, 3}, RowRun{1, 2}));
  EXPECT_FALSE(circle.follows(RowRun{1, 2}, RowRun{5, 3}));
  EXPECT_FALSE(circle.follows(RowSet(RowRun{0, 1}, RowRun{3, 1}), RowRun{1, 1}));
  EXPECT_EQ(circle.joined(RowRun{5, 3}, RowRun{1, 6 - 2})->run.first,
            5u);  // round the circle: it begins with the first
}

}  // namespace
}  // namespace steadfold::schedule::row_set_test
