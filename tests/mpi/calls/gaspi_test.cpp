// GASPI's collectives: timeouts, calls made again until they have ended, operations with a state of their own. Bits are
// those of the binary tree over ranks.
#include "steadfold/steadfold_gaspi.h"

#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/ranks.hpp"
#include "steadfold/steadfold_mpi.h"

namespace steadfold::tests::gaspi_test {
namespace {

using Clock = std::chrono::steady_clock;

/// Neither commutative nor associative: its bits tell the order.
int blend(const void* one, const void* two, void* result, std::size_t count, void* /*context*/) {
  for (std::size_t i = 0; i < count; ++i)
    static_cast<double*>(result)[i] = 0.7 * static_cast<const double*>(one)[i] - static_cast<const double*>(two)[i] / 3;
  return 0;
}

class GaspiTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(sf_group_of(world.comm, &group), SF_OK) << sf_error_text(); }

  template <class T>
  std::vector<T> mine_of(std::size_t count) {
    Random random(seed_of("gaspi_test", 77) + world.index());
    return numbers<T>(count, random);
  }
  /// The result that is due: what the blocking call in C makes of these elements.
  template <class T>
  std::vector<T> due(const std::vector<T>& mine, sf_operation operation, sf_type type) {
    sf_call call = sf_call_default();
    call.operation = operation;
    call.type = call.result_type = type;
    if (operation == SF_USER) {
      call.user = blend;
      call.element_bytes = sizeof(T);
    }
    call.layout = SF_ROW_PER_RANK;
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
/// How often the operation was asked, and how often it wanted to be asked later.
struct State {
  int timeouts_each = 0;  // before it combines
  int timeouts = 0;
  int combined = 0;
  bool fails = false;
  sf_gaspi_timeout least = SF_GASPI_BLOCK;  // of the times that it got
  int timeouts_now = 0;                     // since it combined last
  std::vector<const void*> asked = {};      // what it did not combine then
  std::vector<std::byte> operands = {};
};
std::vector<std::byte> bytes_of(const void* one, const void* two, std::size_t size) {
  std::vector<std::byte> both(2 * size);
  std::memcpy(both.data(), one, size);
  std::memcpy(both.data() + size, two, size);
  return both;
}
/// Whether it wants to be asked later. What it did not combine it is asked next, and nothing has changed.
bool postpones(State& own, const void* one, const void* two, void* result, std::size_t bytes, sf_gaspi_timeout time) {
  own.least = std::min(own.least, time);
  const std::vector<const void*> asked = {one, two, result};
  if (own.timeouts_now > 0) {
    EXPECT_EQ(own.asked, asked) << "another pair before this one";
    EXPECT_TRUE(own.operands == bytes_of(one, two, bytes));
  }
  own.asked = asked;
  own.operands = bytes_of(one, two, bytes);
  if (own.timeouts_now < own.timeouts_each) {
    ++own.timeouts_now;
    ++own.timeouts;
    return true;
  }
  own.timeouts_now = 0;
  ++own.combined;
  return false;
}
sf_gaspi_return join(const void* one, const void* two, void* result, void* state, std::uint32_t num,
                     std::size_t element_size, sf_gaspi_timeout timeout_ms) {
  auto& own = *static_cast<State*>(state);
  EXPECT_EQ(element_size, sizeof(Span));
  if (postpones(own, one, two, result, num * sizeof(Span), timeout_ms)) return SF_GASPI_TIMEOUT;
  if (own.fails) return SF_GASPI_ERROR;
  const auto* a = static_cast<const Span*>(one);
  const auto* b = static_cast<const Span*>(two);
  for (std::uint32_t i = 0; i < num; ++i) {
    EXPECT_EQ(a[i].last + 1, b[i].first) << "operands in rank order";
    static_cast<Span*>(result)[i] = {a[i].first, b[i].last, a[i].count + b[i].count};
  }
  return SF_GASPI_SUCCESS;
}
sf_gaspi_return blend_later(const void* one, const void* two, void* result, void* state, std::uint32_t num,
                            std::size_t /*element_size*/, sf_gaspi_timeout timeout_ms) {
  auto& own = *static_cast<State*>(state);
  if (postpones(own, one, two, result, num * sizeof(double), timeout_ms)) return SF_GASPI_TIMEOUT;
  return blend(one, two, result, num, nullptr) == 0 ? SF_GASPI_SUCCESS : SF_GASPI_ERROR;
}

TEST_F(GaspiTest, OperationsOfYourOwnKeepRankOrder) {
  for (const std::uint32_t num : {1u, 255u, 3000u}) {
    const std::vector<Span> mine(num, Span{world.rank, world.rank, 1});
    std::vector<Span> all(num);
    State state{.timeouts_each = 1};
    sf_gaspi_return done = SF_GASPI_TIMEOUT;
    while (done == SF_GASPI_TIMEOUT)
      done = sf_gaspi_allreduce_user(mine.data(), all.data(), num, sizeof(Span), join, &state, group, SF_GASPI_TEST);
    ASSERT_EQ(done, SF_GASPI_SUCCESS) << sf_error_text();
    for (const Span& each : all) {
      ASSERT_EQ(each.first, 0);
      ASSERT_EQ(each.last, world.size - 1);
      ASSERT_EQ(each.count, world.size);
    }
  }
}

/// The operation's timeout is that of the call, which the caller makes again: then the operation is asked again, once,
/// for the same pair. Bits, and how often it combines, are those of an operation that needs no time. In one-shot
/// exchanges, in plans of narrow rows, and in merges that have pieces.
TEST_F(GaspiTest, AnOperationsTimeoutIsThatOfTheCall) {
  for (const std::uint32_t num : {1u, 30u, 255u, 1200u, 20001u}) {
    const std::vector<double> mine = mine_of<double>(num);
    State at_once;
    std::vector<double> expected(num);
    ASSERT_EQ(sf_gaspi_allreduce_user(mine.data(), expected.data(), num, sizeof(double), blend_later, &at_once, group,
                                      SF_GASPI_BLOCK),
              SF_GASPI_SUCCESS);
    EXPECT_TRUE(are(expected, due(mine, SF_USER, SF_BYTES)));
    for (const sf_gaspi_timeout timeout : {sf_gaspi_timeout{SF_GASPI_TEST}, sf_gaspi_timeout{2}}) {
      State state{.timeouts_each = 3 - world.rank % 3};
      std::vector<double> found(num, -1);
      sf_gaspi_return done = SF_GASPI_TIMEOUT;
      int late = 0;
      while (done == SF_GASPI_TIMEOUT) {
        const int before = state.timeouts;
        done = sf_gaspi_allreduce_user(mine.data(), found.data(), num, sizeof(double), blend_later, &state, group,
                                       timeout);
        EXPECT_LE(state.timeouts, before + 1) << "asked again within the call";
        if (state.timeouts == before) continue;
        EXPECT_EQ(done, SF_GASPI_TIMEOUT);
        ++late;
      }
      ASSERT_EQ(done, SF_GASPI_SUCCESS) << sf_error_text();
      EXPECT_TRUE(are(found, expected)) << num << " with timeout " << timeout;
      EXPECT_EQ(state.combined, at_once.combined);
      EXPECT_EQ(late, state.timeouts_each * state.combined);
      EXPECT_TRUE(state.combined == 0 || state.least <= timeout) << "the time that the call has left";
    }
  }
}

/// Who blocks makes no other call: the operation is asked again in this one.
TEST_F(GaspiTest, ABlockingCallAsksAgain) {
  for (const std::uint32_t num : {1u, 255u, 20001u}) {
    const std::vector<double> mine = mine_of<double>(num);
    State state{.timeouts_each = 4};
    std::vector<double> found(num, -1);
    ASSERT_EQ(sf_gaspi_allreduce_user(mine.data(), found.data(), num, sizeof(double), blend_later, &state, group,
                                      SF_GASPI_BLOCK),
              SF_GASPI_SUCCESS);
    EXPECT_TRUE(are(found, due(mine, SF_USER, SF_BYTES)));
    EXPECT_EQ(state.timeouts, 4 * state.combined);
    EXPECT_EQ(state.least, SF_GASPI_BLOCK);
  }
}

/// As long as the operation wants to be asked later, every call ends soon and can be made again, on all ranks.
TEST_F(GaspiTest, AnOperationThatAlwaysWantsMoreTimeHoldsNoCallUp) {
  for (const std::uint32_t num : {1u, 255u, 20001u}) {
    const std::vector<double> mine = mine_of<double>(num);
    State state{.timeouts_each = 1000000};
    std::vector<double> found(num, -1);
    const auto reduce = [&](sf_gaspi_timeout timeout) {
      return sf_gaspi_allreduce_user(mine.data(), found.data(), num, sizeof(double), blend_later, &state, group,
                                     timeout);
    };
    sf_gaspi_return done = SF_GASPI_TIMEOUT;
    for (int i = 0; i < 200 && done == SF_GASPI_TIMEOUT; ++i) {
      const int before = state.timeouts;
      done = reduce(i % 10 == 0 ? 1 : SF_GASPI_TEST);
      EXPECT_LE(state.timeouts, before + 1);
    }
    EXPECT_EQ(done, world.size > 1 ? SF_GASPI_TIMEOUT : SF_GASPI_SUCCESS);
    EXPECT_EQ(state.combined, 0);
    if (state.timeouts > 0) {  // what was postponed here is asked for next
      const auto before = Clock::now();
      EXPECT_EQ(reduce(60000), SF_GASPI_TIMEOUT);
      EXPECT_LT(Clock::now() - before, std::chrono::seconds(20)) << "goes on until its own time is over";
    }
    MPI_Barrier(world.comm);
    state.timeouts_each = 0;
    state.timeouts_now = 0;
    while (done == SF_GASPI_TIMEOUT) done = reduce(1);
    EXPECT_EQ(done, SF_GASPI_SUCCESS) << sf_error_text();
    EXPECT_TRUE(are(found, due(mine, SF_USER, SF_BYTES)));
  }
}

/// What waits for another call of the group asks the operation, too; nobody waits for ever.
TEST_F(GaspiTest, OtherCallsMoveAPostponedOneOn) {
  for (const std::uint32_t num : {1u, 255u, 20001u}) {
    const std::vector<double> mine = mine_of<double>(num);
    State state{.timeouts_each = 2};
    std::vector<double> found(num, -1);
    const auto reduce = [&](sf_gaspi_timeout timeout) {
      return sf_gaspi_allreduce_user(mine.data(), found.data(), num, sizeof(double), blend_later, &state, group,
                                     timeout);
    };
    sf_gaspi_return done = reduce(SF_GASPI_TEST);
    const std::vector<double> expected = due(mine, SF_USER, SF_BYTES);
    while (done == SF_GASPI_TIMEOUT) done = reduce(SF_GASPI_TEST);
    EXPECT_EQ(done, SF_GASPI_SUCCESS) << sf_error_text();
    EXPECT_TRUE(are(found, expected));
  }
}

/// A failure after a timeout is still one of all ranks.
TEST_F(GaspiTest, AnOperationMayFailAfterItsTimeout) {
  if (world.size == 1) return;  // nothing is combined
  for (const std::uint32_t num : {1u, 255u, 20001u}) {
    const std::vector<Span> mine(num, Span{world.rank, world.rank, 1});
    std::vector<Span> all(num);
    State state{.timeouts_each = 2, .fails = true};
    sf_gaspi_return done = SF_GASPI_TIMEOUT;
    while (done == SF_GASPI_TIMEOUT)
      done = sf_gaspi_allreduce_user(mine.data(), all.data(), num, sizeof(Span), join, &state, group, SF_GASPI_TEST);
    EXPECT_EQ(done, SF_GASPI_ERROR);
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
  EXPECT_NE(std::string(sf_error_text()).find("type 6 is unknown (the last value is 5)"), std::string::npos)
      << sf_error_text();
  const auto operation = static_cast<sf_gaspi_operation>(world.rank == 0 ? 3 : SF_GASPI_OP_SUM);
  EXPECT_EQ(sf_gaspi_allreduce(&mine, &sum, 1, operation, SF_GASPI_TYPE_DOUBLE, group, SF_GASPI_BLOCK), SF_GASPI_ERROR);
  EXPECT_NE(std::string(sf_error_text()).find("operation 3 is unknown (the last value is 2)"), std::string::npos)
      << sf_error_text();
  EXPECT_EQ(sf_gaspi_allreduce(world.rank == 0 ? nullptr : &mine, &sum, 1, SF_GASPI_OP_SUM, SF_GASPI_TYPE_DOUBLE, group,
                               SF_GASPI_BLOCK),
            SF_GASPI_ERROR);
  EXPECT_EQ(sf_gaspi_barrier(nullptr, SF_GASPI_BLOCK), SF_GASPI_ERROR);
  EXPECT_EQ(sf_gaspi_barrier(group, SF_GASPI_BLOCK), SF_GASPI_SUCCESS);
}

}  // namespace
}  // namespace steadfold::tests::gaspi_test
