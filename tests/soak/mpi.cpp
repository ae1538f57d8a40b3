// The soak over MPI. Programs run on all ranks, on duplicates and parts of their communicator, and on teams of their
// threads, over the public C interface. With an even seed only the main thread may call MPI.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "program.hpp"
#include "steadfold/steadfold_mpi.h"
#include "watchdog.hpp"

namespace steadfold::soak {
namespace {

constexpr std::uint64_t cases_of_program = 12;
constexpr std::uint64_t most_segments = 200;  // 2348 segments took 94 s on 7 ranks of two

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

/// Whether parts of a communicator may have windows. Open MPI before 5.0 does not allow this: windows of two parts may
/// share one memory (src/transport/mpi/window).
bool parts_have_windows() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  return !std::string_view(text).starts_with("Open MPI v4.");
}

/// A communicator of all ranks, a duplicate, or parts, in the same order or another one.
MPI_Comm communicator_of(std::uint64_t seed) {
  Random random(mixed(seed, 2));
  const int rank = rank_in(MPI_COMM_WORLD);
  MPI_Comm made = MPI_COMM_WORLD;
  const char* const transport = std::getenv("STEADFOLD_TRANSPORT");
  const bool over_windows = transport != nullptr && std::string_view(transport) == "rma";
  const std::uint64_t kind = random.below(over_windows && !parts_have_windows() ? 3 : 6);
  if (kind == 1) MPI_Comm_dup(MPI_COMM_WORLD, &made);
  if (kind == 2) MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &made);
  if (kind == 3) MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &made);
  if (kind == 4) MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : 1, rank, &made);
  return made;
}

/// Makes a team of one to three workers per rank, and runs a program on it.
void run_on_teams(MPI_Comm comm, std::uint64_t seed, const Options& options, Tally& tally) {
  const std::uint64_t own = mixed(seed, 10 + static_cast<std::uint64_t>(rank_in(MPI_COMM_WORLD)));
  const auto workers = static_cast<std::int32_t>(1 + Random(own).below(3));
  sf_team* team = nullptr;
  if (sf_team_create_over(comm, workers, &team) != SF_OK) std::fprintf(stderr, "no team: %s\n", sf_error_text());
  run_on_team({.seed = seed, .cases = cases_of_program, .segments = most_segments, .adds_words = false}, team, options,
              tally);
  sf_team_free(team);
}

void run_program(std::uint64_t seed, const Options& options, Tally& tally) {
  MPI_Comm comm = communicator_of(seed);
  if (Random(mixed(seed, 4)).one_in(3)) {
    run_on_teams(comm, seed, options, tally);
  } else {
    sf_group* group = nullptr;
    if (sf_group_of(comm, &group) != SF_OK) std::fprintf(stderr, "no group: %s\n", sf_error_text());
    run_cases({.seed = seed, .cases = cases_of_program, .segments = most_segments}, group, options, tally, [&] {
      if (comm != MPI_COMM_WORLD && seed % 2 == 0) MPI_Comm_free(&comm);  // plans may outlive the communicator
    });
  }
  if (comm != MPI_COMM_WORLD && comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}

/// Whether the ranks go on. Rank 0's clock decides.
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
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, options.seed % 2 == 0 ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE, &provided);
  steadfold::soak::watch();
  const int failed = steadfold::soak::soak(options);
  MPI_Finalize();
  return failed;
}
