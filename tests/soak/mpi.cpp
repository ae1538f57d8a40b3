// The soak over MPI: programs on all ranks, on duplicates and on parts of them, by the public C interface.
#include <mpi.h>

#include <cstdio>

#include "driver.hpp"
#include "group_library.hpp"
#include "runner.hpp"
#include "steadfold/steadfold_mpi.h"
#include "watchdog.hpp"

namespace steadfold::soak {
namespace {

constexpr std::uint64_t cases_of_program = 12;

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
    sf_group* group = nullptr;
    if (sf_group_of(comm, &group) != SF_OK) std::fprintf(stderr, "no group: %s\n", sf_error_text());
    GroupLibrary library(group);
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
