// Groups of bins: every kernel adds and rounds them as integers of 128 bits and the C library say. Bin ranges that
// differ by any number of bins, sums and tops at the ends of their range and beyond, zeros, ties, groups that end a
// run; nothing is aligned.
#include "kernels/binned_groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "support/targets.hpp"

namespace steadfold::test::binned_groups_test {
namespace {

using kernels::BinnedBounds;
using kernels::EachColumn;
using kernels::most_columns;
__extension__ using Int128 = __int128;
constexpr int width = 40;           // of a bin
constexpr order::Bytes offset = 3;  // of records
constexpr std::uint8_t some_flag = 8;
constexpr BinnedBounds bounds{.lowest_top = 2,
                              .highest_top = 50,
                              .lowest_normal = 5,
                              .highest_normal = 40,
                              .flags = 15,
                              .flags_of_rounded = some_flag};
constexpr int unit_below_top_0 = -1160;  // so that tops from 5 to 40 give normal numbers

struct Group {
  std::array<EachColumn<std::int64_t>, 4> sums{};
  EachColumn<std::uint8_t> tops{};
  EachColumn<std::uint8_t> flags{};

  bool is_within(int bin_count, std::int64_t most) const {
    const auto is_valid = [&](std::uint8_t top) { return bounds.lowest_top <= top && top <= bounds.highest_top; };
    const auto is_known = [](std::uint8_t each) { return (each & ~bounds.flags) == 0; };
    bool is = std::ranges::all_of(tops, is_valid) && std::ranges::all_of(flags, is_known);
    for (int bin = 0; bin < bin_count; ++bin)
      for (const std::int64_t sum : sums[static_cast<std::size_t>(bin)]) is &= -most <= sum && sum < most;
    return is;
  }
  /// The sum in bin `bin` of a bin range with this top.
  std::int64_t sum(std::size_t column, int top, int bin) const {
    const int own = bin - (top - tops[column]);
    return own < 0 ? 0 : sums[static_cast<std::size_t>(own)][column];
  }
  Int128 number(std::size_t column, int bin_count) const {
    Int128 all = 0;
    for (int bin = 0; bin < bin_count; ++bin) all = (all << width) + sums[static_cast<std::size_t>(bin)][column];
    return all;
  }
};

std::vector<std::byte> record_of(const std::vector<Group>& groups, int bin_count) {
  const order::Bytes each = kernels::binned_group_bytes(bin_count);
  const order::Bytes of_sums = each - 2 * most_columns;
  std::vector<std::byte> bytes(offset + groups.size() * each);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::byte* const to = bytes.data() + offset + i * each;
    std::memcpy(to, groups[i].sums.data(), of_sums);
    std::memcpy(to + of_sums, groups[i].tops.data(), most_columns);
    std::memcpy(to + of_sums + most_columns, groups[i].flags.data(), most_columns);
  }
  return bytes;
}

class BinnedGroups : public EveryTarget {
 protected:
  static constexpr std::uint64_t seed = 20261130;
  std::mt19937_64 random{seed};

  std::uint64_t up_to(std::uint64_t most) { return random() % (most + 1); }

  std::int64_t any_sum(std::int64_t most) {
    switch (up_to(7)) {
      case 0: return 0;
      case 1: return -most;
      case 2: return most - 1;
      case 3: return static_cast<std::int64_t>(up_to(2)) - 1;
      case 4: return std::int64_t{1} << up_to(38);
      default: return (static_cast<std::int64_t>(random()) >> up_to(62)) % most;
    }
  }
  std::uint8_t any_top() { return static_cast<std::uint8_t>(bounds.lowest_top + up_to(48)); }
  /// Tops of all columns alike, or near each other, or any.
  Group any_group(std::int64_t most) {
    Group group;
    const std::uint8_t usual = any_top();
    const auto kind = up_to(3);
    for (std::size_t i = 0; i < most_columns; ++i) {
      const int near = std::clamp<int>(usual + static_cast<int>(up_to(6)) - 3, bounds.lowest_top, bounds.highest_top);
      group.tops[i] = kind == 0 ? any_top() : kind == 1 ? static_cast<std::uint8_t>(near) : usual;
      group.flags[i] = some_flag;
      for (auto& sums : group.sums) sums[i] = any_sum(most);
    }
    return group;
  }
  /// Now and then a group becomes one that is not, in one column.
  void spoil(Group& group, std::int64_t most, int bin_count) {
    const auto column = up_to(most_columns - 1);
    const auto bin = up_to(static_cast<std::uint64_t>(bin_count) - 1);
    switch (up_to(60)) {
      case 0: group.tops[column] = bounds.lowest_top - 1; break;
      case 1: group.tops[column] = bounds.highest_top + 1; break;
      case 2: group.tops[column] = 0xFF; break;
      case 3: group.flags[column] |= 16; break;
      case 4: group.flags[column] = 0xFF; break;
      case 5: group.sums[bin][column] = most; break;
      case 6: group.sums[bin][column] = -most - 1; break;
      default: break;
    }
  }
};

TEST_P(BinnedGroups, AreMergedBinByBin) {
  SCOPED_TRACE(seed);
  for (int bin_count = 2; bin_count <= 4; ++bin_count) {
    const auto merge = kernels::merge_binned_groups(GetParam(), bin_count);
    if (merge == nullptr) {  // arithmetic's own groups are the reference
      EXPECT_EQ(GetParam(), kernels::Target::scalar);
      continue;
    }
    order::Count merged = 0;
    int refused = 0;
    for (int round = 0; round < 3000; ++round) {
      const auto most_of_a = std::int64_t{1} << (39 + up_to(22));
      const auto most_of_b = std::int64_t{1} << (39 + up_to(22));
      std::vector<Group> a(up_to(5));
      std::vector<Group> b(a.size());
      std::vector<Group> sums;
      for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] = any_group(most_of_a);
        b[i] = any_group(most_of_b);
        if (up_to(1) == 0) b[i].tops = a[i].tops;
        for (auto& flags : b[i].flags) flags = static_cast<std::uint8_t>(up_to(15));
        spoil(a[i], most_of_a, bin_count);
        spoil(b[i], most_of_b, bin_count);
      }
      for (std::size_t i = 0; i < a.size(); ++i) {
        if (!a[i].is_within(bin_count, most_of_a) || !b[i].is_within(bin_count, most_of_b)) break;
        Group sum;
        for (std::size_t column = 0; column < most_columns; ++column) {
          sum.tops[column] = std::max(a[i].tops[column], b[i].tops[column]);
          sum.flags[column] = a[i].flags[column] | b[i].flags[column];
          for (int bin = 0; bin < bin_count; ++bin)
            sum.sums[static_cast<std::size_t>(bin)][column] =
                a[i].sum(column, sum.tops[column], bin) + b[i].sum(column, sum.tops[column], bin);
        }
        sums.push_back(sum);
      }
      refused += sums.size() < a.size();
      const std::vector<std::byte> due = record_of(sums, bin_count);
      std::vector<std::byte> out(record_of(a, bin_count).size() + 64, std::byte{0xA5});
      ASSERT_EQ(merge(bounds, record_of(a, bin_count).data() + offset, static_cast<std::uint64_t>(most_of_a),
                      record_of(b, bin_count).data() + offset, static_cast<std::uint64_t>(most_of_b), a.size(),
                      out.data() + offset),
                sums.size())
          << round;
      ASSERT_EQ(std::memcmp(out.data() + offset, due.data() + offset, due.size() - offset), 0) << round;
      for (std::size_t i = out.size() - 64; i < out.size(); ++i) ASSERT_EQ(out[i], std::byte{0xA5});
      merged += sums.size();
    }
    EXPECT_GT(merged, 3000u);
    EXPECT_GT(refused, 300);
  }
}

TEST_P(BinnedGroups, AreRoundedOnce) {
  SCOPED_TRACE(seed);
  for (int bin_count = 2; bin_count <= 3; ++bin_count) {
    const auto round_groups = kernels::round_binned_groups(GetParam(), bin_count);
    if (round_groups == nullptr) {
      EXPECT_EQ(GetParam(), kernels::Target::scalar);
      continue;
    }
    order::Count rounded = 0;
    int refused = 0;
    for (int round = 0; round < 5000; ++round) {
      const auto most = std::int64_t{1} << (39 + up_to(22));
      std::vector<Group> groups(up_to(5));
      std::vector<double> due;
      for (Group& each : groups) {
        each = any_group(most);
        for (std::size_t i = 0; i < most_columns; ++i) {
          const bool is_normal = bounds.lowest_normal <= each.tops[i] && each.tops[i] <= bounds.highest_normal;
          for (auto& sums : each.sums)
            if (!is_normal && up_to(200) != 0) sums[i] = 0;
          if (up_to(60) != 0) each.sums[0][i] %= std::int64_t{1} << 45;
        }
        spoil(each, most, bin_count);
        if (up_to(40) == 0) each.flags[up_to(most_columns - 1)] = 0;
      }
      for (const Group& each : groups) {
        bool is_taken = each.is_within(bin_count, most);
        for (std::size_t i = 0; i < most_columns; ++i) {
          const std::int64_t top = each.sums[0][i];
          const bool is_normal = bounds.lowest_normal <= each.tops[i] && each.tops[i] <= bounds.highest_normal;
          is_taken &= each.flags[i] == some_flag && -(std::int64_t{1} << 45) <= top && top < std::int64_t{1} << 45 &&
                      (is_normal || each.number(i, bin_count) == 0);
        }
        if (!is_taken) break;
        for (std::size_t i = 0; i < most_columns; ++i)
          due.push_back(
              std::ldexp(static_cast<double>(each.number(i, bin_count)), unit_below_top_0 + width * each.tops[i]) +
              0.0);
      }
      refused += due.size() < groups.size() * most_columns;
      std::vector<std::byte> out(offset + groups.size() * most_columns * sizeof(double) + 64, std::byte{0xA5});
      ASSERT_EQ(round_groups(bounds, record_of(groups, bin_count).data() + offset, static_cast<std::uint64_t>(most),
                             groups.size(), unit_below_top_0, out.data() + offset),
                due.size() / most_columns)
          << round;
      ASSERT_EQ(std::memcmp(out.data() + offset, due.data(), due.size() * sizeof(double)), 0) << round;
      for (std::size_t i = out.size() - 64; i < out.size(); ++i) ASSERT_EQ(out[i], std::byte{0xA5});
      rounded += due.size();
    }
    EXPECT_GT(rounded, 10000u);
    EXPECT_GT(refused, 500);
  }
}

STEADFOLD_EVERY_TARGET(BinnedGroups);

}  // namespace
}  // namespace steadfold::test::binned_groups_test
