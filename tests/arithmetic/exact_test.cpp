// The exact partial: any splitting, any merge tree, any schedule of words gives the same value and the same bytes.
// Bits are compared as integers, never with a tolerance; every case names its seed on failure.
#include "arithmetic/exact/exact.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "exact_records.hpp"
#include "support/sanitized.hpp"

namespace steadfold::arithmetic::exact_test {
namespace {

using namespace exact_records;

template <class Element>
void expect_same_from_any_splitting() {
  for (std::uint64_t seed = 1; seed <= 30; seed += test::sanitized ? 5 : 1) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    for_every_kind<Element>([seed](const PartialKind& kind, Count columns) {
      std::mt19937_64 random(seed);
      const auto data = hostile_data<Element>(random, columns > 5 ? random() % 20 : random() % 400, columns, seed > 20);
      const Data<Element> copy = data;
      const Record expected = whole(kind, data);
      const std::vector<Record> records = split(kind, data, random, random() % 64 + 1);
      for (int tree = 0; tree < 3; ++tree) {
        EXPECT_EQ(hex(merged_at_random(kind, records, random)), hex(expected));
      }
      EXPECT_EQ(hex(added_as_words(kind, records)), hex(expected));
      EXPECT_EQ(hex(finished(kind, expected, data.rows())), hex(finished(kind, expected)));
      EXPECT_TRUE(same_bytes(data.first, copy.first) && same_bytes(data.second, copy.second));
    });
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Exact, IsTheSameFromAnySplittingOfDoubles) { expect_same_from_any_splitting<double>(); }
TEST(Exact, IsTheSameFromAnySplittingOfFloats) { expect_same_from_any_splitting<float>(); }

/// The control: on such data plain addition depends on the splitting.
TEST(Exact, WhereThePlainSumVaries) {
  std::mt19937_64 random(1);
  std::vector<double> data(1000);
  for (double& x : data) x = std::ldexp(static_cast<double>(random()) - 0x1p63, static_cast<int>(random() % 80));
  std::set<std::uint64_t> plain;
  std::set<std::string> exact;
  const auto kind = make_exact(Operation::sum, Type::f64, Type::f64, 1);
  for (const std::size_t parts : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 16U, 40U}) {
    double sum = 0;
    std::vector<Record> records;
    for (std::size_t part = 0; part < parts; ++part) {
      const Data<double> share{.first = {data.begin() + static_cast<std::ptrdiff_t>(part * data.size() / parts),
                                         data.begin() + static_cast<std::ptrdiff_t>((part + 1) * data.size() / parts)},
                               .second = {},
                               .columns = 1};
      sum += std::accumulate(share.first.begin(), share.first.end(), 0.0);
      records.push_back(whole(*kind, share));
    }
    plain.insert(std::bit_cast<std::uint64_t>(sum));
    exact.insert(hex(finished(*kind, merged_at_random(*kind, records, random))));
  }
  EXPECT_GT(plain.size(), 3U);
  EXPECT_EQ(exact.size(), 1U);
}

TEST(Exact, HasANeutralElement) {
  for_every_kind<double>([](const PartialKind& kind, Count columns) {
    std::mt19937_64 random(7);
    const Record neutral = written(kind, *kind.builder());
    EXPECT_EQ(neutral.size(), columns == 1 ? 28 : 24 + 8 * ((columns + 7) / 8));
    EXPECT_EQ(hex(finished(kind, neutral, 0)), hex(Record(kind.value_bytes())));
    for (const Count rows : {Count{0}, Count{1}, Count{20}}) {
      const Record record = whole(kind, hostile_data<double>(random, rows, columns, true));
      EXPECT_EQ(hex(merged(kind, neutral, record)), hex(record));
      EXPECT_EQ(hex(merged(kind, record, neutral)), hex(record));
      EXPECT_EQ(hex(added_as_words(kind, {neutral, record, neutral})), hex(record));
    }
  });
}

TEST(Exact, RecordsOfOneColumnAreSmall) {
  const auto kind = make_exact(Operation::sum, Type::f64, Type::f64, 1);
  const auto size = [&](std::vector<double> data) { return whole(*kind, Data<double>{std::move(data), {}, 1}).size(); };
  EXPECT_EQ(size({0.0}), 28U);
  EXPECT_EQ(size({1.0}), 32U);
  EXPECT_EQ(size({-1.0}), 32U);
  EXPECT_EQ(size({0x1p-50, -0x1p-50}), 28U);
  EXPECT_EQ(size({std::numeric_limits<double>::max(), std::numeric_limits<double>::denorm_min()}), 28 + 4 * 66U);
  EXPECT_EQ(kind->capacity({}), 28 + 4 * 68U);
}

TEST(Exact, BuilderKeepsNothingOverClear) {
  for_every_kind<double>([](const PartialKind& kind, Count columns) {
    std::mt19937_64 random(8);
    const auto builder = kind.builder();
    for (int round = 0; round < 10; ++round) {
      const auto data = hostile_data<double>(random, random() % 30, columns, true);
      builder->clear();
      builder->push(0, data.block(0, data.rows()));
      const Record first = written(kind, *builder);
      EXPECT_EQ(hex(first), hex(whole(kind, data)));
      EXPECT_EQ(hex(first), hex(written(kind, *builder)));  // and writing changes nothing
    }
  });
}

TEST(Exact, TakesRowsAtAnyStrideAndAlignment) {
  std::mt19937_64 random(9);
  const auto data = hostile_data<double>(random, 300, 3, false);
  const auto kind = make_exact(Operation::dot, Type::f64, Type::f64, 3);
  constexpr Bytes stride = 41;
  Record memory[2] = {Record(301 * stride), Record(301 * stride)};
  for (Count row = 0; row < 300; ++row) {
    std::memcpy(&memory[0][1 + row * stride], &data.first[3 * row], 24);
    std::memcpy(&memory[1][1 + row * stride], &data.second[3 * row], 24);
  }
  const auto builder = kind->builder();
  builder->push(0, {.first = &memory[0][1], .second = &memory[1][1], .rows = 300, .row_stride = stride});
  EXPECT_EQ(hex(written(*kind, *builder)), hex(whole(*kind, data)));
}

TEST(Exact, ReportsGapsAndOverlapsByTheirCount) {
  const auto kind = make_exact(Operation::sum, Type::f64, Type::f64, 1);
  const Record record = whole(*kind, Data<double>{{1.0, 2.0, 3.0}, {}, 1});
  double value = 0;
  auto* bytes = reinterpret_cast<std::byte*>(&value);
  EXPECT_EQ(kind->finish(record, 4, bytes, nullptr), Status::gap);
  EXPECT_EQ(kind->finish(record, 2, bytes, nullptr), Status::overlap);
  EXPECT_EQ(kind->finish(record, 3, bytes, nullptr), Status::ok);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(value), std::bit_cast<std::uint64_t>(6.0));
  EXPECT_EQ(kind->finish(merged(*kind, record, record), unknown_count, bytes, nullptr), Status::ok);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(value), std::bit_cast<std::uint64_t>(12.0));
}

TEST(Exact, ReportsAMissingFactor) {
  const auto kind = make_exact(Operation::dot, Type::f64, Type::f64, 1);
  const double x = 1.0;
  const auto builder = kind->builder();
  builder->push(0, {.first = reinterpret_cast<const std::byte*>(&x), .second = nullptr, .rows = 1, .row_stride = 8});
  EXPECT_EQ(status_of(written(*kind, *builder)), Status::invalid_argument);
  builder->clear();
  builder->push(0, {});
  EXPECT_EQ(status_of(written(*kind, *builder)), Status::ok);
}

/// Statuses of parts, in both directions and over both paths.
TEST(Exact, StatusesMeetByTheLarger) {
  const auto kind = make_exact(Operation::sum, Type::f64, Type::f64, 1);
  const Record good = whole(*kind, Data<double>{{1.0}, {}, 1});
  const auto failed = [](Status status) {
    Record record(sizeof(Header));
    write_failure(record, Header{.digest = test_digest}, status);
    return record;
  };
  for (unsigned a = 0; a <= static_cast<unsigned>(Status::internal); ++a) {
    for (unsigned b = 1; b <= static_cast<unsigned>(Status::internal); ++b) {
      const Record left = a == 0 ? good : failed(static_cast<Status>(a));
      const Record right = failed(static_cast<Status>(b));
      const Record expected = failed(static_cast<Status>(std::max(a, b)));
      EXPECT_EQ(hex(merged(*kind, left, right)), hex(expected));
      EXPECT_EQ(hex(merged(*kind, right, left)), hex(expected));
      EXPECT_EQ(hex(added_as_words(*kind, {good, left, good, right})), hex(expected));
      EXPECT_EQ(kind->finish(expected, 1, nullptr, nullptr), static_cast<Status>(std::max(a, b)));
    }
  }
}

/// One rank among many with a digest that differs in one bit, or in all of them.
TEST(Exact, EveryDifferenceOfDigestsIsSeen) {
  const auto kind = make_exact(Operation::sum, Type::f32, Type::f32, 1);
  const Record record = whole(*kind, Data<float>{{1.0F}, {}, 1});
  std::mt19937_64 random(10);
  for (const std::uint32_t ranks : {2U, 3U, 8U, 1000U, 1U << 20, 0x7FFFFFFFU}) {
    for (int bit = 0; bit < 65; ++bit) {
      const std::uint64_t digest = bit == 0 ? ~std::uint64_t{0} : random();
      const std::uint64_t other = bit == 64 ? ~digest : digest ^ std::uint64_t{1} << bit;
      Words same = words_of(*kind, with_digest(record, digest));
      for (std::int64_t& word : same) word *= ranks - 1;
      Words sums = words_of(*kind, with_digest(record, other));
      add(sums, same);
      EXPECT_EQ(status_of(from_words(*kind, sums, ranks, digest)), Status::mismatch) << ranks << " ranks, bit " << bit;
      EXPECT_EQ(status_of(from_words(*kind, sums, ranks, other)), Status::mismatch);
      add(same, words_of(*kind, with_digest(record, digest)));
      EXPECT_EQ(status_of(from_words(*kind, same, ranks, digest)), Status::ok);
    }
  }
  EXPECT_EQ(status_of(merged(*kind, record, with_digest(record, 1))), Status::mismatch);
}

/// As many ranks as there may be, all with the same extreme data: no word overflows, and doubling agrees.
TEST(Exact, WordsOfAllRanksFit) {
  constexpr std::uint32_t ranks = 0x7FFFFFFF;
  for (const Operation operation : operations) {
    const auto kind = make_exact(operation, Type::f64, Type::f64, 1);
    for (const double x : {std::numeric_limits<double>::max(), std::numeric_limits<double>::denorm_min(), 0x1p-1000,
                           0x1.FFFFFFFFFFFFFp5}) {
      for (const double y : {1.0, -1.0, std::numeric_limits<double>::max(), -0x1p-1050}) {
        const Record record = whole(*kind, Data<double>{{y * x, x, -x, -y}, {y, -x, y, x}, 1});
        Words sums = words_of(*kind, record);
        for (std::int64_t& word : sums) ASSERT_FALSE(__builtin_mul_overflow(word, std::int64_t{ranks}, &word));
        Record expected = record;  // 2^31 - 1 is 30 times doubled and one added
        for (int i = 0; i < 30; ++i) expected = merged(*kind, merged(*kind, expected, expected), record);
        EXPECT_EQ(hex(from_words(*kind, sums, ranks)), hex(expected));
      }
    }
  }
}

/// 2^61 rows of the largest double reach the top digit with its sign, and come back.
TEST(Exact, HoldsAsManyRowsAsThereMayBe) {
  const auto kind = make_exact(Operation::sum, Type::f64, Type::f64, 1);
  const auto doubled = [&](double x) {
    Record record = whole(*kind, Data<double>{{x}, {}, 1});
    for (int i = 0; i < 61; ++i) record = merged(*kind, record, record);
    EXPECT_EQ(hex(added_as_words(*kind, {record})), hex(record));
    return record;
  };
  const Record minus = doubled(-std::numeric_limits<double>::max());
  const Record plus = doubled(std::numeric_limits<double>::max());
  const Record one = whole(*kind, Data<double>{{1.0}, {}, 1});
  const Record values = finished(*kind, merged(*kind, minus, merged(*kind, one, plus)));
  EXPECT_EQ(hex(values), hex(finished(*kind, one)));
  Words sums = words_of(*kind, minus);
  add(sums, words_of(*kind, plus));
  add(sums, words_of(*kind, one));
  EXPECT_EQ(hex(finished(*kind, from_words(*kind, sums, 3))), hex(values));
}

/// Digits that no rows can make, in a record that is well formed: their sum does not fit.
TEST(Exact, SumsBeyondTheWidthAreRefused) {
  const auto kind = make_exact(Operation::sum, Type::f32, Type::f64, 1);
  for (const int negative : {0, 1}) {
    Record record(32, static_cast<std::byte>(negative == 0 ? 0xFF : 0x01));
    set_header(record, Header{});
    record[24] = std::byte{8};   // flags
    record[25] = std::byte{10};  // lowest digit, the highest of 11
    record[26] = std::byte{1};   // digits
    record[27] = static_cast<std::byte>(negative);
    EXPECT_EQ(status_of(merged(*kind, record, whole(*kind, Data<float>{{}, {}, 1}))), Status::mismatch);
    EXPECT_EQ(status_of(merged(*kind, record, with_digest(whole(*kind, Data<float>{{}, {}, 1}), 0))), Status::ok);
    EXPECT_EQ(status_of(merged(*kind, record, record)), Status::transport_failed);
  }
}

}  // namespace
}  // namespace steadfold::arithmetic::exact_test
