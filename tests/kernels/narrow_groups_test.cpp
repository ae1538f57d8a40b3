// Groups of integers of two words: what the reference merges, rounds and adds is what integers of 128 bits and the C
// library say, and every kernel does as the reference. Sums at the ends of their range, ties, zeros, terms that have no
// room, groups that end a run; nothing is aligned.
#include "kernels/narrow_groups.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "support/targets.hpp"

namespace steadfold::test::narrow_groups_test {
namespace {

using kernels::EachColumn;
using kernels::most_columns;
__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;
using Words = EachColumn<std::uint64_t>;
constexpr std::uint64_t head = 0x0123456789ABCDEF;
constexpr order::Bytes offset = 3;  // of records

struct Group {
  std::uint64_t head;
  Words low;
  Words high;

  Int128 value(std::size_t i) const { return static_cast<Int128>(static_cast<Uint128>(high[i]) << 64 | low[i]); }
  void set(std::size_t i, Int128 value) {
    low[i] = static_cast<std::uint64_t>(value);
    high[i] = static_cast<std::uint64_t>(static_cast<Uint128>(value) >> 64);
  }
  bool is_settled() const {
    bool has_low_bits = false;
    bool is_long = false;
    for (std::size_t i = 0; i < most_columns; ++i) {
      has_low_bits |= low[i] % (std::uint64_t{1} << 32) != 0;
      is_long |= value(i) != static_cast<std::int64_t>(low[i]);
    }
    return has_low_bits && is_long;
  }
};

class NarrowGroups : public EveryTarget {
 protected:
  static constexpr std::uint64_t seed = 20261129;
  std::mt19937_64 random{seed};

  /// Of any size; often a tie of a rounding, or nearly, or at the end of the range.
  Int128 any_value() {
    const auto bits = static_cast<Int128>(static_cast<Uint128>(random()) << 64 | random());
    switch (random() % 8) {
      case 0: return 0;
      case 1: return static_cast<Int128>(random() % 3) - 1;
      case 2: return bits;
      case 3:
        return (static_cast<Int128>(random() % 8 * 2 + 1) << (random() % 120)) + static_cast<Int128>(random() % 3) - 1;
      case 4: return static_cast<Int128>((std::uint64_t{1} << 53) + random() % 4 * 2 + 1) << (random() % 70);
      case 5: return static_cast<Int128>(std::uint64_t{1} << 63) << 63;
      default: return bits >> (random() % 128);
    }
  }
  Group any_group() {
    Group group{.head = random() % 30 == 0 ? head + 1 : head, .low = {}, .high = {}};
    const bool is_odd = random() % 10 == 0;
    const bool is_wide = random() % 4 == 0;
    for (std::size_t i = 0; i < most_columns; ++i) {
      Int128 value = any_value();
      if (!is_wide) value >>= 2;  // so that no sum overflows
      if (is_odd) value = random() % 2 == 0 ? value & ~Int128{0xFFFFFFFF} : static_cast<std::int64_t>(value);
      group.set(i, value);
    }
    return group;
  }
  std::vector<std::byte> record_of(const std::vector<Group>& groups) const {
    std::vector<std::byte> bytes(offset + groups.size() * sizeof(Group));
    std::memcpy(bytes.data() + offset, groups.data(), groups.size() * sizeof(Group));
    return bytes;
  }
};

TEST_P(NarrowGroups, AreMergedAsIntegersAreAdded) {
  SCOPED_TRACE(seed);
  order::Count merged = 0;
  int overflows = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<Group> a(random() % 6);
    std::vector<Group> b(a.size());
    for (Group& each : a) each = any_group();
    for (Group& each : b) each = any_group();
    if (!a.empty() && random() % 8 == 0)  // the lowest digits of these sums are 0
      for (std::size_t i = 0; i < most_columns; ++i) {
        const auto sum = static_cast<Uint128>((any_value() >> 3) & ~Int128{0xFFFFFFFF});
        b[0].set(i, static_cast<Int128>(sum - static_cast<Uint128>(a[0].value(i))));
      }
    order::Count due = 0;
    std::vector<Group> sums;
    for (; due < a.size(); ++due) {
      Group sum{.head = head, .low = {}, .high = {}};
      bool has_room = true;
      for (std::size_t i = 0; i < most_columns; ++i) {
        Int128 value;
        has_room &= !__builtin_add_overflow(a[due].value(i), b[due].value(i), &value);
        sum.set(i, value);
      }
      overflows += !has_room;
      const bool are_alike = a[due].head == head && b[due].head == head;
      if (!are_alike || !has_room || !a[due].is_settled() || !b[due].is_settled() || !sum.is_settled()) break;
      sums.push_back(sum);
    }
    std::vector<std::byte> out(offset + a.size() * sizeof(Group) + 64, std::byte{0xA5});
    ASSERT_EQ(kernels::merge_narrow_groups(GetParam())(head, record_of(a).data() + offset, record_of(b).data() + offset,
                                                       a.size(), out.data() + offset),
              due);
    ASSERT_EQ(std::memcmp(out.data() + offset, sums.data(), sums.size() * sizeof(Group)), 0) << round;
    for (std::size_t i = out.size() - 64; i < out.size(); ++i) ASSERT_EQ(out[i], std::byte{0xA5});
    merged += due;
  }
  EXPECT_GT(merged, 1000u);
  EXPECT_GT(overflows, 100);
}

TEST_P(NarrowGroups, AreRoundedOnce) {
  SCOPED_TRACE(seed);
  order::Count rounded = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<Group> groups(random() % 6);
    for (Group& each : groups) each = any_group();
    const int unit = static_cast<int>(random() % 1918) - 1022;  // so that none is subnormal, or overflows
    order::Count due = 0;
    std::vector<double> values;
    for (; due < groups.size() && groups[due].head == head && groups[due].is_settled(); ++due)
      for (std::size_t i = 0; i < most_columns; ++i)
        values.push_back(std::ldexp(static_cast<double>(groups[due].value(i)), unit) + 0.0);
    std::vector<std::byte> out(offset + groups.size() * most_columns * sizeof(double) + 64, std::byte{0xA5});
    ASSERT_EQ(kernels::round_narrow_groups(GetParam())(head, record_of(groups).data() + offset, groups.size(), unit,
                                                       out.data() + offset),
              due);
    ASSERT_EQ(std::memcmp(out.data() + offset, values.data(), values.size() * sizeof(double)), 0) << round;
    for (std::size_t i = out.size() - 64; i < out.size(); ++i) ASSERT_EQ(out[i], std::byte{0xA5});
    rounded += due;
  }
  EXPECT_GT(rounded, 3000u);
}

TEST_P(NarrowGroups, TakeRowsOfTerms) {
  SCOPED_TRACE(seed);
  constexpr double specials[] = {-0.0, std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN()};
  int added = 0, refused = 0, lower = 0;
  for (int round = 0; round < 20000; ++round) {
    const int lowest = static_cast<int>(random() % 64);
    Group group = any_group();
    if (random() % 4 == 0) group.low = group.high = {};
    std::vector<std::byte> row(offset + most_columns * sizeof(double));
    const bool is_narrow = random() % 2 == 0;
    const std::uint64_t kept = random() % 2 == 0 ? ~std::uint64_t{0} : ~std::uint64_t{0} >> 1;
    bool is_special = false, has_room = true, is_empty = true;
    int digit = std::numeric_limits<int>::max();
    EachColumn<double> terms;
    for (std::size_t i = 0; i < most_columns; ++i) {
      const int below = random() % 8 == 0 ? static_cast<int>(random() % 130) : 0;
      const int exponent =
          std::max(32 * lowest - below, 0) - 1074 + static_cast<int>(is_narrow ? random() % 75 : random() % 400);
      terms[i] =
          std::ldexp(static_cast<double>(random() >> 11), std::min(exponent, 970)) * (random() % 2 == 0 ? 1 : -1);
      if (random() % 6 == 0) terms[i] = 0;
      if (random() % 200 == 0) terms[i] = specials[random() % 3];
      std::memcpy(row.data() + offset + i * sizeof(double), &terms[i], sizeof(double));
      terms[i] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(terms[i]) & kept);
      is_special |= !std::isfinite(terms[i]) || (terms[i] == 0 && std::signbit(terms[i]));
      is_empty &= group.value(i) == 0;
      if (!is_special && terms[i] != 0) digit = std::min(digit, std::max(std::ilogb(terms[i]) - 52 + 1074, 0) / 32);
    }
    const bool are_zeros = digit == std::numeric_limits<int>::max();
    const int unit = is_empty && !are_zeros ? digit : lowest;
    Group due = group;
    for (std::size_t i = 0; !is_special && digit >= unit && i < most_columns; ++i) {
      const double units = std::ldexp(terms[i], 1074 - 32 * unit);  // may be infinite
      const bool fits = std::abs(units) < std::ldexp(1.0, 127);
      Int128 sum = 0;
      has_room &= fits && !__builtin_add_overflow(group.value(i), static_cast<Int128>(units), &sum);
      due.set(i, sum);
    }
    int units = lowest;
    const Group before = group;
    const int found =
        kernels::add_narrow_terms(GetParam())(row.data() + offset, kept, units, group.low.data(), group.high.data());
    if (is_special || (digit >= unit && !has_room)) {
      ASSERT_EQ(found, kernels::terms_refused) << round;
      refused += 1;
    } else if (digit < unit) {
      ASSERT_EQ(found, digit) << round;
      lower += 1;
    } else {
      ASSERT_EQ(found, kernels::terms_added) << round;
      added += 1;
    }
    if (found != kernels::terms_added) due = before;
    if (found == kernels::terms_added) {
      ASSERT_EQ(units, unit) << round;
    }
    ASSERT_TRUE(group.low == due.low && group.high == due.high) << round;
  }
  EXPECT_GT(added, 1000);
  EXPECT_GT(refused, 1000);
  EXPECT_GT(lower, 100);
}

STEADFOLD_EVERY_TARGET(NarrowGroups);

}  // namespace
}  // namespace steadfold::test::narrow_groups_test
