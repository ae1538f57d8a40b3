// Before MPI_Init and after MPI_Finalize: every call answers with an error, what needs no MPI works, and whatever is
// left at the end (plans, cached plans of one-shots, a run under way) neither hangs nor crashes MPI_Finalize.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/operators.hpp"
#include "mpi/outcome.hpp"
#include "mpi/ranks.hpp"
#include "mpi/reference.hpp"
#include "steadfold/started.hpp"

namespace steadfold::tests {
namespace {

int faults = 0;

void check(bool condition, const std::string& what) {
  if (condition) return;
  ++faults;
  std::printf("FAILED: %s\n", what.c_str());
}

/// The status, and a text that has this word.
void expect_refused(sf_status status, const char* word, const char* what) {
  check(status == SF_INVALID_ARGUMENT, std::string(what) + " has status " + std::to_string(status));
  const std::string text = sf_error_text();
  check(text.find(word) != std::string::npos, std::string(what) + " says '" + text + "'");
}
/// The call in C++ throws SF_INVALID_ARGUMENT, with a text that has this word.
template <class Call>
void expect_thrown(const Call& call, const char* word, const char* what) {
  const Outcome outcome = outcome_of(call);
  check(outcome.status == SF_INVALID_ARGUMENT && outcome.text.find(word) != std::string::npos,
        std::string(what) + " came to " + outcome.string());
}

const std::vector<double> x = {0.1, 0.2, 0.3};

/// What no communicator serves at this time, `why`.
void expect_no_calls(const char* why) {
  sf_call call = sf_call_default();
  call.rows = x.size();
  double result = 7;
  sf_interval mine{};
  std::uint64_t count = 0;
  sf_plan* plan = nullptr;
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL}) {
    expect_refused(sf_reduce(&call, x.data(), nullptr, &result, comm), why, "sf_reduce");
    expect_refused(sf_plan_bind(&call, comm, &plan), why, "sf_plan_bind");
    expect_refused(sf_rank_order(3, comm, &mine, &count), why, "sf_rank_order");
    expect_thrown([&] { sum(x, comm); }, why, "sum");
    expect_thrown([&] { start(plus, x, comm); }, why, "start");
    expect_thrown([&] { Plan<double>(plus, 3, comm); }, why, "Plan");
  }
  check(plan == nullptr && same_bits(result, 7.0), "a refused call writes nothing");
  check(sf_reduce_local(&call, x.data(), nullptr, &result) == SF_OK, "a local reduction works");
  check(same_bits(result, reference::exact_sum(std::span<const double>(x))), "a local reduction is right");
  const std::string library = sf_mpi_library();
  check(!library.empty() && library.find_first_of("\t\n") == std::string::npos, "one clean line: '" + library + "'");
}

void expect_no_runs(sf_plan* plan) {
  double result = 7;
  int done = 7;
  sf_figures figures{};
  const char* const why = "MPI is finalised";
  expect_refused(sf_plan_run(plan, x.data(), nullptr, &result), why, "sf_plan_run");
  expect_refused(sf_plan_start(plan, x.data(), nullptr, &result), why, "sf_plan_start");
  expect_refused(sf_plan_test(plan, &done), why, "sf_plan_test");
  expect_refused(sf_plan_wait(plan), why, "sf_plan_wait");
  check(same_bits(result, 7.0) && done == 7, "a refused run writes nothing");
  check(sf_plan_figures(plan, &figures) == SF_OK, "the figures of the last run are still there");
  check(std::string(sf_plan_describe(plan)).find("sum") != std::string::npos, "and so is what was agreed");
}

sf_plan* bound(MPI_Comm comm, const char* schedule, bool run, sf_method method = SF_AUTOMATIC) {
  sf_call call = sf_call_default();
  call.method = method;
  if (method == SF_BINNED) call.sweep = SF_DOUBLE_SWEEP;
  call.rows = x.size();
  call.schedule = schedule;
  sf_plan* plan = nullptr;
  check(sf_plan_bind(&call, comm, &plan) == SF_OK, sf_error_text());
  double result = 0;
  if (run) check(sf_plan_run(plan, x.data(), nullptr, &result) == SF_OK, sf_error_text());
  return plan;
}

/// Something of every sort, to be there still when MPI_Finalize is called.
std::vector<sf_plan*> left_behind() {
  std::vector<sf_plan*> plans;
  MPI_Comm forgotten = MPI_COMM_NULL;
  MPI_Comm freed = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &forgotten);
  MPI_Comm_dup(MPI_COMM_WORLD, &freed);
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF, forgotten, freed}) {
    for (const char* schedule : {static_cast<const char*>(nullptr), "linear", "native"})
      plans.push_back(bound(comm, schedule, schedule != nullptr));
    plans.push_back(bound(comm, "native", true, SF_BINNED));  // has a communicator of its own
    std::vector<double> wide(1000, 0.5);
    allreduce(std::span{wide}, plus, comm);  // leaves a cached plan
    sum(x, comm);
  }
  MPI_Comm_free(&freed);
  return plans;
}

sf_plan* kept = nullptr;  // for ever
/// Calls after MPI_Finalize and main: from a handler of atexit, and from a static object that outlives all others.
void call_at_exit() {
  expect_no_calls("MPI is finalised");
  expect_no_runs(kept);
  if (faults > 0) std::_Exit(1);
}
const struct AtExit {
  AtExit() = default;
  ~AtExit() {
    if (kept != nullptr) call_at_exit();
  }
} at_exit;

/// Dies after main: the destructor of a global plan.
std::unique_ptr<Plan<double>> global;

int run(int argc, char** argv) {
  expect_no_calls("MPI is not initialised");
  MPI_Init(&argc, &argv);
  const std::vector<sf_plan*> plans = left_behind();
  global = std::make_unique<Plan<double>>(plus, 3, MPI_COMM_WORLD);
  Plan<double> of_sum(plus, 3, MPI_COMM_WORLD);
  std::vector<double> column(1, 0.5);
  auto under_way = std::make_unique<VectorPlan<double>>(Plan<double>::of_vectors(plus, 1, MPI_COMM_WORLD));
  under_way->start(column, std::span(column));
  // One that ended while another was waited for, and one that has not.
  auto ended = std::make_unique<Pending<double>>(start(plus, x, MPI_COMM_WORLD));
  start_barrier(MPI_COMM_WORLD).wait();
  MPI_Comm other = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  auto pending = std::make_unique<Pending<double>>(start(plus, x, other));
  MPI_Finalize();

  const char* const why = "MPI is finalised";
  double result = 7;
  check(outcome_of([&] { ended->get(); }).status == SF_INVALID_ARGUMENT, "a call of before cannot be asked");
  expect_thrown([&] { pending->wait(); }, why, "wait of a call under way");
  expect_thrown([&] { pending->get(); }, why, "get of a call under way");
  expect_thrown([&] { of_sum.run(x); }, why, "run of a plan");
  expect_thrown([&] { of_sum.start(x, result); }, why, "start of a plan");
  expect_thrown([&] { of_sum.wait(); }, why, "wait for a plan");
  check(same_bits(result, 7.0), "a refused start writes nothing");
  ended.reset();
  pending.reset();
  expect_no_calls("MPI is finalised");
  for (sf_plan* plan : plans) expect_no_runs(plan);
  check(outcome_of([&] { global->run(x); }).status == SF_INVALID_ARGUMENT, "a plan in C++ throws");
  check(outcome_of([&] { under_way->wait(); }).status == SF_INVALID_ARGUMENT, "a run under way cannot be awaited");
  kept = plans.front();
  for (sf_plan* plan : std::span(plans).subspan(1)) sf_plan_free(plan);
  under_way.reset();
  std::atexit(call_at_exit);
  return faults == 0 ? 0 : 1;
}

}  // namespace
}  // namespace steadfold::tests

int main(int argc, char** argv) { return steadfold::tests::run(argc, argv); }
