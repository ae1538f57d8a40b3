// Merges of tree records that a plan prepares, against those that look at every record anew: equal bytes and values,
// whatever the operator, the width and the intervals; and no answer for records that are not as expected.
#include <gtest/gtest.h>

#include "arithmetic/records.hpp"
#include "arithmetic/tree/tree.hpp"

namespace steadfold::test::tree_merge_test {
namespace {

using arithmetic::built_in;
using arithmetic::make_tree;
using arithmetic::Operation;
using arithmetic::Operator;
using arithmetic::Partial;
using arithmetic::PreparedMerge;
using arithmetic::Type;

constexpr std::uint64_t digest = 0x1234'5678'9abc'def0;

Part part_of(const PartialKind& kind, const Table& table, const std::vector<Interval>& rows) {
  Part part = built(kind, table, rows);
  arithmetic::set_header(part.record, {.digest = digest});
  return part;
}

/// The records of two ranks, in either order.
struct Pair {
  Part left;
  Part right;
};

Pair pair_of(const PartialKind& kind, const Table& table, const std::vector<Interval>& first,
             const std::vector<Interval>& second, std::mt19937_64& random) {
  Pair pair{part_of(kind, table, first), part_of(kind, table, second)};
  if (random() % 2 == 0) std::swap(pair.left, pair.right);
  return pair;
}

void compare_merges(const PartialKind& kind, PreparedMerge& prepared, const Pair& pair) {
  const Part expected = merged(kind, pair.left, pair.right);
  Guarded out(kind.working_capacity(expected.rows));
  const Record found = out.taken(prepared.merge(pair.left.record, pair.right.record, out.room()));
  EXPECT_TRUE(same(found, expected.record));
}

/// In one piece, and to a place of its own.
void compare_values(const PartialKind& kind, PreparedMerge& prepared, const Pair& pair) {
  const Part whole = merged(kind, pair.left, pair.right);
  const Finished expected = finished(kind, whole.record);
  ASSERT_EQ(expected.status, Status::ok);
  Guarded value(sizeof(Header) + kind.value_bytes());
  const Record found = value.taken(prepared.finish(pair.left.record, pair.right.record, {value.room()}));
  ASSERT_EQ(found.size(), sizeof(Header) + kind.value_bytes());
  EXPECT_EQ(arithmetic::header_of(found).digest, digest);
  EXPECT_EQ(status_of(found), Status::ok);
  EXPECT_TRUE(same(std::span(found).subspan(sizeof(Header)), expected.values));
  Guarded head(sizeof(Header));
  Guarded values(kind.value_bytes());
  const arithmetic::Room apart{head.room(), values.room()};
  EXPECT_EQ(prepared.finish(pair.left.record, pair.right.record, apart), sizeof(Header));
  EXPECT_TRUE(same(values.taken(kind.value_bytes()), expected.values));
  EXPECT_TRUE(head.intact());
}

/// Of two different NaNs an addition gives either, as the compiler has it, so all become the one that the processor
/// makes.
template <class T>
void make_nans_alike(Table& table) {
  volatile T infinity = std::numeric_limits<T>::infinity();
  const T made = infinity - infinity;
  for (Bytes at = 0; at + sizeof(T) <= table.bytes.size(); at += sizeof(T)) {
    T each;
    std::memcpy(&each, &table.bytes[at], sizeof(T));
    if (each != each) std::memcpy(&table.bytes[at], &made, sizeof(T));
  }
}

/// The type says whether there are NaNs that an operator could tell apart.
void compare(const Operator& op, std::mt19937_64& random, Type type = Type::i32) {
  const Count columns = random() % 3 == 0 ? 2 + random() % 4 : 1;
  const auto kind = make_tree(op, columns);
  const Index begin = random() % 2 == 0 ? 0 : random() % 5000;
  const Count most = std::array<Count, 3>{2, 40, 3000}[random() % 3];
  const Interval lower{begin, begin + 1 + random() % most};
  const Interval upper{lower.end, lower.end + 1 + random() % most};
  Table table = random_table(random, begin, upper.end - begin, columns * op.element_bytes);
  if (type == Type::f64) make_nans_alike<double>(table);
  if (type == Type::f32) make_nans_alike<float>(table);
  const Pair pair = pair_of(*kind, table, {lower}, {upper}, random);
  const auto prepared = kind->prepare_merge(pair.left.rows, pair.right.rows, digest);
  ASSERT_NE(prepared, nullptr);
  SCOPED_TRACE(testing::Message() << "[" << lower.begin << ", " << lower.end << ", " << upper.end << ") x " << columns);
  compare_merges(*kind, *prepared, pair);
  if (begin == 0) compare_values(*kind, *prepared, pair);
}

TEST(PreparedTreeMerge, GivesTheBytesOfAMergeThatLooks) {
  constexpr Operation operations[] = {Operation::sum, Operation::product, Operation::min, Operation::max};
  constexpr Type types[] = {Type::f64, Type::f32, Type::i32, Type::u64};
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const Type type = types[random() % std::size(types)];
    compare(built_in(operations[random() % std::size(operations)], type), random, type);
    if (testing::Test::HasFailure()) return;
  }
}

/// All pairs of neighbours up to 40 rows: every way in which nodes can meet.
TEST(PreparedTreeMerge, GivesThemForAllSmallPairs) {
  std::mt19937_64 random(5);
  const auto kind = make_tree(built_in(Operation::sum, Type::f32), 1);
  const Table table = random_table(random, 0, 40, sizeof(float));
  for (Index begin = 0; begin < 38; ++begin) {
    for (Index middle = begin + 1; middle < 39; ++middle) {
      for (Index end = middle + 1; end <= 40; ++end) {
        const Pair pair = pair_of(*kind, table, {{begin, middle}}, {{middle, end}}, random);
        const auto prepared = kind->prepare_merge(pair.left.rows, pair.right.rows, digest);
        ASSERT_NE(prepared, nullptr);
        compare_merges(*kind, *prepared, pair);
        if (begin == 0) compare_values(*kind, *prepared, pair);
        ASSERT_FALSE(HasFailure()) << begin << ", " << middle << ", " << end;
      }
    }
  }
}

/// Many intervals per rank, some of which touch, and rows that neither rank has.
TEST(PreparedTreeMerge, GivesThemForManyIntervals) {
  constexpr Operation operations[] = {Operation::sum, Operation::product, Operation::max};
  int with_gaps = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const Count columns = random() % 4 == 0 ? 3 : 1;
    const auto kind = make_tree(built_in(operations[random() % std::size(operations)], Type::i32), columns);
    const Index begin = random() % 2 == 0 ? 0 : random() % 5000;
    const bool has_gaps = random() % 3 == 0;
    std::vector<Interval> of_ranks[2];
    Index end = begin;
    for (Count intervals = 2 + random() % 60; intervals > 0; --intervals) {
      const Interval rows{end, end + 1 + random() % 30};
      end = rows.end;
      if (!has_gaps || random() % 5 > 0) of_ranks[random() % 2].push_back(rows);
    }
    if (of_ranks[0].empty() || of_ranks[1].empty()) continue;
    const Table table = random_table(random, begin, end - begin, columns * sizeof(std::int32_t));
    const Pair pair = pair_of(*kind, table, of_ranks[0], of_ranks[1], random);
    const auto prepared = kind->prepare_merge(pair.left.rows, pair.right.rows, digest);
    ASSERT_NE(prepared, nullptr);
    compare_merges(*kind, *prepared, pair);
    if (begin == 0 && !has_gaps) compare_values(*kind, *prepared, pair);
    with_gaps += has_gaps ? 1 : 0;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(with_gaps, 100);
}

/// One bit of a head, a few bytes too many or too few, an operand that failed, the other operand: all are left to the
/// merge that looks.
TEST(PreparedTreeMerge, LeavesOtherRecordsAlone) {
  std::mt19937_64 random(7);
  const auto kind = make_tree(built_in(Operation::sum, Type::f64), 1);
  const Table table = random_table(random, 0, 12, sizeof(double));
  const Part left = part_of(*kind, table, {{0, 5}});
  const Part right = part_of(*kind, table, {{5, 12}});
  const auto prepared = kind->prepare_merge(left.rows, right.rows, digest);
  ASSERT_NE(prepared, nullptr);
  Guarded out(1000);
  Guarded value(sizeof(Header) + sizeof(double));
  const auto takes = [&](const Record& a, const Record& b) {
    const bool merges = prepared->merge(a, b, out.room()) > 0;
    EXPECT_EQ(prepared->finish(a, b, {value.room()}) > 0, merges);
    return merges;
  };
  EXPECT_TRUE(takes(left.record, right.record));
  EXPECT_FALSE(takes(right.record, left.record));
  EXPECT_FALSE(takes(left.record, left.record));
  EXPECT_FALSE(takes(left.record, {}));
  const Bytes head = kind->values_apart()->head_bytes(left.record);
  for (Bytes bit = 0; bit < 8 * head; ++bit) {
    Record damaged = left.record;
    damaged[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_FALSE(takes(damaged, right.record)) << "bit " << bit;
    EXPECT_FALSE(takes(left.record, damaged)) << "bit " << bit;
  }
  for (Bytes size = 0; size < left.record.size() + 20; ++size) {
    Record cut = left.record;
    cut.resize(size);
    EXPECT_EQ(takes(cut, right.record), size == left.record.size()) << size << " bytes";
  }
  // The merged record has 2 nodes: a room for fewer is refused.
  for (Count nodes = 0; nodes < 4; ++nodes) {
    const auto room = out.room().first(head + nodes * sizeof(double));
    EXPECT_EQ(prepared->merge(left.record, right.record, room) > 0, nodes >= 2) << "room for " << nodes << " nodes";
  }
}

TEST(PreparedTreeMerge, IsNotOfferedWhereItCannotBe) {
  Watch watch{.size = 8};
  const Operator users = mixing(watch);
  const Operator& sum = built_in(Operation::sum, Type::f64);
  const IntervalSet first(Interval{0, 3});
  const IntervalSet second(Interval{3, 5});
  const IntervalSet overlapping(Interval{2, 6});
  EXPECT_EQ(make_tree(users, 1)->prepare_merge(first, second, digest), nullptr) << "the operator may fail";
  EXPECT_EQ(make_tree(built_in(Operation::sum, Type::long_double), 1)->prepare_merge(first, second, digest), nullptr);
  EXPECT_EQ(make_tree(sum, 1)->prepare_merge(first, overlapping, digest), nullptr);
  EXPECT_EQ(make_tree(sum, 8192)->prepare_merge(first, second, digest), nullptr) << "too many values";
  EXPECT_EQ(make_tree(sum, 1)->prepare_merge(first, {}, digest), nullptr) << "no rows";
  EXPECT_NE(make_tree(sum, 1)->prepare_merge(first, second, digest), nullptr);
}

}  // namespace
}  // namespace steadfold::test::tree_merge_test
