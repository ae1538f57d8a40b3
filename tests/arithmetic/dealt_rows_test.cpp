// Rows sorted by groups are those that a plain loop finds, of all groups or of some. Seeds are printed.
#include "arithmetic/rows/dealt_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "arithmetic/partial.hpp"

namespace steadfold::test::dealt_rows_test {
namespace {

using arithmetic::DealtRows;
using order::Count;

using Groups = std::map<Count, std::vector<std::uint32_t>>;

Groups found_in(const DealtRows& dealt) {
  Groups found;
  for (const DealtRows::GroupRun& run : dealt.runs())
    for (Count i = run.begin; i < run.end; ++i) found[run.group].push_back(dealt.order()[i]);
  return found;
}

/// The columns of rows whose groups have three each, of which these are the second: some from the first one wanted on.
template <class Label>
void expect_columns(DealtRows& dealt, const std::vector<Label>& labels, const std::byte* mask, const Groups& groups,
                    arithmetic::Labels how, const order::Interval& wanted) {
  how.columns = 3;
  const Count first = 3 * wanted.begin + 1;
  ASSERT_TRUE(dealt.find_columns(reinterpret_cast<const std::byte*>(labels.data()), mask, labels.size(), how, 1,
                                 {first, first + 3 * wanted.size()}));
  std::vector<std::uint32_t> expected(labels.size(), arithmetic::ColumnBuilders::no_column);
  for (const auto& [group, rows] : groups)
    for (const std::uint32_t row : rows) expected[row] = static_cast<std::uint32_t>(3 * (group - wanted.begin));
  EXPECT_TRUE(std::ranges::equal(dealt.columns(), expected));
}

template <class Label>
void expect_sorted(DealtRows& dealt, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const Count groups = 1 + random() % 100;
  const arithmetic::Labels how{.groups = groups, .bytes = sizeof(Label), .is_signed = std::is_signed_v<Label>};
  std::vector<Label> labels(random() % 300);
  std::vector<std::byte> mask(labels.size());
  for (Label& label : labels) label = static_cast<Label>(random() % groups);
  for (Label& label : labels)
    if (std::is_signed_v<Label> && random() % 5 == 0) label = static_cast<Label>(-1);
  for (std::byte& byte : mask) byte = static_cast<std::byte>(random() % 3);
  const bool is_masked = random() % 2 == 0;
  const Count begin = random() % groups;
  const order::Interval wanted{begin, begin + 1 + random() % (groups - begin)};
  Groups expected;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (is_masked && mask[i] == std::byte{0}) continue;
    const auto group = static_cast<std::int64_t>(labels[i]);
    if (group < static_cast<std::int64_t>(wanted.begin) || group >= static_cast<std::int64_t>(wanted.end)) continue;
    expected[static_cast<Count>(group)].push_back(static_cast<std::uint32_t>(i));
  }
  const auto sort = [&] {
    return dealt.sort(reinterpret_cast<const std::byte*>(labels.data()), is_masked ? mask.data() : nullptr,
                      labels.size(), how, wanted);
  };
  ASSERT_TRUE(sort());
  EXPECT_EQ(found_in(dealt), expected);
  expect_columns(dealt, labels, is_masked ? mask.data() : nullptr, expected, how, wanted);
  if (labels.empty()) return;
  const std::size_t wrong = random() % labels.size();
  labels[wrong] = static_cast<Label>(groups);  // not below it, whatever is wanted
  const bool counts = !is_masked || mask[wrong] != std::byte{0};
  EXPECT_EQ(sort(), !counts);
  EXPECT_EQ(dealt.find_columns(reinterpret_cast<const std::byte*>(labels.data()), is_masked ? mask.data() : nullptr,
                               labels.size(), how, 0, wanted),
            !counts);
}

TEST(RowsDealtToGroups, AreThoseOfALoop) {
  DealtRows dealt;  // keeps its memory
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    switch (seed % 4) {
      case 0: expect_sorted<std::uint8_t>(dealt, seed); break;
      case 1: expect_sorted<std::uint16_t>(dealt, seed); break;
      case 2: expect_sorted<std::int32_t>(dealt, seed); break;
      default: expect_sorted<std::int64_t>(dealt, seed);
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace steadfold::test::dealt_rows_test
