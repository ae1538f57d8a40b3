// User operators that write over their right operand, as those of MPI do, against the same ones that write elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "capi/on_groups.hpp"
#include "support/parts.hpp"

namespace steadfold::test::writes_right_test {
namespace {

/// A product of matrices, whose bits show every change of order; padded, so that elements have any size.
template <std::size_t bytes>
struct Matrix {
  double a = 1, b = 0, c = 0, d = 1;
  std::array<char, bytes - 4 * sizeof(double)> padding{};
};

template <class M>
M product(const M& x, const M& y) {
  M z = y;  // with the padding of the right operand
  z.a = x.a * y.a + x.b * y.c;
  z.b = x.a * y.b + x.b * y.d;
  z.c = x.c * y.a + x.d * y.c;
  z.d = x.c * y.b + x.d * y.d;
  return z;
}

template <class M>
int write_result(const void* left, const void* right, void* result, std::size_t count, void*) {
  for (std::size_t i = 0; i < count; ++i)
    static_cast<M*>(result)[i] = product(static_cast<const M*>(left)[i], static_cast<const M*>(right)[i]);
  return 0;
}

/// Fails unless it is called as it was promised; counts its calls.
template <class M>
int write_right(const void* left, const void* right, void* result, std::size_t count, void* calls) {
  const auto* const first = static_cast<const M*>(left);
  auto* const both = static_cast<M*>(result);
  if (right != result || (first < both + count && both < first + count)) return 1;
  for (std::size_t i = 0; i < count; ++i) both[i] = product(first[i], both[i]);
  ++*static_cast<std::uint64_t*>(calls);
  return 0;
}

template <class M>
std::vector<M> random_matrices(std::size_t count) {
  std::mt19937_64 random(1712);
  std::uniform_real_distribution<double> entry(-1.1, 1.1);
  std::vector<M> made(count);
  for (M& each : made) {
    each = {.a = entry(random), .b = entry(random), .c = entry(random), .d = entry(random), .padding = {}};
    each.padding.fill(static_cast<char>(random()));
  }
  return made;
}

template <class M>
sf_call call_of(bool writes_right, std::uint64_t* calls) {
  sf_call call = sf_call_default();
  call.operation = SF_USER;
  call.type = call.result_type = SF_BYTES;
  call.element_bytes = sizeof(M);
  call.user = writes_right ? write_right<M> : write_result<M>;
  call.context = calls;
  call.operator_name = "product";
  call.writes_right = writes_right ? 1 : 0;
  return call;
}

template <class M>
void expect_equal_locally(std::size_t rows, std::uint64_t columns, sf_method method, std::uint32_t threads) {
  const std::vector<M> all = random_matrices<M>(rows * columns);
  std::vector<M> expected(columns), found(columns);
  std::uint64_t calls = 0;
  for (const bool writes_right : {false, true}) {
    sf_call call = call_of<M>(writes_right, &calls);
    call.columns = columns;
    call.rows = rows;
    call.method = method;
    call.threads = threads;
    ASSERT_EQ(sf_reduce_local(&call, all.data(), nullptr, (writes_right ? found : expected).data()), SF_OK)
        << sf_error_text();
  }
  EXPECT_EQ(std::memcmp(found.data(), expected.data(), columns * sizeof(M)), 0)
      << rows << " rows of " << columns << " by " << method;
  EXPECT_TRUE(calls > 0 || rows == 1);
}

TEST(WritesRight, HasTheBitsOfOperatorsThatWriteElsewhere) {
  for (const sf_method method : {SF_TREE, SF_PLAIN}) {
    for (const std::size_t rows : {1u, 2u, 3u, 1000u}) {
      expect_equal_locally<Matrix<40>>(rows, 1, method, 1);
      expect_equal_locally<Matrix<40>>(rows, 37, method, 1);
    }
    expect_equal_locally<Matrix<4096>>(9, 2, method, 1);
    expect_equal_locally<Matrix<4104>>(9, 2, method, 1);  // larger than what is copied at once
  }
}

TEST(WritesRight, InEveryCollectiveOfAnyNumberOfRanks) {
  using M = Matrix<40>;
  constexpr std::size_t rows = 100;
  const std::vector<M> all = random_matrices<M>(rows);
  for (const int p : {1, 2, 3, 4, 5, 7, 8}) {
    on_groups(p, static_cast<std::uint64_t>(p), [&](const Group& group) {
      const auto mine = part_of<M>(all, group.rank(), group.size());
      std::uint64_t calls = 0;
      for (const char* schedule : {"", "linear"}) {
        for (const sf_collective collective : {SF_REDUCE, SF_SCAN}) {
          if (collective == SF_SCAN && schedule[0] != '\0') continue;
          M results[2] = {};
          for (const bool writes_right : {false, true}) {
            sf_call call = call_of<M>(writes_right, &calls);
            call.rows = mine.size();
            call.layout = SF_RANK_ORDER;
            call.collective = collective;
            call.schedule = schedule[0] == '\0' ? nullptr : schedule;
            call.root = schedule[0] == 'l' ? 0 : SF_ALL_RANKS;
            ASSERT_EQ(sf_group_reduce(&call, mine.data(), nullptr, &results[writes_right], group.handle()), SF_OK)
                << sf_error_text();
          }
          EXPECT_EQ(std::memcmp(&results[0], &results[1], sizeof(M)), 0) << schedule << " of " << p;
        }
      }
    });
  }
}

}  // namespace
}  // namespace steadfold::test::writes_right_test
