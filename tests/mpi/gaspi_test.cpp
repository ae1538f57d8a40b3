// GASPI's collectives: timeouts, calls made again until they have ended, operations with a state of their own. Bits are
// those of the binary tree over ranks.
#include "steadfold/steadfold_gaspi.h"

#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "bits.hpp"
#include "ranks.hpp"
#include "run_ranks.hpp"
#include "steadfold/steadfold_mpi.h"

namespace steadfold::tests {
namespace {

using Clock = std::chrono::steady_clock;

class GaspiTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(sf_group_of(world.comm, &group), SF_OK) << sf_error_text(); }

  template <class T>
  std::vector<T> mine_of(std::size_t count) {
    Random random(seed_of("gaspi_test", 77) + world.index());
    return numbers<T>(count, random);
  }
  /// The same as the calls in C that wait.
  template <class T>
  std::vector<T> due(const std::vector<T>& mine, sf_operation operation, sf_type type) {
    sf_call call = sf_call_default();
    call.operation = operation;
    call.type = call.result_type = type;
    call.layout = SF_ROW_A_RANK;
    call.rows = 1;
    call.columns = mine.size();
    std::vector<T> result(mine.size());
    EXPECT_EQ(sf_group_reduce(&call, mine.data(), nullptr, result.data(), group), SF_OK) << sf_error_text();
    return result;
  }
  template <class T>
  void expect_all(sf_gaspi_datatype datatype, sf_type type) {
    for (const std::uint32_t num : {1u, 255u, 5000u}) {
      const std::vector<T> mine = mine_of<T>(num);
      for (const auto& [operation, own] : {std::pair(SF_GASPI_OP_SUM, SF_SUM), std::pair(SF_GASPI_OP_MIN, SF_MIN),
                                           std::pair(SF_GASPI_OP_MAX, SF_MAX)}) {
        const std::vector<T> expected = due(mine, own, type);
        std::vector<T> found(num);
        sf_gaspi_return done = SF_GASPI_TIMEOUT;
        while (done == SF_GASPI_TIMEOUT)
          done = sf_gaspi_allreduce(mine.data(), found.data(), num, operation, datatype, group, SF_GASPI_TEST);
        ASSERT_EQ(done, SF_GASPI_SUCCESS) << sf_error_text();
        EXPECT_EQ(std::memcmp(found.data(), expected.data(), num * sizeof(T)), 0) << num << " of type " << type;
      }
    }
  }

  Ranks world;
  sf_group* group = nullptr;
};

TEST_F(GaspiTest, EveryTypeAndOperation) {
  expect_all<int>(SF_GASPI_TYPE_INT, SF_I32);
  expect_all<unsigned>(SF_GASPI_TYPE_UINT, SF_U32);
  expect_all<long>(SF_GASPI_TYPE_LONG, SF_I64);
  expect_all<unsigned long>(SF_GASPI_TYPE_ULONG, SF_U64);
  expect_all<float>(SF_GASPI_TYPE_FLOAT, SF_F32);
  expect_all<double>(SF_GASPI_TYPE_DOUBLE, SF_F64);
}

/// A pair that is joined in order: not commutative, of 12 bytes.
struct Span {
  std::int32_t first, last, count;
};
struct State {
  int calls = 0;
  int timeouts = 0;
  bool fails = false;
  bool has_seen_block = false;
};
sf_gaspi_return join(const void* one, const void* two, void* result, void* state, std::uint32_t num,
                     std::size_t element_size, sf_gaspi_timeout timeout_ms) {
  auto& own = *static_cast<State*>(state);
  EXPECT_EQ(element_size, sizeof(Span));
  if (own.fails) return SF_GASPI_ERROR;
  if (++own.calls % 2 != 0) {
    ++own.timeouts;
    return SF_GASPI_TIMEOUT;
  }
  own.has_seen_block = own.has_seen_block || timeout_ms == SF_GASPI_BLOCK;
  const auto* a = static_cast<const Span*>(one);
  const auto* b = static_cast<const Span*>(two);
  for (std::uint32_t i = 0; i < num; ++i) {
    EXPECT_EQ(a[i].last + 1, b[i].first) << "operands in rank order";
    static_cast<Span*>(result)[i] = {a[i].first, b[i].last, a[i].count + b[i].count};
  }
  return SF_GASPI_SUCCESS;
}

TEST_F(GaspiTest, OperationsOfYourOwnKeepRankOrder) {
  for (const std::uint32_t num : {1u, 255u, 3000u}) {
    const std::vector<Span> mine(num, Span{world.rank, world.rank, 1});
    std::vector<Span> all(num);
    State state;
    sf_gaspi_return done = SF_GASPI_TIMEOUT;
    while (done == SF_GASPI_TIMEOUT)
      done = sf_gaspi_allreduce_user(mine.data(), all.data(), num, sizeof(Span), join, &state, group, SF_GASPI_TEST);
    ASSERT_EQ(done, SF_GASPI_SUCCESS) << sf_error_text();
    for (const Span& each : all) {
      ASSERT_EQ(each.first, 0);
      ASSERT_EQ(each.last, world.size - 1);
      ASSERT_EQ(each.count, world.size);
    }
    EXPECT_TRUE(state.calls == 0 || state.has_seen_block) << "an operation that needs more time gets it";
  }
}

TEST_F(GaspiTest, AnOperationThatFailsEndsTheCallOnAllRanks) {
  const Span mine{world.rank, world.rank, 1};
  Span all{};
  State state{.fails = true};
  if (world.size == 1) return;  // nothing is combined
  sf_gaspi_return done = SF_GASPI_TIMEOUT;
  while (done == SF_GASPI_TIMEOUT) done = sf_gaspi_allreduce_user(&mine, &all, 1, sizeof(Span), join, &state, group, 1);
  EXPECT_EQ(done, SF_GASPI_ERROR);
  EXPECT_EQ(sf_gaspi_barrier(group, SF_GASPI_BLOCK), SF_GASPI_SUCCESS) << sf_error_text();
}

/// One collective of a group is unfinished at a time; only the same call resumes it.
TEST_F(GaspiTest, OnlyTheSameCallResumes) {
  const std::vector<double> mine = mine_of<double>(3);
  std::vector<double> sums(3), others(3);
  const auto reduce = [&](std::vector<double>& to, sf_gaspi_timeout timeout) {
    return sf_gaspi_allreduce(mine.data(), to.data(), 3, SF_GASPI_OP_SUM, SF_GASPI_TYPE_DOUBLE, group, timeout);
  };
  if (world.rank != 0 || world.size == 1) {
    sf_gaspi_return done = reduce(sums, SF_GASPI_TEST);
    if (world.size > 1) {
      EXPECT_EQ(done, SF_GASPI_TIMEOUT) << "rank 0 has not come yet";
      EXPECT_EQ(reduce(others, SF_GASPI_TEST), SF_GASPI_ERROR);
      EXPECT_NE(std::string(sf_error_text()).find("unfinished"), std::string::npos);
      EXPECT_EQ(sf_gaspi_barrier(group, SF_GASPI_TEST), SF_GASPI_ERROR);
      const auto before = Clock::now();
      EXPECT_EQ(reduce(sums, 20), SF_GASPI_TIMEOUT);
      EXPECT_GE(Clock::now() - before, std::chrono::milliseconds(20));
    }
    MPI_Barrier(world.comm);
    while (done == SF_GASPI_TIMEOUT) done = reduce(sums, 1);
    EXPECT_EQ(done, SF_GASPI_SUCCESS) << sf_error_text();
  } else {
    MPI_Barrier(world.comm);
    EXPECT_EQ(reduce(sums, SF_GASPI_BLOCK), SF_GASPI_SUCCESS) << sf_error_text();
  }
  EXPECT_EQ(sums, due(mine, SF_SUM, SF_F64));
}

TEST_F(GaspiTest, WrongNumbersAreErrorsOnAllRanks) {
  const double mine = 1;
  double sum = 0;
  const auto datatype = static_cast<sf_gaspi_datatype>(world.rank == 0 ? 6 : SF_GASPI_TYPE_DOUBLE);
  EXPECT_EQ(sf_gaspi_allreduce(&mine, &sum, 1, SF_GASPI_OP_SUM, datatype, group, SF_GASPI_BLOCK), SF_GASPI_ERROR);
  EXPECT_EQ(sf_gaspi_allreduce(world.rank == 0 ? nullptr : &mine, &sum, 1, SF_GASPI_OP_SUM, SF_GASPI_TYPE_DOUBLE, group,
                               SF_GASPI_BLOCK),
            SF_GASPI_ERROR);
  EXPECT_EQ(sf_gaspi_barrier(nullptr, SF_GASPI_BLOCK), SF_GASPI_ERROR);
  EXPECT_EQ(sf_gaspi_barrier(group, SF_GASPI_BLOCK), SF_GASPI_SUCCESS);
}

}  // namespace
}  // namespace steadfold::tests

int main(int argc, char** argv) { return steadfold::tests::run_program(argc, argv); }
