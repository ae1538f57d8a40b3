// Accumulators of the ranks of a group, merged in one reduction.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "capi/on_groups.hpp"
#include "steadfold/accumulator.hpp"
#include "support/hostile.hpp"
#include "support/parts.hpp"

namespace steadfold::test::merge_ranks_test {
namespace {

std::vector<std::byte> bytes_of(const sf_accumulator* accumulator) {
  std::uint64_t size = 0;
  sf_accumulator_write(accumulator, nullptr, 0, &size);
  std::vector<std::byte> bytes(size);
  EXPECT_EQ(sf_accumulator_write(accumulator, bytes.data(), size, &size), SF_OK) << sf_error_text();
  return bytes;
}

TEST(MergeRanks, HasTheBytesOfOneProcess) {
  const std::vector<double> x = hostile(999, 1), y = hostile(999, 2);
  sf::ProductAccumulator<double> all(3);
  all.add_products(x, y);
  for (const int p : {1, 2, 3, 4, 5, 7, 8}) {
    on_groups(p, static_cast<std::uint64_t>(p), [&](const Group& group) {
      const std::size_t begin = 3 * (333 * static_cast<std::size_t>(group.rank()) / static_cast<std::size_t>(p));
      const std::size_t end = 3 * (333 * (static_cast<std::size_t>(group.rank()) + 1) / static_cast<std::size_t>(p));
      sf::ProductAccumulator<double> mine(3);
      mine.add_products(std::span(x).subspan(begin, end - begin), std::span(y).subspan(begin, end - begin));
      ASSERT_EQ(sf_accumulator_merge_ranks(mine.get(), group.handle()), SF_OK) << sf_error_text();
      EXPECT_EQ(bytes_of(mine.get()), bytes_of(all.get())) << p;
    });
  }
}

TEST(MergeRanks, OneRanksFaultIsEveryRanksError) {
  on_groups(4, 5, [](const Group& group) {
    sf::Accumulator<double> one(1), two(2);
    one.add(1.0);
    sf_accumulator* const given = group.rank() == 1 ? two.get() : one.get();
    EXPECT_EQ(sf_accumulator_merge_ranks(given, group.handle()), SF_MISMATCH) << sf_error_text();
    EXPECT_EQ(sf_accumulator_merge_ranks(group.rank() == 3 ? nullptr : one.get(), group.handle()), SF_INVALID_ARGUMENT);
    EXPECT_NE(std::string(sf_error_text()).find("no accumulator (the pointer is null)"), std::string::npos)
        << sf_error_text();
    ASSERT_EQ(sf_accumulator_merge_ranks(one.get(), group.handle()), SF_OK) << sf_error_text();
    EXPECT_EQ(one.sum(), 4.0);
  });
  EXPECT_EQ(sf_accumulator_merge_ranks(nullptr, nullptr), SF_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace steadfold::test::merge_ranks_test
