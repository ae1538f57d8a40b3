// The plain partial is a left fold, as std::accumulate does it, and a merge one more operation: the control's bits.
#include "arithmetic/plain.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "arithmetic/ieee.hpp"
#include "arithmetic/records.hpp"

namespace steadfold::test::plain_test {
namespace {

using arithmetic::built_in;
using arithmetic::make_plain;
using arithmetic::Operation;
using arithmetic::Operator;
using arithmetic::Type;
using arithmetic::unknown_count;

template <class T>
class Plain : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Plain, Floats);

TYPED_TEST(Plain, IsStdAccumulateFromTheFirstElement) {
  using T = TypeParam;
  std::mt19937_64 random(1);
  const std::vector<T> specials = special_values<T>();
  for (std::size_t n = 1; n <= 300; ++n) {
    std::vector<T> elements = wide_values<T>(random, n);
    if (n % 3 == 0) elements[random() % n] = specials[random() % specials.size()];
    const Table table = table_of(elements);
    const T sum = std::accumulate(elements.begin() + 1, elements.end(), elements[0]);
    const T product = std::accumulate(elements.begin() + 1, elements.end(), elements[0], std::multiplies<T>());
    for (const auto& blocks : {std::vector<Interval>{{0, n}}, {{0, n / 3}, {n / 3, n / 3}, {n / 3, n}}}) {
      for (const auto& [operation, expected] : {std::pair(Operation::sum, sum), {Operation::product, product}}) {
        const auto kind = make_plain(built_in(operation, type_of<T>), 1);
        const Finished whole = finished(*kind, built(*kind, table, blocks).record, n);
        ASSERT_EQ(whole.status, Status::ok);
        ASSERT_EQ(bits_of(value_at<BitsOf<T>>(whole.values)), bits_of(canonical_bits(expected))) << n;
      }
    }
  }
}

TYPED_TEST(Plain, FoldsEveryColumnAndStridedRows) {
  using T = TypeParam;
  std::mt19937_64 random(2);
  const std::vector<T> elements = wide_values<T>(random, 5 * 40);
  Table table = table_of(elements, 0, 5);
  table.row_bytes = 3 * sizeof(T);
  const auto three = make_plain(built_in(Operation::sum, type_of<T>), 3);
  const auto one = make_plain(built_in(Operation::sum, type_of<T>), 1);
  for (std::size_t n = 1; n <= 40; ++n) {
    const Record values = finished(*three, built(*three, table, {{0, n}}).record, n).values;
    for (std::size_t column = 0; column < 3; ++column) {
      T sum = elements[column];
      for (std::size_t i = 1; i < n; ++i) sum += elements[5 * i + column];
      ASSERT_EQ(bits_of(value_at<T>(values, column)), bits_of(sum)) << n;
      if (column == 0) {
        ASSERT_EQ(bits_of(value_at<T>(finished(*one, built(*one, table, {{0, n}}).record).values)), bits_of(sum)) << n;
      }
    }
  }
}

TYPED_TEST(Plain, OfZerosAndOfNothing) {
  using T = TypeParam;
  const auto sum = make_plain(built_in(Operation::sum, type_of<T>), 1);
  const std::vector<T> zeros(70, -T{0});
  for (const std::size_t n : {1u, 2u, 70u}) {
    const Part part = built(*sum, table_of(zeros), {{0, n}});
    EXPECT_EQ(bits_of(value_at<T>(finished(*sum, part.record).values)), bits_of(-T{0})) << n;
    const Part nothing = built(*sum, table_of(zeros), {});
    for (const Part& both : {merged(*sum, part, nothing), merged(*sum, nothing, part)}) {
      EXPECT_TRUE(same(both.record, part.record)) << "nothing is seeded with +0.0";
    }
  }
  for (const Operation operation : {Operation::sum, Operation::product, Operation::min, Operation::max}) {
    const auto kind = make_plain(built_in(operation, type_of<T>), 1);
    const Finished whole = finished(*kind, built(*kind, table_of(zeros), {}).record);
    const bool has_neutral = operation == Operation::sum || operation == Operation::product;
    EXPECT_EQ(whole.status, has_neutral ? Status::ok : Status::empty);
    if (has_neutral) {
      EXPECT_EQ(bits_of(value_at<T>(whole.values)), bits_of(operation == Operation::sum ? T{0} : T{1}));
    }
  }
}

/// Where the operator has no order, no merge has one either; else splitting shows in the bits.
TYPED_TEST(Plain, SaysWhetherOrderShows) {
  using T = TypeParam;
  const std::vector<T> specials = special_values<T>();
  for (const Operation operation : {Operation::sum, Operation::product, Operation::min, Operation::max}) {
    const bool order_free = operation == Operation::min || operation == Operation::max;
    const auto kind = make_plain(built_in(operation, type_of<T>), 1);
    EXPECT_EQ(built_in(operation, type_of<T>).order_free, order_free);
    EXPECT_EQ(kind->added_words(), nullptr);
    std::size_t most = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      std::mt19937_64 random(seed);
      std::vector<T> elements(200);
      for (T& x : elements) {
        const T near_one = T(0.75) + static_cast<T>(random() % 1024) / 2048;  // so that no product leaves the range
        x = operation == Operation::product ? near_one : wide_value<T>(random);
      }
      if (order_free && seed % 2 == 0) elements[random() % 200] = specials[random() % specials.size()];
      std::set<BitsOf<T>> found;
      for (int split = 0; split < 10; ++split) {
        std::vector<Part> parts;
        for (Index at = 0; at < 200;) {
          const Index end = std::min<Index>(200, at + 1 + random() % 60);
          parts.push_back(built(*kind, table_of(elements), {{at, end}}));
          at = end;
        }
        found.insert(value_at<BitsOf<T>>(finished(*kind, merged_at_random(*kind, parts, random).record, 200).values));
      }
      if (order_free) {
        EXPECT_EQ(found.size(), 1u) << arithmetic::name_of(operation) << ", seed " << seed;
      }
      most = std::max(most, found.size());
    }
    if (!order_free) {
      EXPECT_GT(most, 1u) << "the control: this data shows no order";
    }
  }
}

TEST(PlainIntegers, HaveNoOrder) {
  for (const Operation operation : {Operation::sum, Operation::product, Operation::min, Operation::max}) {
    for (const Type type : {Type::i32, Type::i64, Type::u32, Type::u64}) {
      EXPECT_TRUE(built_in(operation, type).order_free);
    }
  }
  std::mt19937_64 random(3);
  std::vector<std::int64_t> elements(100);
  for (auto& x : elements) x = static_cast<std::int64_t>(random());
  std::uint64_t sum = 0;
  for (const auto x : elements) sum += static_cast<std::uint64_t>(x);
  const auto kind = make_plain(built_in(Operation::sum, Type::i64), 1);
  const Part whole =
      merged(*kind, built(*kind, table_of(elements), {{50, 100}}), built(*kind, table_of(elements), {{0, 50}}));
  EXPECT_EQ(value_at<std::uint64_t>(finished(*kind, whole.record, 100).values), sum);
}

// --- user operators, counts, bytes
// -------------------------------------------------------------------------------------

TEST(PlainUser, FoldsBlocksInTheOrderPushedAndMergesLeftToRight) {
  for (const Bytes size : {1u, 4u, 12u, 40u}) {
    Watch watch{.size = size};
    const Operator op = mixing(watch);
    const auto kind = make_plain(op, 1);
    std::mt19937_64 random(4);
    const Table table = random_table(random, 0, 30, size);
    const auto fold = [&](Index begin, Index end) {
      Record value(table.row(begin), table.row(begin) + size);
      for (Index i = begin + 1; i < end; ++i) {
        Record next(size);
        mix_element(value.data(), table.row(i), next.data(), size);
        value = next;
      }
      return value;
    };
    const Part left = built(*kind, table, {{0, 11}});
    const Part right = built(*kind, table, {{11, 30}});
    EXPECT_TRUE(same(finished(*kind, built(*kind, table, {{0, 11}, {11, 30}}).record, 30).values, fold(0, 30)));
    Record expected(size);
    mix_element(fold(0, 11).data(), fold(11, 30).data(), expected.data(), size);
    EXPECT_TRUE(same(finished(*kind, merged(*kind, left, right).record, 30).values, expected));
    EXPECT_EQ(watch.fault, "");
  }
}

TEST(PlainUser, FailuresAreReported) {
  Watch watch{.size = 8};
  const Operator op = mixing(watch);
  const auto kind = make_plain(op, 2);
  const auto builder = kind->builder();
  std::mt19937_64 random(5);
  const Table table = random_table(random, 0, 20, 16);
  const std::vector<Interval> blocks = {{0, 9}, {9, 20}};
  const Record good = built(*kind, *builder, table, blocks).record;
  const std::uint64_t calls = watch.calls;
  for (std::uint64_t call = 1; call <= calls; ++call) {
    watch.calls = 0;
    watch.fail_at = call;
    EXPECT_EQ(status_of(built(*kind, *builder, table, blocks).record), Status::operator_failed) << call;
    watch.fail_at = 0;
    EXPECT_TRUE(same(built(*kind, *builder, table, blocks).record, good)) << call;
  }
  watch.calls = 0;
  watch.fail_at = 1;
  const Part half = {good, IntervalSet({0, 20})};
  const Part other = {good, IntervalSet({20, 40})};
  const Record failed = merged(*kind, half, other).record;
  EXPECT_EQ(status_of(failed), Status::operator_failed);
  EXPECT_EQ(failed.size(), sizeof(Header));
  EXPECT_EQ(finished(*kind, failed).status, Status::operator_failed);
}

TEST(PlainBytes, CountsTellGapsFromOverlaps) {
  const auto kind = make_plain(built_in(Operation::sum, Type::f64), 1);
  const Table table = table_of(std::vector<double>(9, 1.0));
  const Record nine = built(*kind, table, {{0, 9}}).record;
  EXPECT_EQ(finished(*kind, nine, 9).status, Status::ok);
  EXPECT_EQ(finished(*kind, nine, unknown_count).status, Status::ok);
  EXPECT_EQ(finished(*kind, nine, 10).status, Status::gap);
  EXPECT_EQ(finished(*kind, nine, 8).status, Status::overlap);
  EXPECT_EQ(finished(*kind, built(*kind, table, {}).record, 1).status, Status::gap);
}

TEST(PlainBytes, AreNotTrusted) {
  const auto kind = make_plain(built_in(Operation::sum, Type::f64), 3);
  const Record good = built(*kind, table_of(std::vector<double>(9, 1.0), 0, 3), {{0, 3}}).record;
  const Record none = built(*kind, table_of(std::vector<double>(9, 1.0), 0, 3), {}).record;
  Guarded out(kind->working_capacity({}));
  for (const Record& whole : {good, none}) {
    for (Bytes size = 0; size < whole.size() + 40; ++size) {
      if (size == whole.size()) continue;
      Record bytes = whole;
      bytes.resize(size);
      EXPECT_EQ(finished(*kind, bytes).status, Status::transport_failed) << size;
      EXPECT_EQ(status_of(out.taken(merge(*kind, bytes, good, out.room()))), Status::transport_failed) << size;
      EXPECT_EQ(status_of(out.taken(merge(*kind, good, bytes, out.room()))), Status::transport_failed) << size;
    }
  }
  for (Bytes room = sizeof(Header); room < kind->capacity({}); ++room) {
    Guarded small(room);
    EXPECT_EQ(status_of(small.taken(merge(*kind, good, good, small.room()))), Status::transport_failed) << room;
  }
  Record other = good;
  arithmetic::set_header(other, {.digest = 5});
  EXPECT_EQ(status_of(out.taken(merge(*kind, good, other, out.room()))), Status::mismatch);
}

}  // namespace
}  // namespace steadfold::test::plain_test
