// Groups of columns that share one unit: the same sums, bytes and roundings as digit ranges, one by one.
#include "arithmetic/exact/narrow_group.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "arithmetic/exact/record.hpp"
#include "exact_records.hpp"

namespace steadfold::arithmetic::narrow_group_test {
namespace {

using namespace exact_records;

constexpr std::size_t lanes = NarrowGroup::most_columns;

/// value 2^(32 digit) as a digit range, by the digits themselves.
DigitRange digit_range_of(Int128 value, int digit) {
  std::vector<std::int64_t> words(static_cast<std::size_t>(digit), 0);
  for (int i = 0; i < 3; ++i, value >>= 32) words.push_back(static_cast<std::uint32_t>(value));
  words.push_back(static_cast<std::int64_t>(value));
  DigitRange range;
  make_digit_range(words, 0, range);
  return range;
}

std::string text(const DigitRange& range) {
  std::string all = std::to_string(range.lowest) + (range.negative ? " -" : " +");
  for (int i = 0; i < range.count; ++i) all += " " + std::to_string(range.digits[static_cast<std::size_t>(i)]);
  return all;
}

/// At most so many bits, often just so many, with zeros below.
Int128 number(std::mt19937_64& random, unsigned most_bits) {
  const auto bits = static_cast<unsigned>(random() % most_bits + 1);
  const Uint128 all = (Uint128{random()} << 64 | random()) >> (128 - bits);
  const auto value = static_cast<Int128>(all >> (random() % bits) << (random() % 3 == 0 ? 0 : random() % 40));
  switch (random() % 8) {
    case 0: return 0;
    case 1: return -(Int128{1} << (bits - 1));
    case 2: return static_cast<Int128>((Uint128{1} << (bits - 1)) - 1);
    default: return random() % 2 == 0 ? value : -value;
  }
}

TEST(NarrowGroup, AddsAsDigitRangesDoOrChangesNothing) {
  int added = 0;
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    NarrowGroup group;
    std::array<DigitRange, lanes> expected;
    const auto most_bits = static_cast<unsigned>(random() % 127 + 1);
    const int spread = static_cast<int>(random() % 5 + 1);
    for (int i = 0; i < 60; ++i) {
      const std::size_t lane = random() % lanes;
      const Int128 value = number(random, most_bits);
      const int digit = 20 + static_cast<int>(random()) % spread;
      const bool fits = group.add(lane, value, digit);
      ++(fits ? added : refused);
      if (fits) {
        DigitRange sum;
        add_digit_ranges(expected[lane], digit_range_of(value, digit), sum);
        expected[lane] = sum;
      }
      DigitRange found;
      for (std::size_t each = 0; each < lanes; ++each) {
        group.digit_range(each, found);
        ASSERT_EQ(text(found), text(expected[each])) << "column " << each << ", step " << i;
      }
    }
    NarrowGroup again;
    ASSERT_TRUE(again.set_digit_ranges(expected));
    EXPECT_EQ(again.trim(), group.trim());
    EXPECT_EQ(again.lowest(), group.lowest());
    for (std::size_t lane = 0; lane < lanes; ++lane) EXPECT_TRUE(again.value(lane) == group.value(lane));
  }
  EXPECT_GT(added, 10000);
  EXPECT_GT(refused, 1000);
}

/// What grows out of its units takes larger ones while all digits below are 0.
TEST(NarrowGroup, TakesLargerUnitsWhenThereIsNoRoom) {
  NarrowGroup group;
  constexpr Int128 large = Int128{1} << 120;
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(group.add(1, large, 10)) << i;
  EXPECT_TRUE(group.add(2, 1, 12));
  EXPECT_FALSE(group.add(2, 1, 9)) << "no unit has room for all";
  DigitRange sum;
  group.digit_range(1, sum);
  EXPECT_EQ(text(sum), text(digit_range_of((large >> 64) * 1000, 12)));
}

/// Where there is room for the sum in common units, it is found: digit ranges say whether there is.
TEST(NarrowGroup, SumsAreThoseOfDigitRanges) {
  int found = 0;
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const auto most_bits = static_cast<unsigned>(random() % 127 + 1);
    std::array<NarrowGroup, 2> operands;
    for (NarrowGroup& each : operands) {
      const int digit = 20 + static_cast<int>(random() % 3);
      for (std::size_t lane = 0; lane < lanes; ++lane) each.add(lane, number(random, most_bits), digit);
      if (random() % 2 == 0) each.trim();
      if (random() % 16 == 0) each.clear();
    }
    std::array<DigitRange, lanes> sums;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      std::array<DigitRange, 2> ranges;
      for (std::size_t i = 0; i < 2; ++i) operands[i].digit_range(lane, ranges[i]);
      add_digit_ranges(ranges[0], ranges[1], sums[lane]);
    }
    NarrowGroup sum;
    if (!sum.set_sum(operands[0], operands[1])) {
      ++refused;
      continue;
    }
    ++found;
    DigitRange one;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      sum.digit_range(lane, one);
      EXPECT_EQ(text(one), text(sums[lane])) << "column " << lane;
    }
  }
  EXPECT_GT(found, 1000);
  EXPECT_GT(refused, 100);
}

TEST(NarrowGroup, RoundsAsSumsByThemselves) {
  constexpr int lowest_exponent = Format<double>::lowest_exponent;
  int rounded_groups = 0;
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    NarrowGroup group;
    const auto most_bits = static_cast<unsigned>(random() % 127 + 1);
    const int digit = static_cast<int>(random() % 64);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      Int128 value = number(random, most_bits);
      if (random() % 4 == 0)
        value = Int128{static_cast<std::int64_t>(random() >> 10 | 1)} << (random() % 60);  // halves
      group.add(lane, value, digit);
    }
    std::array<double, lanes> values{};
    const std::size_t columns = random() % lanes + 1;
    if (!group.round(columns, lowest_exponent, reinterpret_cast<std::byte*>(values.data()))) continue;
    ++rounded_groups;
    for (std::size_t lane = 0; lane < columns; ++lane) {
      const auto expected = rounded<double>(not_minus_zero, 1, group.leading(lane, lowest_exponent));
      EXPECT_EQ(std::bit_cast<std::uint64_t>(values[lane]), std::bit_cast<std::uint64_t>(expected)) << lane;
    }
  }
  EXPECT_GT(rounded_groups, 1000);
}

/// Rows whose exponents lie within `spread` binades below 2^top.
template <class Element>
Data<Element> near_data(std::mt19937_64& random, Count rows, Count columns, int top, unsigned spread) {
  Data<Element> data{.first = {}, .second = {}, .columns = columns};
  for (Count i = 0; i < rows * columns; ++i) {
    const auto digits = static_cast<Element>(static_cast<std::int32_t>(random()));
    data.first.push_back(std::ldexp(digits, top - 31 - static_cast<int>(random() % (spread + 1))));
    data.second.push_back(static_cast<Element>(static_cast<std::int32_t>(random() % 1000)) - 500);
    if (i > 2 && random() % 4 == 0) data.first.back() = -data.first[random() % i];
  }
  return data;
}

/// The words of a record are digit ranges, each made by itself, and what is written of them is the record again.
/// Both forms of groups occur.
TEST(NarrowGroup, RecordsDependOnTheSumsAlone) {
  std::size_t shortest = ~std::size_t{0};
  std::size_t longest = 0;
  for (const unsigned spread : {0U, 20U, 35U, 45U, 60U, 70U, 80U, 100U, 300U}) {
    for (const int top : {-1040, -990, 0, 17, 40, 1020}) {
      for (const Count columns : {2U, 7U, 8U, 9U, 20U}) {
        SCOPED_TRACE(testing::Message() << "spread " << spread << ", top " << top << ", columns " << columns);
        std::mt19937_64 random(spread * 7919 + static_cast<unsigned>(top) + columns);
        const auto kind = make_exact(Operation::sum, Type::f64, Type::f64, columns);
        const auto data = near_data<double>(random, 40, columns, top, spread);
        const Record all = whole(*kind, data);
        shortest = std::min(shortest, all.size() / columns);
        longest = std::max(longest, all.size() / columns);
        const auto parts = split(*kind, data, random, 6);
        EXPECT_EQ(hex(added_as_words(*kind, parts)), hex(all)) << "through words";
        EXPECT_EQ(hex(merged_at_random(*kind, parts, random)), hex(all)) << "merged";
        for (Count column = 0; column < columns; ++column) {
          const auto one = make_exact(Operation::sum, Type::f64, Type::f64, 1);
          Data<double> alone;
          for (Count row = 0; row < data.rows(); ++row) alone.first.push_back(data.first[row * columns + column]);
          const Record expected = finished(*one, whole(*one, alone));
          const Record found = finished(*kind, all);
          EXPECT_TRUE(std::equal(expected.begin(), expected.end(), found.begin() + static_cast<int>(8 * column)))
              << "column " << column;
        }
      }
    }
  }
  EXPECT_LE(shortest, 20U) << "a narrow group takes 17 bytes per column and two words";
  EXPECT_GE(longest, 25U);
}

/// A piece ends where a group does, whatever is asked for.
TEST(NarrowGroup, RecordsAreMergedAndFinishedInPieces) {
  constexpr Count columns = 30;
  const auto kind = make_exact(Operation::sum, Type::f64, Type::f64, columns);
  std::mt19937_64 random(5);
  const Record left = whole(*kind, hostile_data<double>(random, 3, columns, true));
  const Record right = whole(*kind, near_data<double>(random, 3, columns, 0, 40));
  const Record all = merged(*kind, left, right);
  const Record values = finished(*kind, all);
  for (const Count most : {1U, 7U, 8U, 9U, 16U, 29U, 30U, 100U}) {
    SCOPED_TRACE(testing::Message() << most << " columns per piece");
    const Count expected = (columns + (most + 7) / 8 * 8 - 1) / ((most + 7) / 8 * 8);
    Pieces merges{.most = most};
    Pieces finishes{.most = most};
    Record out(kind->capacity({}));
    Count calls = 0;
    Bytes size = 0;
    do {
      size = kind->merge_piece(left, right, {out}, merges).head.size();
      ++calls;
    } while (merges.more);
    out.resize(size);
    EXPECT_EQ(hex(out), hex(all));
    EXPECT_EQ(calls, expected);
    Record found(kind->value_bytes());
    do {
      EXPECT_EQ(kind->finish_piece(all, unknown_count, found.data(), nullptr, finishes), Status::ok);
      --calls;
    } while (finishes.more);
    EXPECT_EQ(hex(found), hex(values));
    EXPECT_EQ(calls, 0U);
  }
}

/// Bytes that no writer writes: not the largest unit, too many words, flags of columns that are not there.
TEST(NarrowGroup, OtherFormsOfTheSameSumsAreRefused) {
  const auto kind = make_exact(Operation::sum, Type::f64, Type::f64, 3);
  const Record good = whole(*kind, Data<double>{.first = {1.0, 0x1p-70, 3.0}, .second = {}, .columns = 3});
  // Lowest, words, which columns have a -0.0 (where labels deal rows), a reserved byte, four bytes of flags.
  constexpr std::size_t head = 24;
  ASSERT_EQ(good.size(), head + 8 + 2 * 3 * 8);
  const auto status = [&](const Record& record) {
    Record values(kind->value_bytes());
    return kind->finish(record, unknown_count, values.data(), values.data());
  };
  EXPECT_EQ(status(good), Status::ok);
  const Record small = whole(*kind, Data<double>{.first = {1.0, 0x1p-20, -3.0}, .second = {}, .columns = 3});
  EXPECT_EQ(small.size(), head + 8 + 3 * 8) << "one word is enough";
  for (const std::size_t byte : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U}) {
    Record bad = good;
    bad[head + byte] ^= byte < 4 ? std::byte{1} : std::byte{8};
    EXPECT_EQ(status(bad), byte == 0 ? Status::ok : Status::transport_failed) << "byte " << byte;
  }
  Record lower = good;  // the same sums in units of one digit less, and a digit moved up
  lower[head] = static_cast<std::byte>(std::to_integer<int>(lower[head]) - 1);
  for (std::size_t lane = 0; lane < 3; ++lane) {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::memcpy(&low, &good[head + 8 + 8 * lane], 8);
    std::memcpy(&high, &good[head + 8 + 24 + 8 * lane], 8);
    high = high << 32 | low >> 32;
    low <<= 32;
    std::memcpy(&lower[head + 8 + 8 * lane], &low, 8);
    std::memcpy(&lower[head + 8 + 24 + 8 * lane], &high, 8);
  }
  EXPECT_EQ(status(lower), Status::transport_failed);
}

}  // namespace
}  // namespace steadfold::arithmetic::narrow_group_test
