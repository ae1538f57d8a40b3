// The tree record is a function of the rows alone: any split, any blocks, any merges end in the same bytes, and these
// hold the expressions of [S0]'s recursion. Bytes are compared, never with a tolerance; seeds are printed on failure.
#include "arithmetic/tree/tree.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <numeric>

#include "arithmetic/records.hpp"
#include "order/recursion.hpp"
#include "support/directory.hpp"

namespace steadfold::test::tree_test {
namespace {

using arithmetic::make_tree;
using arithmetic::Operator;

bool full() { return std::getenv("STEADFOLD_FULL") != nullptr; }

// --- strings under bracketed concatenation ---------------------------------------------------------------------------

constexpr Index most_leaves = 48;

struct Expression {
  char text[240];
};

/// Bracketed concatenation: neither associative nor commutative, and it shows its whole history.
int bracket(const void* left, const void* right, void* result, std::size_t count, void* /*context*/) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto& l = static_cast<const Expression*>(left)[i];
    const auto& r = static_cast<const Expression*>(right)[i];
    Expression both{};
    const std::string text = "(" + std::string(l.text) + " " + r.text + ")";
    if (text.size() >= sizeof both.text) return 1;
    std::copy(text.begin(), text.end(), both.text);
    static_cast<Expression*>(result)[i] = both;
  }
  return 0;
}

constexpr Operator bracketing{.apply = bracket, .element_bytes = sizeof(Expression)};

std::vector<Expression> leaves(Index count) {
  std::vector<Expression> elements(count);
  for (Index i = 0; i < count; ++i) {
    const std::string text = std::to_string(i);
    std::copy(text.begin(), text.end(), elements[i].text);
  }
  return elements;
}

std::string node_text(reference::DyadicNode node) {
  const auto leaf = [](Index x) { return std::to_string(x); };
  const auto join = [](const std::string& l, const std::string& r) { return "(" + l + " " + r + ")"; };
  return reference::tree_node(node.start + (Index{1} << node.level), node.start, node.level, leaf, join);
}

void append(Record& to, const void* from, Bytes size) {
  const auto* bytes = static_cast<const std::byte*>(from);
  to.insert(to.end(), bytes, bytes + size);
}

/// The bytes that tree.hpp describes, for disjoint intervals that do not touch.
template <class NodeValue>
Record expected_record(std::vector<Interval> intervals, const NodeValue& node_value) {
  Record values;
  std::uint64_t node_count = 0;
  std::erase_if(intervals, [](Interval interval) { return interval.empty(); });
  for (const Interval interval : intervals) {
    for (const auto node : reference::nodes_from_left(interval.begin, interval.end)) {
      const Record value = node_value(node);
      values.insert(values.end(), value.begin(), value.end());
      ++node_count;
    }
  }
  Record record(16);  // a header: no failure, round 0, digest 0
  const std::uint32_t counts[2] = {static_cast<std::uint32_t>(intervals.size()), 0};
  append(record, counts, sizeof counts);
  append(record, &node_count, sizeof node_count);
  for (const Interval interval : intervals) append(record, &interval, sizeof interval);
  record.insert(record.end(), values.begin(), values.end());
  return record;
}

Record expected_expressions(std::vector<Interval> intervals) {
  return expected_record(std::move(intervals), [](reference::DyadicNode node) {
    const std::string text = node_text(node);
    Record value(sizeof(Expression));
    std::memcpy(value.data(), text.data(), text.size());
    return value;
  });
}

class Expressions : public testing::Test {
 protected:
  Expressions() : table_(table_of(leaves(most_leaves))), kind_(make_tree(bracketing, 1)) {
    for (Index a = 0; a <= most_leaves; ++a) {
      for (Index b = a; b <= most_leaves; ++b) parts_[a][b] = built(*kind_, table_, {{a, b}});
    }
  }

  Table table_;
  std::unique_ptr<PartialKind> kind_;
  Part parts_[most_leaves + 1][most_leaves + 1];
};

TEST_F(Expressions, OfEveryInterval) {
  for (Index a = 0; a <= most_leaves; ++a) {
    for (Index b = a; b <= most_leaves; ++b) {
      ASSERT_TRUE(same(parts_[a][b].record, expected_expressions({{a, b}}))) << a << " to " << b;
    }
  }
}

TEST_F(Expressions, OfEveryPairOfTouchingIntervals) {
  for (Index a = 0; a <= most_leaves; ++a) {
    for (Index b = a; b <= most_leaves; ++b) {
      for (Index c = b; c <= most_leaves; ++c) {
        SCOPED_TRACE(testing::Message() << a << " to " << b << " to " << c);
        ASSERT_TRUE(same(merged(*kind_, parts_[a][b], parts_[b][c]).record, parts_[a][c].record));
        ASSERT_TRUE(same(merged(*kind_, parts_[b][c], parts_[a][b]).record, parts_[a][c].record));
      }
    }
  }
}

/// [a, b) and [c, 48) first, which do not touch, then what is between them.
TEST_F(Expressions, OfIntervalsWithAGapThatIsFilledLater) {
  for (Index a = 0; a <= most_leaves; ++a) {
    for (Index b = a + 1; b < most_leaves; b += 1 + a % 3) {
      for (Index c = b + 1; c < most_leaves; ++c) {
        SCOPED_TRACE(testing::Message() << a << " to " << b << ", " << c << " to " << most_leaves);
        const Part ends = merged(*kind_, parts_[c][most_leaves], parts_[a][b]);
        ASSERT_TRUE(same(ends.record, expected_expressions({{a, b}, {c, most_leaves}})));
        ASSERT_TRUE(same(merged(*kind_, parts_[b][c], ends).record, parts_[a][most_leaves].record));
      }
    }
  }
}

TEST_F(Expressions, OfTheWholeTree) {
  const auto leaf = [](Index x) { return std::to_string(x); };
  const auto join = [](const std::string& l, const std::string& r) { return "(" + l + " " + r + ")"; };
  for (Index n = 1; n <= most_leaves; ++n) {
    for (const Count count : {n, arithmetic::unknown_count}) {
      const Finished whole = finished(*kind_, parts_[0][n].record, count);
      ASSERT_EQ(whole.status, Status::ok) << n;
      ASSERT_EQ(std::string(value_at<Expression>(whole.values).text), reference::tree(n, leaf, join));
    }
  }
  EXPECT_EQ(finished(*kind_, parts_[0][0].record).status, Status::empty);
}

/// The strings were printed by another program.
TEST_F(Expressions, OfTheWholeTreeAsRecorded) {
  std::ifstream file(tests::directory() + "/golden/tree_expressions.txt");
  Index n = 0;
  int lines = 0;
  for (std::string text; file >> n && std::getline(file >> std::ws, text); ++lines) {
    ASSERT_LE(n, most_leaves);
    EXPECT_EQ(std::string(value_at<Expression>(finished(*kind_, parts_[0][n].record, n).values).text), text);
  }
  EXPECT_GE(lines, 8);
}

// --- elements of any size, rows of any width
// ---------------------------------------------------------------------------

/// The value of a node, column by column.
Record mixed_node(const Table& table, Bytes size, reference::DyadicNode node) {
  Record values;
  for (Bytes at = 0; at < table.row_bytes; at += size) {
    const auto leaf = [&](Index x) { return Record(table.row(x) + at, table.row(x) + at + size); };
    const auto op = [size](const Record& l, const Record& r) {
      Record result(size);
      mix_element(l.data(), r.data(), result.data(), size);
      return result;
    };
    const Record column = reference::tree_node(table.begin + table.rows, node.start, node.level, leaf, op);
    values.insert(values.end(), column.begin(), column.end());
  }
  return values;
}

Record expected_mixed(const Table& table, Bytes size, std::vector<Interval> intervals) {
  return expected_record(std::move(intervals),
                         [&](reference::DyadicNode node) { return mixed_node(table, size, node); });
}

template <class Test>
void for_every_shape(const Test& test) {
  for (const Bytes size : {1u, 4u, 8u, 12u, 24u, 40u}) {
    for (const Count columns : {1u, 3u, 17u}) {
      SCOPED_TRACE(testing::Message() << "elements of " << size << " bytes, " << columns << " columns");
      test(size, columns);
      if (testing::Test::HasFailure()) return;
    }
  }
}

/// The smallest case of "the same bytes": four bytes of values, then four that nobody may leave as they were.
TEST(TreeShapes, ArePaddedWithZeros) {
  Watch watch{.size = 4};
  const Operator op = mixing(watch);
  const auto kind = make_tree(op, 1);
  const Table table{.begin = 0, .rows = 1, .row_bytes = 4, .stride = 4, .bytes = Record(16)};
  const Record record = built(*kind, table, {{0, 1}}).record;
  EXPECT_TRUE(same(std::span(record).subspan(36, 4), Record(4)));
}

TEST(TreeShapes, AreFoldedFromAnyFirstIndex) {
  constexpr Index far = (Index{1} << 40) + 3;
  std::mt19937_64 random(1);
  for_every_shape([&](Bytes size, Count columns) {
    Watch watch{.size = size};
    const Operator op = mixing(watch);
    const auto kind = make_tree(op, columns);
    const auto builder = kind->builder();
    for (const Index begin : {Index{0}, Index{1}, Index{63}, Index{64}, Index{65}, far}) {
      for (const Count rows : {0u, 1u, 2u, 7u, 8u, 9u, 63u, 64u, 65u, 100u, 129u, 200u}) {
        const Table table = random_table(random, begin, rows, size * columns);
        const std::vector<Interval> all = {{begin, begin + rows}};
        ASSERT_TRUE(same(built(*kind, *builder, table, all).record, expected_mixed(table, size, all)))
            << rows << " rows from " << begin;
      }
    }
    EXPECT_EQ(watch.fault, "");
  });
}

/// Rows that are part of wider ones, in blocks of any size, in any order of indices.
TEST(TreeShapes, AreTheSameFromAnyBlocks) {
  for_every_shape([](Bytes size, Count columns) {
    Watch watch{.size = size};
    const Operator op = mixing(watch);
    const auto kind = make_tree(op, columns);
    const auto builder = kind->builder();
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      std::mt19937_64 random(seed);
      const Index begin = random() % 2 == 0 ? 0 : random() % 100;
      const Count rows = random() % 300;
      const Table table = random_table(random, begin, rows, size * columns, size * (columns + random() % 3));
      const std::vector<std::byte> copy = table.bytes;
      std::vector<Interval> blocks;
      for (Index at = begin; at < begin + rows;) {
        blocks.push_back({at, std::min(begin + rows, at + random() % 40)});
        at = blocks.back().end;
      }
      if (seed % 2 == 0) std::shuffle(blocks.begin(), blocks.end(), random);
      ASSERT_TRUE(
          same(built(*kind, *builder, table, blocks).record, expected_mixed(table, size, {{begin, begin + rows}})));
      EXPECT_EQ(table.bytes, copy) << "the input was written";
    }
    EXPECT_EQ(watch.fault, "");
  });
}

// --- layouts
// -----------------------------------------------------------------------------------------------------------

/// Intervals of 0..n-1 dealt to p workers: cyclic blocks, shuffled pieces, or runs in rank order, some of them empty.
std::vector<std::vector<Interval>> random_deal(std::mt19937_64& random, Index n, std::size_t p) {
  std::vector<std::vector<Interval>> dealt(p);
  const auto kind = random() % 3;
  const Index block = 1 + random() % 9;
  std::size_t worker = 0;
  for (Index at = 0; at < n;) {
    const Index size = kind == 0 ? block : kind == 1 ? 1 + random() % 20 : random() % (2 * n / p + 2);
    const Interval piece{at, std::min(n, at + size)};
    at = piece.end;
    if (kind == 2 && worker == p - 1) at = n;
    dealt[kind == 1 ? random() % p : worker].push_back({piece.begin, at});
    if (kind == 0) worker = (worker + 1) % p;
    if (kind == 2 && worker + 1 < p) ++worker;
  }
  for (auto& pieces : dealt) std::shuffle(pieces.begin(), pieces.end(), random);
  return dealt;
}

TEST(TreeLayouts, AndMergesOfAnyKindEndInTheSameBytes) {
  const std::uint64_t rounds = full() ? 20000 : 1500;
  Watch watch{.size = 16};
  const Operator op = mixing(watch);
  const auto kind = make_tree(op, 1);
  const auto builder = kind->builder();
  for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const Count n = random() % (seed % 10 == 0 ? 2000 : 150);
    const std::size_t p = 1 + random() % 64;
    const Table table = random_table(random, 0, n, watch.size);
    std::vector<Part> parts;
    for (const auto& pieces : random_deal(random, n, p)) {
      parts.push_back(built(*kind, *builder, table, pieces));
      if (pieces.size() < 4 || random() % 4 != 0) continue;
      std::vector<Interval> sorted = pieces;  // rows again, pushed in another order
      std::sort(sorted.begin(), sorted.end());
      ASSERT_TRUE(same(built(*kind, *builder, table, sorted).record, parts.back().record));
    }
    const Record whole = built(*kind, *builder, table, std::vector<Interval>{{0, n}}).record;
    for (int order = 0; order < 2; ++order) {
      ASSERT_TRUE(same(merged_at_random(*kind, parts, random).record, whole)) << n << " rows on " << p;
    }
    if (n == 0) continue;
    const Record root = mixed_node(table, 16, {0, order::ceil_log2(n)});
    ASSERT_TRUE(same(finished(*kind, whole, n).values, root)) << n << " rows on " << p;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_EQ(watch.fault, "");
}

/// Every way to bracket and to order the merges of four parts, two of them with holes and one empty.
TEST(TreeLayouts, EveryBracketingOfFewParts) {
  Watch watch{.size = 12};
  const Operator op = mixing(watch);
  const auto kind = make_tree(op, 3);
  std::mt19937_64 random(9);
  const Table table = random_table(random, 0, 37, 36);
  const std::vector<Part> parts = {built(*kind, table, {{5, 9}, {0, 3}}), built(*kind, table, {}),
                                   built(*kind, table, {{30, 37}, {3, 5}, {12, 13}}),
                                   built(*kind, table, {{9, 12}, {13, 30}})};
  const Record whole = expected_mixed(table, 12, {{0, 37}});
  std::vector<std::size_t> at = {0, 1, 2, 3};
  do {
    const Part &a = parts[at[0]], &b = parts[at[1]], &c = parts[at[2]], &d = parts[at[3]];
    const auto m = [&](const Part& l, const Part& r) { return merged(*kind, l, r); };
    for (const Part& all :
         {m(m(m(a, b), c), d), m(m(a, m(b, c)), d), m(m(a, b), m(c, d)), m(a, m(m(b, c), d)), m(a, m(b, m(c, d)))}) {
      ASSERT_TRUE(same(all.record, whole)) << at[0] << at[1] << at[2] << at[3];
    }
  } while (std::next_permutation(at.begin(), at.end()));
}

TEST(TreeLayouts, BuildersAreClearedAndUsedAgain) {
  Watch watch{.size = 24};
  const Operator op = mixing(watch);
  const auto kind = make_tree(op, 1);
  const auto builder = kind->builder();
  std::mt19937_64 random(10);
  for (int round = 0; round < 50; ++round) {
    SCOPED_TRACE(testing::Message() << "seed 10, round " << round);
    const Count rows = random() % 200;
    const Table table = random_table(random, 0, rows, 24);
    const Part part = built(*kind, *builder, table, std::vector<Interval>{{0, rows}});
    EXPECT_TRUE(same(part.record, expected_mixed(table, 24, {{0, rows}})));
    EXPECT_TRUE(same(written(*kind, *builder, part.rows), part.record)) << "written twice";
    builder->clear();
    EXPECT_TRUE(same(written(*kind, *builder, {}), expected_mixed(table, 24, {})));
  }
}

TEST(TreeLayouts, KeepTheDigestAndGiveTheMostThatTheyPromise) {
  Watch watch{.size = 8};
  const Operator op = mixing(watch);
  const auto kind = make_tree(op, 2);
  EXPECT_EQ(kind->value_bytes(), 16u);
  EXPECT_EQ(kind->added_words(), nullptr);
  std::mt19937_64 random(11);
  const Table table = random_table(random, 0, 64, 16);
  Part left = built(*kind, table, {{0, 31}});
  Part right = built(*kind, table, {{31, 64}});
  EXPECT_EQ(left.record.size(), kind->capacity(left.rows));
  EXPECT_EQ(left.record.size(), 32 + 5 * 16 + 16u);
  arithmetic::set_header(left.record, {.digest = 0x1234567890ABCDEF});
  arithmetic::set_header(right.record, {.digest = 0x1234567890ABCDEF});
  const Header header = arithmetic::header_of(merged(*kind, left, right).record);
  EXPECT_EQ(header.digest, 0x1234567890ABCDEFu);
  EXPECT_EQ(header.status, Status::ok);
}

}  // namespace
}  // namespace steadfold::test::tree_test
