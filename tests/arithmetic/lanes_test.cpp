// The tree with lanes: against the parenthesised expression, for all lengths, however rows are divided and merged.
#include "arithmetic/tree/lanes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "arithmetic/records.hpp"
#include "arithmetic/tree/tree.hpp"
#include "order/laps.hpp"
#include "support/lanes.hpp"
#include "support/sanitized.hpp"

namespace steadfold::test::lanes_test {
namespace {

using arithmetic::make_tree_with_lanes;
using arithmetic::Operation;
using arithmetic::Operator;
using arithmetic::Type;

constexpr Count lane_counts[] = {2, 3, 5, 8, 16, 128, 1024};

using Element = std::vector<std::byte>;

/// The expression of one column of a table, in bytes that only copying and combining can make.
Element expected_column(const Table& table, Count lanes, Count column, Bytes size) {
  std::vector<Element> elements;
  for (Index row = 0; row < table.rows; ++row) {
    const std::byte* const from = table.row(row) + column * size;
    elements.emplace_back(from, from + size);
  }
  return reference::of_lanes(elements, lanes, [&](const Element& left, const Element& right) {
    Element result(size);
    mix_element(left.data(), right.data(), result.data(), size);
    return result;
  });
}

/// Cuts rows into intervals and deals them to a few parts.
std::vector<std::vector<Interval>> dealt(std::mt19937_64& random, Count rows) {
  std::vector<std::vector<Interval>> parts(1 + random() % 5);
  const Count longest = 1 + random() % (rows / (1 + random() % 8) + 1);
  for (Index begin = 0; begin < rows;) {
    const Index end = std::min(rows, begin + 1 + random() % longest);
    parts[random() % parts.size()].push_back({begin, end});
    begin = end;
  }
  for (auto& part : parts)
    if (random() % 4 == 0) std::shuffle(part.begin(), part.end(), random);
  return parts;
}

/// Merges parts two by two in any order, in no more room than the sum of what they need by themselves.
Part merged_in_sum_of_rooms(const PartialKind& kind, std::vector<Part> parts, std::mt19937_64& random) {
  std::vector<Bytes> rooms;
  for (const Part& part : parts) rooms.push_back(kind.working_capacity(part.rows));
  while (parts.size() > 1) {
    const std::size_t other = random() % (parts.size() - 1);
    rooms[other] += rooms.back();
    Guarded out(rooms[other]);
    EXPECT_TRUE(parts[other].rows.add(parts.back().rows));
    parts[other].record = out.taken(merge(kind, parts[other].record, parts.back().record, out.room()));
    parts.pop_back();
    rooms.pop_back();
  }
  return parts.front();
}

/// An operator that is neither associative nor commutative shows which values are combined, and in which order.
void expect_expression(std::mt19937_64& random, Count rows, Count lanes, Count columns, Bytes size) {
  SCOPED_TRACE(testing::Message() << rows << " rows, " << lanes << " lanes, " << columns << " columns of " << size);
  Watch watch{.size = size};
  const Operator op = mixing(watch);
  const auto kind = make_tree_with_lanes(op, columns, lanes);
  const Bytes row_bytes = columns * size;
  const Table table = random_table(random, 0, rows, row_bytes, row_bytes + (random() % 3 == 0 ? size : 0));
  std::vector<Part> parts;
  for (const auto& intervals : dealt(random, rows)) parts.push_back(built(*kind, table, intervals));
  const Part whole = built(*kind, table, {{0, rows}});
  ASSERT_TRUE(same(merged_in_sum_of_rooms(*kind, parts, random).record, whole.record));
  ASSERT_TRUE(same(merged_at_random(*kind, parts, random).record, whole.record));
  const Finished result = finished(*kind, whole.record, rows);
  ASSERT_EQ(result.status, Status::ok);
  for (Count column = 0; column < columns; ++column) {
    const auto found = std::span(result.values).subspan(column * size, size);
    ASSERT_TRUE(same(found, expected_column(table, lanes, column, size))) << "column " << column;
  }
  const auto builder = kind->builder();
  builder->clear();
  builder->push(0, table.block(0, rows));
  Record values(row_bytes), spare(row_bytes);
  ASSERT_EQ(builder->finish_alone(rows, values.data(), spare.data()), Status::ok);
  ASSERT_TRUE(same(values, result.values));
  ASSERT_EQ(watch.fault, "");
}

TEST(Lanes, OfEveryLengthGiveTheExpression) {
  std::mt19937_64 random(41);
  for (const Count lanes : lane_counts)
    for (Count rows = 1; rows <= 600; rows += sanitized || lanes == 1024 ? 37 : 1)
      ASSERT_NO_FATAL_FAILURE(expect_expression(random, rows, lanes, 1, 8));
}

TEST(Lanes, OfRowsAndOfElementsOfAnySizeGiveTheExpression) {
  std::mt19937_64 random(42);
  for (int i = 0; i < 150; ++i) {
    const Count lanes = lane_counts[random() % 6];
    ASSERT_NO_FATAL_FAILURE(expect_expression(random, 1 + random() % 300, lanes, 1 + random() % 9, 1 + random() % 40));
  }
  ASSERT_NO_FATAL_FAILURE(expect_expression(random, 3000, 1024, 1, 4));
  ASSERT_NO_FATAL_FAILURE(expect_expression(random, 100, 16, 3, 1000));
  ASSERT_NO_FATAL_FAILURE(expect_expression(random, 64, 8, 1, 20000));  // more than the stack is used for
  ASSERT_NO_FATAL_FAILURE(expect_expression(random, 70, 5, 700, 8));
}

template <class T>
void expect_numbers(Operation operation, const std::vector<T>& x, const auto& op) {
  const auto& own = arithmetic::built_in(operation, type_of<T>);
  std::mt19937_64 random(x.size());
  for (const Count lanes : lane_counts) {
    SCOPED_TRACE(testing::Message() << x.size() << " elements, " << lanes << " lanes");
    const auto kind = make_tree_with_lanes(own, 1, lanes);
    const Table table = table_of(x);
    std::vector<Part> parts;
    for (const auto& intervals : dealt(random, x.size())) parts.push_back(built(*kind, table, intervals));
    const Finished found = finished(*kind, merged_at_random(*kind, parts, random).record, x.size());
    const T due = reference::of_lanes(x, lanes, op);
    if (due != due) {
      ASSERT_NE(value_at<T>(found.values), value_at<T>(found.values));
    } else {
      ASSERT_EQ(bits_of(value_at<T>(found.values)), bits_of(due));
    }
    const auto builder = kind->builder();
    builder->clear();
    builder->push(0, table.block(0, x.size()));
    Record values(sizeof(T)), spare(sizeof(T));
    ASSERT_EQ(builder->finish_alone(x.size(), values.data(), spare.data()), Status::ok);
    ASSERT_TRUE(same(values, found.values));
  }
}

/// The paper's hostile generators: cancellation, exponents far apart, Kahan's case, subnormals, uniform numbers.
std::vector<double> hostile(std::mt19937_64& random, int generator, Count count) {
  std::vector<double> x(count);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (Count i = 0; i < count; ++i) {
    const double u = uniform(random);
    switch (generator) {
      case 0: x[i] = (i % 2 == 0 ? 1 : -1) * (1e16 + u); break;
      case 1: x[i] = std::ldexp(u, static_cast<int>(random() % 1200) - 600); break;
      case 2: x[i] = i == 0 ? 1 : 1e-16 * (2 + u); break;
      case 3: x[i] = u * 0x1p-1060; break;
      default: x[i] = u;
    }
  }
  return x;
}

TEST(Lanes, OfHostileNumbersGiveTheExpression) {
  std::mt19937_64 random(43);
  int other_than_tree = 0;
  for (int generator = 0; generator < 5; ++generator) {
    for (const Count count : {1, 2, 7, 15, 16, 17, 127, 129, 1000, 1023, 1025, 4097, 10007}) {
      const std::vector<double> x = hostile(random, generator, count);
      ASSERT_NO_FATAL_FAILURE(expect_numbers<double>(Operation::sum, x, [](double a, double b) { return a + b; }));
      const auto add = [](double a, double b) { return a + b; };
      other_than_tree += reference::of_lanes(x, 16, add) != reference::of_lanes(x, 1, add);
    }
  }
  EXPECT_GT(other_than_tree, 10) << "these data show no order";
}

TEST(Lanes, OfEveryTypeGiveTheExpression) {
  std::mt19937_64 random(44);
  for (const Count count : {1, 5, 63, 64, 1000, 3333}) {
    std::vector<float> floats(count);
    std::vector<double> doubles(count);
    std::vector<std::int64_t> integers(count);
    for (float& x : floats) x = static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-20F;
    for (double& x : doubles) x = 1 + static_cast<double>(random() % 1000) / 1e5;
    for (auto& x : integers) x = static_cast<std::int64_t>(random());
    ASSERT_NO_FATAL_FAILURE(expect_numbers(Operation::sum, floats, [](float a, float b) { return a + b; }));
    ASSERT_NO_FATAL_FAILURE(expect_numbers(Operation::product, doubles, [](double a, double b) { return a * b; }));
    ASSERT_NO_FATAL_FAILURE(expect_numbers(Operation::max, integers, [](auto a, auto b) { return std::max(a, b); }));
    doubles[count / 2] = std::numeric_limits<double>::quiet_NaN();
    ASSERT_NO_FATAL_FAILURE(expect_numbers(Operation::sum, doubles, [](double a, double b) { return a + b; }));
  }
}

TEST(Lanes, OnlyNegativeZerosGiveANegativeZero) {
  for (const Count count : {1, 3, 16, 40}) {
    const std::vector<double> x(count, -0.0);
    expect_numbers<double>(Operation::sum, x, [](double a, double b) { return a + b; });
  }
}

TEST(Lanes, FaultsOfRowsAreFound) {
  const auto& op = arithmetic::built_in(Operation::sum, Type::f64);
  const auto kind = make_tree_with_lanes(op, 1, 16);
  const Table table = table_of(std::vector<double>(100, 1.5));
  const Part first = built(*kind, table, {{0, 40}});
  const Part second = built(*kind, table, {{39, 100}});
  Guarded out(kind->working_capacity(IntervalSet({0, 200})));
  EXPECT_EQ(status_of(out.room().first(merge(*kind, first.record, second.record, out.room()))), Status::overlap);
  const Part gap = merged(*kind, first, built(*kind, table, {{41, 100}}));
  EXPECT_EQ(finished(*kind, gap.record).status, Status::gap);
  EXPECT_EQ(finished(*kind, first.record, 41).status, Status::gap);
  EXPECT_EQ(finished(*kind, first.record, 39).status, Status::overlap);
  for (Bytes size = 0; size < first.record.size(); ++size) {  // a message that ends early
    const auto part = std::span<const std::byte>(first.record).first(size);
    if (size >= sizeof(Header)) {
      EXPECT_NE(finished(*kind, {part.begin(), part.end()}).status, Status::ok) << size;
    }
  }
  const Part none = built(*kind, table, {});
  EXPECT_EQ(value_at<double>(finished(*kind, none.record, 0).values), 0);
}

TEST(Lanes, AnOperatorThatFailsEndsEachStep) {
  std::mt19937_64 random(45);
  for (std::uint64_t fail_at = 1; fail_at < 60; ++fail_at) {
    Watch watch{.size = 8};
    const Operator op = mixing(watch);
    const auto kind = make_tree_with_lanes(op, 1, 3);
    const Table table = random_table(random, 0, 50, 8);
    watch.fail_at = fail_at;
    const Part left = built(*kind, table, {{0, 20}});
    const Part right = built(*kind, table, {{20, 50}});
    Guarded out(kind->working_capacity(IntervalSet({0, 50})));
    const Record both = out.taken(merge(*kind, left.record, right.record, out.room()));
    const Status status = status_of(both) == Status::ok ? finished(*kind, both).status : status_of(both);
    EXPECT_EQ(status, watch.calls >= fail_at ? Status::operator_failed : Status::ok) << fail_at;
  }
}

TEST(Lanes, BoundsForNodesAreExact) {
  Count most = 0;
  for (Count size = 1; size <= 300; ++size) {
    for (Index begin = 0; begin < 1024; ++begin) most = std::max(most, order::node_count({begin, begin + size}));
    EXPECT_EQ(order::most_nodes_of(size), most) << size;
  }
  EXPECT_EQ(order::most_nodes_of(0), 0U);
}

}  // namespace
}  // namespace steadfold::test::lanes_test
