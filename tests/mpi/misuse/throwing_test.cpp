// Operators that throw on one rank, in the local fold or between ranks: the exception comes back where it was thrown,
// an Error elsewhere, the next call is right, and nobody waits for ever.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/operators.hpp"
#include "mpi/outcome.hpp"
#include "mpi/ranks.hpp"
#include "steadfold/started.hpp"

namespace steadfold::tests::throwing_test {
namespace {

/// Subtracts; throws at the `fuse`-th call from now on this rank, or never where it is 0.
struct Bomb {
  struct State {
    int rank = 0;
    int fuse = 0;
    bool went_off = false;
  };
  State* state;

  double operator()(double a, double b) const {
    if (state->fuse > 0 && --state->fuse == 0) {
      state->went_off = true;
      throw Thrown{state->rank};
    }
    return a - b;
  }
};

/// A bomb on arrays: one call subtracts many elements, and each counts as a call of the bomb.
struct ArrayBomb {
  Bomb bomb;
  void operator()(const double* a, const double* b, double* result, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) result[i] = bomb(a[i], b[i]);
  }
};

class ThrowingTest : public testing::Test {
 protected:
  Bomb lit(bool here, int fuse) {
    state = {world.rank, here ? fuse : 0, false};
    return {&state};
  }

  bool anywhere(bool here) const {
    int own = here ? 1 : 0;
    int any = 0;
    MPI_Allreduce(&own, &any, 1, MPI_INT, MPI_MAX, world.comm);
    return any != 0;
  }

  /// After `call` with the lit operator: who must have failed, and how. True when it went off anywhere.
  bool expect_outcome(const Outcome& outcome, int root, const std::string& what) {
    const bool any = anywhere(state.went_off);
    if (state.went_off) {
      EXPECT_EQ(outcome.thrown_on, world.rank) << what << ": " << outcome.string();
    } else if (any && (root < 0 || root == world.rank)) {
      EXPECT_EQ(outcome.status, SF_OPERATOR_FAILED) << what << ": " << outcome.string();
    } else if (!any) {
      EXPECT_FALSE(outcome.failed()) << what << ": " << outcome.string();
    }
    return any;
  }

  void expect_usable(const std::string& what) {
    state = {};
    const std::vector<double> mine = {1.0 + world.rank};
    std::vector<double> all;
    for (int r = 0; r < world.size; ++r) all.push_back(1.0 + r);
    EXPECT_TRUE(is(reduce(mine, Bomb{&state}, world.comm), tree_of(all, subtract))) << "after " << what;
    EXPECT_TRUE(is(reduce(mine, Bomb{&state}, world.comm, {.schedule = "binomial"}), tree_of(all, subtract)))
        << "after " << what;
  }

  Ranks world;
  Random random{seed_of("throwing_test", 31337)};
  Bomb::State state;
};

struct Where {
  std::string text;
  std::size_t rows;
  int fuse;
};

/// One element a rank: only merges call the operator, each at the first, second or third call. Many: the local fold.
std::vector<Where> places() {
  return {{"first merge", 1, 1},
          {"second merge", 1, 2},
          {"third merge", 1, 3},
          {"local fold", 100, 1},
          {"end of the local fold", 100, 99},
          {"after the local fold", 100, 101}};
}

TEST_F(ThrowingTest, InOneShots) {
  bool went_off = false;
  for (const std::string& schedule : schedules_of({}, false)) {
    for (const Where& where : places()) {
      for (int odd = 0; odd < world.size; ++odd) {
        const std::vector<double> mine(where.rows, 0.5);
        const Bomb bomb = lit(world.rank == odd, where.fuse);
        const std::string what = where.text + " on rank " + std::to_string(odd) + " by '" + schedule + "'";
        const Outcome outcome = outcome_of([&] { reduce(mine, bomb, world.comm, {.schedule = schedule}); });
        went_off |= expect_outcome(outcome, -1, what);
        expect_usable(what);
      }
    }
  }
  EXPECT_TRUE(went_off);
}

TEST_F(ThrowingTest, InOneShotsWithALayout) {
  for (const std::string& schedule : schedules_of({}, false)) {
    for (int odd = 0; odd < world.size; ++odd) {
      const std::uint64_t begin = world.index();
      const Options options{.layout = Layout::intervals({{begin, begin + 1}}), .schedule = schedule};
      for (const int fuse : {1, 2, 3}) {
        const Bomb bomb = lit(world.rank == odd, fuse);
        const std::string what = "merge " + std::to_string(fuse) + " on rank " + std::to_string(odd) + ", " + schedule;
        const std::vector<double> mine = {0.5};
        expect_outcome(outcome_of([&] { reduce(mine, bomb, world.comm, options); }), -1, what);
        expect_usable(what);
      }
    }
  }
}

TEST_F(ThrowingTest, OnEveryRankAtOnce) {
  for (const std::string& schedule : schedules_of({}, false)) {
    for (const Where& where : places()) {
      const std::vector<double> mine(where.rows, 0.5);
      const Bomb bomb = lit(true, where.fuse);
      const std::string what = where.text + " everywhere by '" + schedule + "'";
      expect_outcome(outcome_of([&] { reduce(mine, bomb, world.comm, {.schedule = schedule}); }), -1, what);
      expect_usable(what);
    }
  }
}

TEST_F(ThrowingTest, InRootedCalls) {
  for (const std::string& schedule : schedules_of({}, true)) {
    for (const Where& where : places()) {
      for (int odd = 0; odd < world.size; ++odd) {
        const int root = (odd + 1) % world.size;
        for (const int to : {odd, root}) {
          const std::vector<double> mine(where.rows, 0.5);
          const Bomb bomb = lit(world.rank == odd, where.fuse);
          const std::string what =
              where.text + " on rank " + std::to_string(odd) + " to " + std::to_string(to) + ", " + schedule;
          expect_outcome(outcome_of([&] { reduce(mine, bomb, world.comm, {.root = to, .schedule = schedule}); }), to,
                         what);
          expect_usable(what);
        }
      }
    }
  }
}

TEST_F(ThrowingTest, InVectors) {
  for (const std::size_t columns : {std::size_t{1}, std::size_t{4}, std::size_t{3000}}) {
    for (const std::string& schedule : schedules_of({}, false)) {
      for (int odd = 0; odd < world.size; ++odd) {
        std::vector<double> buffer(columns, 0.5);
        const ArrayBomb bomb{lit(world.rank == odd, static_cast<int>(columns))};
        const std::string what = std::to_string(columns) + " columns on rank " + std::to_string(odd) + ", " + schedule;
        const auto call = [&] { allreduce(std::span{buffer}, bomb, world.comm, {.schedule = schedule}); };
        if (expect_outcome(outcome_of(call), -1, what)) {
          EXPECT_TRUE(is(buffer[0], 0.5)) << what << ": a failed call writes no result";
        }
        expect_usable(what);
      }
    }
  }
}

TEST_F(ThrowingTest, InPlans) {
  const std::vector<double> mine(3, 0.5);
  const std::vector<double> all(3 * world.count(), 0.5);
  for (const std::string& schedule : schedules_of({}, false)) {
    state = {};
    Plan<double> plan(Bomb{&state}, mine.size(), world.comm, {.schedule = schedule});
    for (int odd = 0; odd < world.size; ++odd) {
      for (const int fuse : {1, 2, 3, 4, 5}) {
        lit(world.rank == odd, fuse);
        const std::string what = "call " + std::to_string(fuse) + " on rank " + std::to_string(odd) + ", " + schedule;
        expect_outcome(outcome_of([&] { plan.run(mine); }), -1, what);
        state = {};
        EXPECT_TRUE(is(plan.run(mine), tree_of(all, subtract))) << "after " << what;
      }
    }
  }
}

TEST_F(ThrowingTest, InRootedPlans) {
  const std::vector<double> mine(3, 0.5);
  const std::vector<double> all(3 * world.count(), 0.5);
  for (const std::string& schedule : schedules_of({}, true)) {
    for (int root = 0; root < world.size; ++root) {
      state = {};
      Plan<double> plan(Bomb{&state}, mine.size(), world.comm, {.root = root, .schedule = schedule});
      for (const int fuse : {1, 2, 3, 4}) {
        lit(true, fuse);
        const std::string what = "call " + std::to_string(fuse) + " to " + std::to_string(root) + ", " + schedule;
        expect_outcome(outcome_of([&] { plan.run(mine); }), root, what);
        state = {};
        const double found = plan.run(mine);
        if (world.rank == root) {
          EXPECT_TRUE(is(found, tree_of(all, subtract))) << "after " << what;
        }
      }
    }
  }
}

TEST_F(ThrowingTest, ByTestAndWait) {
  const std::vector<double> mine(3, 0.5);
  double result = 7;
  for (const bool by_wait : {true, false}) {
    state = {};
    Plan<double> plan(Bomb{&state}, mine.size(), world.comm);
    for (int odd = 0; odd < world.size; ++odd) {
      lit(world.rank == odd, 2);
      plan.start(mine, {&result, 1});
      const Outcome outcome = outcome_of([&] {
        if (by_wait) plan.wait();
        while (!by_wait && !plan.test()) {
        }
      });
      if (expect_outcome(outcome, -1, "wait or test")) {
        EXPECT_TRUE(is(result, 7.0)) << "a failed run writes no result";
      }
      result = 7;
    }
  }
}

TEST_F(ThrowingTest, NoexceptOperatorsAreNotAskedAbout) {
  const auto counts = [](double a, double b) noexcept { return a - b; };
  for (const std::string& schedule : schedules_of({}, false)) {
    const std::vector<double> mine(3, 0.5);
    const std::vector<double> all(3 * world.count(), 0.5);
    EXPECT_TRUE(is(reduce(mine, counts, world.comm, {.schedule = schedule}), tree_of(all, subtract))) << schedule;
  }
}

/// The caller's own type comes back, not a copy of its text.
TEST_F(ThrowingTest, AnyTypeOfException) {
  const std::vector<double> mine(3, 0.5);
  const bool here = world.rank == world.size - 1;
  const auto op = [here](double a, double b) {
    if (here) throw 42;
    return a - b;
  };
  int caught = 0;
  sf_status status = SF_OK;
  try {
    reduce(mine, op, world.comm);
  } catch (const int number) {
    caught = number;
  } catch (const Error& error) {
    status = error.status();
  }
  EXPECT_EQ(caught, here ? 42 : 0);
  EXPECT_EQ(status, here ? SF_OK : SF_OPERATOR_FAILED);
  expect_usable("an int");
}

int fails(const void* left, const void*, void* result, std::size_t count, void* context) {
  std::memmove(result, left, count * sizeof(double));
  return *static_cast<const int*>(context);
}

TEST_F(ThrowingTest, FunctionsThatReportFailure) {
  const std::vector<double> mine(4, 0.5);
  for (int odd = 0; odd < world.size; ++odd) {
    int verdict = world.rank == odd ? -1 : 0;
    sf_call call = sf_call_default();
    call.operation = SF_USER;
    call.type = call.result_type = SF_BYTES;
    call.element_bytes = sizeof(double);
    call.user = fails;
    call.context = &verdict;
    call.rows = 4;
    double result = 7;
    EXPECT_EQ(sf_reduce(&call, mine.data(), nullptr, &result, world.comm), SF_OPERATOR_FAILED) << sf_error_text();
    EXPECT_TRUE(is(result, 7.0));
    verdict = 0;
    EXPECT_EQ(sf_reduce(&call, mine.data(), nullptr, &result, world.comm), SF_OK) << sf_error_text();
    EXPECT_TRUE(is(result, 0.5));
  }
}

/// Adds; copies of it throw, where that was asked for.
struct Uncopied {
  explicit Uncopied(bool is_odd) : throws(is_odd) {}
  Uncopied(const Uncopied& other) : throws(other.throws) {
    if (throws) throw Thrown{0};
  }
  double operator()(double a, double b) const { return a + b; }
  bool throws;
};

/// The others are told in place of the call.
TEST_F(ThrowingTest, OperatorsThatCannotBeCopied) {
  std::vector<double> mine(3, 0.5);
  for (int odd = 0; odd < world.size; ++odd) {
    const Uncopied op(world.rank == odd);
    const auto expect_told = [&](const char* what, const auto& call) {
      const Outcome outcome = outcome_of(call);
      EXPECT_TRUE(world.rank == odd ? outcome.thrown_on == 0 : outcome.status != SF_OK) << what << outcome.string();
    };
    expect_told("reduce: ", [&] { reduce(mine, op, world.comm); });
    expect_told("allreduce: ", [&] { allreduce(mine, op, world.comm); });
    expect_told("start: ", [&] { start(op, mine, world.comm).get(); });
    expect_told("plan: ", [&] { Plan<double>(op, 3, world.comm); });
    expect_usable("copies that throw");
  }
}

}  // namespace
}  // namespace steadfold::tests::throwing_test
