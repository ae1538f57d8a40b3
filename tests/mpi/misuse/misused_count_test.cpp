// Counts that no memory holds and no index reaches: refused on every rank, never wrapped around; and counts just below.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "mpi/misuse/misuse.hpp"

namespace steadfold::tests::misused_count_test {
namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

class MisusedCountTest : public MisuseTest {
 protected:
  /// Refused as a one-shot, which never gets as far as to read, and at bind.
  void expect_refused(const sf_call& call, const Words& words, const std::string& what) {
    double result = 0;
    expect_status(SF_INVALID_ARGUMENT, words, what,
                  [&] { return sf_reduce(&call, x.data(), nullptr, &result, world.comm); });
    sf_plan* plan = nullptr;
    expect_status(SF_INVALID_ARGUMENT, words, what + " at bind",
                  [&] { return sf_plan_bind(&call, world.comm, &plan); });
    EXPECT_EQ(plan, nullptr) << what;
  }
};

/// Each product is a small number where it wraps around.
TEST_F(MisusedCountTest, RowsTimesColumnsTimesBytes) {
  struct Product {
    std::uint64_t rows, columns;
  };
  const Product products[] = {{std::uint64_t{1} << 61, 1},
                              {(std::uint64_t{1} << 61) + 1, 1},
                              {most, 1},
                              {most - 1, 1},
                              {std::uint64_t{1} << 32, std::uint64_t{1} << 29},
                              {std::uint64_t{1} << 60, 3},
                              {1, std::uint64_t{1} << 61},
                              {1, most / 8 + 2}};
  for (const Product& product : products) {
    for (int odd = -1; odd < world.size; ++odd) {  // -1: all
      sf_call call = call_of_rows(5);
      if (odd < 0 || is_astray(odd)) {
        call.rows = product.rows;
        call.columns = product.columns;
      }
      expect_refused(call, {"memory", "columns"},
                     std::to_string(product.rows) + " rows of " + std::to_string(product.columns));
    }
  }
}

TEST_F(MisusedCountTest, ElementsOfOnesOwn) {
  sf_call call = call_of_rows(1);
  call.operation = SF_USER;
  call.type = call.result_type = SF_BYTES;
  call.user = [](const void*, const void*, void*, std::size_t, void*) { return 0; };
  call.element_bytes = std::size_t{1} << 40;
  call.rows = std::uint64_t{1} << 24;
  expect_refused(call, {"memory", "element_bytes"}, "rows of large elements");
  call.rows = 1;
  call.columns = std::uint64_t{1} << 24;
  expect_refused(call, {"memory", "element_bytes"}, "columns of large elements");
  call.columns = 1;
  call.element_bytes = std::numeric_limits<std::size_t>::max();
  expect_refused(call, {"memory", "element_bytes"}, "one immense element");
}

/// Sizes that add up to the number of rows only modulo 2^64, and an interval that ends near it.
TEST_F(MisusedCountTest, Intervals) {
  const std::vector<std::vector<Interval>> lists = {
      {{0, most}, {0, 6}},
      {{0, most}, {0, most}, {0, 7}},
      {{0, std::uint64_t{1} << 63}, {std::uint64_t{1} << 63, most}, {0, 6}},
      {{0, most / 2}, {0, most / 2}, {0, 7}},
      {{most - 5, most}}};
  for (const auto& intervals : lists) {
    sf_call call = call_of_intervals(intervals);
    EXPECT_EQ(call.rows, 5u) << "wrapped around, so that nothing else is wrong";
    for (const sf_method method : {SF_AUTOMATIC, SF_TREE}) {
      call.method = method;
      expect_refused(call, {"interval", "rows"}, "intervals that wrap around");
    }
  }
}

/// In MPI's shape there are as many rows as ranks.
TEST_F(MisusedCountTest, ElementsInTheShapeOfMpi) {
  sf_call call = call_of_rows(1);
  call.layout = SF_ROW_PER_RANK;
  double result = 0;
  for (const sf_method method : {SF_TREE, SF_EXACT, SF_PLAIN}) {
    call.method = method;
    call.element_count = static_cast<std::uint64_t>(world.size) + 1;
    expect_status(SF_GAP, {"element count", std::to_string(call.element_count)}, "too many elements",
                  [&] { return sf_reduce(&call, x.data(), nullptr, &result, world.comm); });
    call.element_count = 0;
    expect_status(SF_OVERLAP, {"element count of 0"}, "too few elements",
                  [&] { return sf_reduce(&call, x.data(), nullptr, &result, world.comm); });
    call.element_count = static_cast<std::uint64_t>(world.size);
    EXPECT_EQ(sf_reduce(&call, x.data(), nullptr, &result, world.comm), SF_OK) << sf_error_text();
  }
}

TEST_F(MisusedCountTest, RankOrder) {
  sf_interval mine{7, 7};
  std::uint64_t count = 7;
  for (int odd = 0; odd < world.size; ++odd) {
    for (const std::uint64_t rows : {most, most - 4}) {
      const std::uint64_t others = rows == most ? 0 : 5;
      if (others > 0 && world.size == 1) continue;
      expect_status(SF_INVALID_ARGUMENT, {"too many rows", "2^63"}, "rank order that wraps around",
                    [&] { return sf_rank_order(is_astray(odd) ? rows : others, world.comm, &mine, &count); });
    }
  }
  EXPECT_EQ(mine.begin, 7u);
  EXPECT_EQ(count, 7u);
}

/// Each rank's rows are possible, all of them together are not.
TEST_F(MisusedCountTest, RowsOfAllRanksTogether) {
  sf_call call = call_of_rows((std::uint64_t{1} << 63) - 1);
  call.operation = SF_USER;
  call.type = call.result_type = SF_BYTES;
  call.element_bytes = 1;
  call.user = [](const void*, const void*, void*, std::size_t, void*) { return 0; };
  call.method = SF_TREE;
  sf_plan* plan = nullptr;
  if (world.size > 1) {
    expect_status(SF_INVALID_ARGUMENT, {"too many rows", "2^63"}, "rows that wrap around",
                  [&] { return sf_plan_bind(&call, world.comm, &plan); });
    EXPECT_EQ(plan, nullptr);
    return;
  }
  ASSERT_EQ(sf_plan_bind(&call, world.comm, &plan), SF_OK) << sf_error_text();
  const std::string total = std::to_string((std::uint64_t{1} << 63) - 1);
  EXPECT_NE(std::string(sf_plan_describe(plan)).find(total), std::string::npos) << sf_plan_describe(plan);
  sf_plan_free(plan);
  expect_usable("a plan of immensely many rows");
}

}  // namespace
}  // namespace steadfold::tests::misused_count_test
