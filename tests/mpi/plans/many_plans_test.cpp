// Plans by the thousand: bound at once, bound and freed in turn, and more of them over time than the MPI library has
// tags.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "mpi/misuse/misuse.hpp"
#include "mpi/run_ranks.hpp"

namespace {
int last_tag = 0;  // 0: the MPI library's own
}  // namespace

/// Stands before the MPI library's own, and takes tags away from it.
extern "C" int PMPI_Comm_get_attr(MPI_Comm comm, int keyval, void* value, int* known) {
  using Function = int (*)(MPI_Comm, int, void*, int*);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "PMPI_Comm_get_attr"));
  if (keyval != MPI_TAG_UB || last_tag == 0) return real(comm, keyval, value, known);
  *static_cast<int**>(value) = &last_tag;
  *known = 1;
  return MPI_SUCCESS;
}

namespace steadfold::tests {
namespace {

using Plans = std::vector<std::unique_ptr<Plan<double>>>;

std::size_t heap_bytes() { return mallinfo2().uordblks + mallinfo2().hblkhd; }

class ManyPlansTest : public MisuseTest {
 protected:
  ~ManyPlansTest() override { last_tag = 0; }

  /// A plan of another sort for every number; `wanted` is what it comes to.
  std::unique_ptr<Plan<double>> plan_of(std::size_t number, MPI_Comm comm) {
    const std::vector<std::string> schedules = {"", "linear", "binomial", "flat"};
    const Options options{.schedule = schedules[number / 2 % 4]};
    return number % 2 == 0 ? std::make_unique<Plan<double>>(plus, 2, comm, options)
                           : std::make_unique<Plan<double>>(subtract, 2, comm, options);
  }
  void expect_right(Plan<double>& plan, std::size_t number, const std::string& what) {
    std::vector<double> all;
    for (std::size_t i = 0; i < 2 * world.count(); ++i) all.push_back(0.1 * static_cast<double>(1 + i + number));
    const std::vector<double> mine = {all[2 * world.index()], all[2 * world.index() + 1]};
    const double wanted = number % 2 == 0 ? reference::exact_sum(std::span<const double>(all)) : tree_of(all, subtract);
    EXPECT_TRUE(is(plan.run(mine), wanted)) << what << ", plan " << number;
  }
};

TEST_F(ManyPlansTest, BoundAtOnce) {
  const std::size_t count = thorough(world) ? 5000 : 150;
  Plans plans;
  plans.reserve(count);
  plan_of(0, world.comm).reset();  // what is made once
  const std::size_t before = heap_bytes();
  for (std::size_t i = 0; i < count; ++i) plans.push_back(plan_of(i, world.comm));
  const std::size_t bytes = (heap_bytes() - before) / count;
  if (world.rank == 0)
    std::printf("%zu plans over %d ranks, %zu bytes of heap each, %zu for all\n", count, world.size, bytes,
                bytes * count);
  EXPECT_LT(bytes, 20000u) << "a plan of two rows";
  for (std::size_t i = count; i-- > 0;) expect_right(*plans[i], i, "bound at once");
  std::vector<double> results(count);
  for (std::size_t i = 0; i < 100; ++i) plans[i]->start(x.size() >= 2 ? std::span(x).first(2) : x, {&results[i], 1});
  for (std::size_t i = 100; i-- > 0;) plans[i]->wait();
  for (std::size_t i = 2; i < 100; i += 2) EXPECT_TRUE(is(results[i], results[0])) << i;
  plans.clear();
  expect_usable("thousands of plans");
}

TEST_F(ManyPlansTest, BoundAndFreedInTurn) {
  const std::size_t count = thorough(world) ? 8000 : 100;
  constexpr std::size_t most = 60000;  // 32 bytes, the least of a heap, of every fourth of 8000 plans are more
  const auto kept = plan_of(1, world.comm);
  plan_of(2, world.comm).reset();
  // The MPI library's own pools grow now and then; what stays of every plan stays in every round.
  std::size_t grown = most;
  for (int round = 0; round < 3 && grown >= most; ++round) {
    const std::size_t before = heap_bytes();
    for (std::size_t i = 0; i < count; ++i) {
      const auto plan = plan_of(i, world.comm);
      if (i % 10 == 0) expect_right(*plan, i, "in turn");
      if (i % 100 == 0) expect_right(*kept, 1, "kept");
    }
    const std::size_t after = heap_bytes();
    grown = after > before ? after - before : 0;
    MPI_Allreduce(MPI_IN_PLACE, &grown, 1, MPI_UINT64_T, MPI_MAX, world.comm);  // all go on, or none
  }
  EXPECT_LT(grown, most) << "something of every plan stays";
}

// --- tags ------------------------------------------------------------------------------------------------------------

/// On a new communicator: a group asks for the last tag once.
TEST_F(ManyPlansTest, TagsComeBackOnceEveryRankHasFreedThem) {
  last_tag = 63;
  const Ranks copy = Ranks::duplicate();
  Plans kept;  // other ranks keep other ones, and for longer: nobody may meet a tag that somebody holds
  Random own(world.index());
  const std::size_t count = thorough(world) ? 2000 : 100;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < count; ++i) {
    auto plan = plan_of(i, copy.comm);
    expect_right(*plan, i, "a tag anew");
    if (draw(own, 4) == 0) kept.push_back(std::move(plan));
    if (kept.size() > 60 / (2 * world.count()) - 2) kept.erase(kept.begin());
  }
}

TEST_F(ManyPlansTest, NoTagLeftIsAnErrorOnEveryRank) {
  last_tag = 28;  // 9 of the group, 2 of each of ten plans
  const Ranks copy = Ranks::duplicate();
  Plans plans;
  for (std::size_t i = 0; i < 10; ++i) plans.push_back(plan_of(i, copy.comm));
  for (int round = 0; round < 3; ++round) {
    const Outcome outcome = outcome_of([&] { plan_of(10, copy.comm); });
    EXPECT_EQ(outcome.status, SF_INTERNAL) << outcome.string();
    expect_text(outcome.text, {"all message tags are in use", "29", "free plans"}, "too many plans");
    EXPECT_TRUE(is(sum(std::vector<double>{0.5}, copy.comm), 0.5 * copy.size)) << "what needs no new plan goes on";
    for (std::size_t i = 0; i < plans.size(); ++i) expect_right(*plans[i], i, "no tag left");
  }
  if (world.rank == 0) plans.erase(plans.begin() + 4);  // on one rank: not yet free
  if (world.size > 1) {
    EXPECT_TRUE(outcome_of([&] { plan_of(10, copy.comm); }).failed()) << "some rank still holds it";
  }
  if (world.rank != 0) plans.erase(plans.begin() + 4);
  plans.push_back(plan_of(4, copy.comm));
  expect_right(*plans.back(), 4, "one freed, one bound");
  for (std::size_t i = 0; i < plans.size(); ++i) expect_right(*plans[i], i < 4 ? i : i < 9 ? i + 1 : 4, "side by side");
}

/// One-shots bind plans, too, of which the last 48 are kept, with two tags each.
TEST_F(ManyPlansTest, OneShotsOutliveTheirTags) {
  last_tag = 127;
  const Ranks copy = Ranks::duplicate();
  for (std::size_t columns = 1; columns < (thorough(world) ? 400u : 80u); ++columns) {
    std::vector<double> buffer(columns, 0.5);
    allreduce(std::span{buffer}, plus, copy.comm, {.schedule = "linear"});
    EXPECT_TRUE(is(buffer.back(), 0.5 * copy.size)) << columns;
  }
}

}  // namespace
}  // namespace steadfold::tests

int main(int argc, char** argv) { return steadfold::tests::run_program(argc, argv); }
