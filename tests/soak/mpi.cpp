// The soak over MPI: programs on all ranks, on duplicates and on parts of them, by the public C interface.
#include <mpi.h>
#include <sched.h>

#include <cstdio>

#include "driver.hpp"
#include "runner.hpp"
#include "steadfold/steadfold_mpi.h"
#include "watchdog.hpp"

namespace steadfold::soak {
namespace {

constexpr std::uint64_t cases_of_program = 12;

sf_request* c_request(Library::Request* request) { return reinterpret_cast<sf_request*>(request); }
sf_plan* c_plan(Library::Plan* plan) { return reinterpret_cast<sf_plan*>(plan); }

class MpiLibrary final : public Library {
 public:
  explicit MpiLibrary(MPI_Comm comm) : comm_(comm) {}

  sf_status reduce(const sf_call* call, const Data& data) override {
    return sf_reduce(call, data.first, data.second, data.result, comm_);
  }
  sf_status start_reduce(const sf_call* call, const Data& data, Request*& request) override {
    sf_group* group = nullptr;
    sf_request* started = nullptr;
    sf_status status = sf_group_of(comm_, &group);
    if (status == SF_OK) status = sf_group_start_reduce(call, data.first, data.second, data.result, group, &started);
    request = reinterpret_cast<Request*>(started);
    return status;
  }
  sf_status test(Request* request, bool& done) override {
    int answer = 0;
    const sf_status status = sf_request_test(c_request(request), &answer);
    done = answer != 0;
    return status;
  }
  sf_status wait(Request* request) override { return sf_request_wait(c_request(request)); }
  void free(Request* request) override { sf_request_free(c_request(request)); }
  sf_status bind(const sf_call* calls, std::size_t count, Plan*& plan) override {
    sf_plan* bound = nullptr;
    const sf_status status =
        count == 1 ? sf_plan_bind(calls, comm_, &bound) : sf_bundle_bind(calls, count, comm_, &bound);
    plan = reinterpret_cast<Plan*>(bound);
    return status;
  }
  sf_status run(Plan* plan, const Data* data, std::size_t count) override {
    if (count == 1) return sf_plan_run(c_plan(plan), data->first, data->second, data->result);
    return sf_bundle_run(c_plan(plan), given(data, count), count);
  }
  sf_status start(Plan* plan, const Data* data, std::size_t count) override {
    if (count == 1) return sf_plan_start(c_plan(plan), data->first, data->second, data->result);
    return sf_bundle_start(c_plan(plan), given(data, count), count);
  }
  sf_status test(Plan* plan, bool& done) override {
    int answer = 0;
    const sf_status status = sf_plan_test(c_plan(plan), &answer);
    done = answer != 0;
    return status;
  }
  sf_status wait(Plan* plan) override { return sf_plan_wait(c_plan(plan)); }
  sf_status status(Plan* plan, std::size_t member) override { return sf_bundle_status(c_plan(plan), member); }
  void free(Plan* plan) override { sf_plan_free(c_plan(plan)); }
  void pause() override { sched_yield(); }

 private:
  const sf_data* given(const Data* data, std::size_t count) {
    given_.clear();
    for (std::size_t i = 0; i < count; ++i) given_.push_back({data[i].first, data[i].second, data[i].result});
    return given_.data();
  }

  MPI_Comm comm_;
  std::vector<sf_data> given_;
};

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

/// All ranks, a duplicate or parts, in this order or another.
MPI_Comm communicator_of(std::uint64_t seed) {
  Random random(mixed(seed, 2));
  const int rank = rank_in(MPI_COMM_WORLD);
  MPI_Comm made = MPI_COMM_WORLD;
  const std::uint64_t kind = random.below(6);
  if (kind == 1) MPI_Comm_dup(MPI_COMM_WORLD, &made);
  if (kind == 2) MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &made);
  if (kind == 3) MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &made);
  if (kind == 4) MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : 1, rank, &made);
  return made;
}

void run_program(std::uint64_t seed, const Options& options, Tally& tally) {
  MPI_Comm comm = communicator_of(seed);
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  const auto rank = static_cast<std::size_t>(rank_in(comm));
  {
    Preparation preparation(seed, static_cast<std::size_t>(ranks), 1, {.elements = 3000});
    MpiLibrary library(comm);
    Runner runner(library, preparation, rank, tally);
    const std::uint64_t first = options.only.value_or(0);
    for (std::uint64_t number = first; number < (options.only ? first + 1 : cases_of_program); ++number) {
      runner.run(number);
    }
    if (comm != MPI_COMM_WORLD && seed % 2 == 0) MPI_Comm_free(&comm);  // plans outlive it
  }
  if (comm != MPI_COMM_WORLD && comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}

/// Rank 0's clock counts.
bool goes_on(const Options& options, std::uint64_t done, const Clock& clock) {
  int on = done < options.programs && !clock.is_over() ? 1 : 0;
  MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return on != 0;
}

int soak(const Options& options) {
  Tally tally;
  const Clock clock(options.seconds);
  std::uint64_t done = 0;
  for (; goes_on(options, done, clock); ++done) run_program(options.seed + done, options, tally);
  std::uint64_t all[3] = {};
  const std::uint64_t mine[3] = {tally.cases, tally.compared, tally.wrong};
  MPI_Allreduce(mine, all, 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  const Tally total{.cases = all[0], .compared = all[1], .wrong = all[2]};
  if (rank_in(MPI_COMM_WORLD) == 0) return conclude(total, done);
  return total.wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace steadfold::soak

int main(int argc, char** argv) {
  const auto options = steadfold::soak::options_of(argc, argv);
  MPI_Init(&argc, &argv);
  steadfold::soak::watch();
  const int failed = steadfold::soak::soak(options);
  MPI_Finalize();
  return failed;
}
