// What only one rank suffers: requests of the MPI library that end in an error, memory of the node that cannot be
// mapped, and memory that runs out. Every rank that it touches hears of it, nobody hangs, and later calls are right.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/operators.hpp"
#include "mpi/outcome.hpp"
#include "mpi/ranks.hpp"
#include "mpi/run_ranks.hpp"
#include "steadfold/started.hpp"
#include "steadfold/steadfold.hpp"
#include "support/allocations.hpp"

namespace {

int ends_until_failure = 0;  // of requests, from now on; 0: none fails
bool refuses_shared_memory = false;

bool fails_now() { return ends_until_failure > 0 && --ends_until_failure == 0; }

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// These stand before the MPI library's own, and before the system's.
extern "C" {

int PMPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  static const auto real = next<int (*)(MPI_Request*, int*, MPI_Status*)>("PMPI_Test");
  const int error = real(request, done, status);
  return error == MPI_SUCCESS && *done != 0 && fails_now() ? MPI_ERR_OTHER : error;
}

int PMPI_Testsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  static const auto real = next<int (*)(int, MPI_Request*, int*, int*, MPI_Status*)>("PMPI_Testsome");
  int error = real(count, requests, done, indices, statuses);
  if (error != MPI_SUCCESS) return error;
  for (int i = 0; i < *done; ++i) {
    const bool fails = fails_now();
    if (fails) error = MPI_ERR_IN_STATUS;
    statuses[i].MPI_ERROR = fails ? MPI_ERR_OTHER : MPI_SUCCESS;
  }
  return error;
}

void* mmap(void* place, size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  static const auto real = next<void* (*)(void*, size_t, int, int, int, off_t)>("mmap");
  if (!refuses_shared_memory || (flags & MAP_SHARED) == 0) return real(place, bytes, protection, flags, file, offset);
  errno = ENOMEM;
  return MAP_FAILED;
}

}  // extern "C"

namespace steadfold::tests {
namespace {

class FailingTest : public testing::Test {
 protected:
  FailingTest() { setenv("STEADFOLD_TRANSPORT", "mpi", 1); }
  ~FailingTest() override {
    ends_until_failure = 0;
    refuses_shared_memory = false;
    unsetenv("STEADFOLD_TRANSPORT");
  }

  void expect_right(MPI_Comm comm, const std::string& what) const {
    const std::vector<double> mine = {0.1 * (1 + world.rank), 0.3};
    std::vector<double> all;
    for (int rank = 0; rank < world.size; ++rank) all.insert(all.end(), {0.1 * (1 + rank), 0.3});
    EXPECT_TRUE(is(sum(mine, comm), sum(all))) << what;
  }

  /// The plan's run in which the given request of the culprit ends in an error: the first, the second, ... Whether this
  /// is the culprit, and heard of it. `is_heard`: it must.
  bool fails(const char* schedule, int culprit, int end, bool is_heard) const {
    const Ranks copy = Ranks::duplicate();
    Plan<double> plan(plus, 2, copy.comm, {.schedule = schedule});
    const std::vector<double> mine = {1.0, 2.0};
    const auto run = [&] { EXPECT_TRUE(is(plan.run(mine), 3.0 * copy.size)) << schedule; };
    run();
    MPI_Barrier(copy.comm);
    if (copy.rank == culprit) ends_until_failure = end;
    const Outcome outcome = outcome_of(run);
    const bool has_failed = copy.rank == culprit && ends_until_failure == 0;
    ends_until_failure = 0;
    if (outcome.failed() || (is_heard && has_failed)) {
      EXPECT_EQ(outcome.status, SF_TRANSPORT_FAILED) << schedule << ", request " << end << ": " << outcome.string();
    }
    expect_right(world.comm, "after a request that failed");
    return has_failed && outcome.failed();
  }

  Ranks world;
};

/// Whichever request it is that fails, of whatever rank: that rank hears of it.
TEST_F(FailingTest, ARequestThatEndsInAnErrorIsNoSuccess) {
  for (const char* schedule : {"binomial", "ring", "flat"})
    for (int culprit = 0; culprit < world.size; ++culprit)
      for (int end = 1; end <= 4; ++end) fails(schedule, culprit, end, true);
}

/// Over windows credits are read again, so not every request counts.
TEST_F(FailingTest, AWindowThatIsNotReadIsNoSuccess) {
  setenv("STEADFOLD_TRANSPORT", "rma", 1);
  for (const char* schedule : {"binomial", "ring", "flat"}) {
    for (int culprit = 0; culprit < world.size; ++culprit) {
      int heard = 0;
      for (int end = 1; end <= 8; ++end) heard += fails(schedule, culprit, end, false) ? 1 : 0;
      EXPECT_TRUE(heard > 0 || world.rank != culprit) << schedule;
    }
  }
}

/// Memory of the node is for all of its ranks or for none.
TEST_F(FailingTest, MemoryThatOneRankCannotMap) {
  for (int culprit = 0; culprit < world.size; ++culprit) {
    for (const char* asked : {"auto", "shared"}) {
      setenv("STEADFOLD_TRANSPORT", asked, 1);
      const Ranks copy = Ranks::duplicate();
      refuses_shared_memory = copy.rank == culprit;
      const Outcome outcome = outcome_of([&] { expect_right(copy.comm, "by messages"); });
      refuses_shared_memory = false;
      if (std::string(asked) == "auto") {
        EXPECT_FALSE(outcome.failed()) << outcome.string();
        sf_group* group = nullptr;
        ASSERT_EQ(sf_group_of(copy.comm, &group), SF_OK);
        EXPECT_STREQ(sf_group_transport(group), "mpi");
      } else {
        EXPECT_EQ(outcome.status, SF_INVALID_ARGUMENT);
        EXPECT_NE(outcome.text.find(
                      "transport shared cannot be used (the shared file of the node's first rank cannot be opened: "),
                  std::string::npos)
            << outcome.text;
      }
      expect_right(world.comm, "after memory that was refused");
    }
  }
}

/// All ranks hear of it, by messages and in the node's memory.
TEST_F(FailingTest, AnyAllocationOfABind) {
  const std::vector<double> mine = {1.0, 2.0};
  for (const char* transport : {"mpi", "auto"}) {
    setenv("STEADFOLD_TRANSPORT", transport, 1);
    for (int culprit = 0; culprit < world.size; ++culprit) {
      std::int64_t& until_refusal = test::own_allocations().until_refusal;
      int after = culprit;
      int was_refused = 1;
      for (; was_refused != 0; after += 10) {
        const Ranks copy = Ranks::duplicate();
        barrier(copy.comm);
        const Outcome outcome = outcome_of([&] {
          if (copy.rank == culprit) until_refusal = after;
          Plan<double> plan(plus, 2, copy.comm);
          EXPECT_TRUE(is(plan.run(mine), 3.0 * copy.size)) << transport << ", allocation " << after;
        });
        was_refused = until_refusal < 0 ? 1 : 0;
        until_refusal = -1;
        MPI_Bcast(&was_refused, 1, MPI_INT, culprit, world.comm);
        if (outcome.failed()) {
          EXPECT_NE(outcome.text.find("memory"), std::string::npos) << after << ": " << outcome.text;
        }
        expect_right(copy.comm, "after memory that ran out");
      }
      EXPECT_GE(after, 100) << "the control";
    }
  }
}

}  // namespace
}  // namespace steadfold::tests

int main(int argc, char** argv) { return steadfold::tests::run_program(argc, argv); }
