// A rank dies by SIGKILL while a plan's run is under way. The others wait with a timeout, say what came of it, one line
// per rank, and leave. killed_test.py starts it and reads the lines.
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "steadfold/mpi.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

/// What a wait came to, and the milliseconds that it took.
std::string waited(steadfold::Plan<double>& plan, std::chrono::milliseconds timeout) {
  const auto before = Clock::now();
  std::string outcome;
  try {
    outcome = plan.wait_for(timeout) ? "done" : "timeout";
  } catch (const steadfold::Error&) {
    outcome = "failed";
  }
  return outcome + " " + std::to_string(Milliseconds(Clock::now() - before).count());
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 3) return EXIT_FAILURE;
  const std::string schedule = argv[1];
  const std::chrono::milliseconds timeout(std::stoi(argv[2]));
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const std::array<double, 3> rows = {1, 2, static_cast<double>(rank)};
  double result = 0;
  steadfold::Plan<double> plan(steadfold::plus, rows.size(), MPI_COMM_WORLD,
                               {.method = steadfold::tree(), .schedule = schedule});
  plan.run(rows);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == size / 2) {
    std::this_thread::sleep_for(timeout / 3);
    std::raise(SIGKILL);
  }
  plan.start(rows, {&result, 1});
  const std::string first = waited(plan, timeout);
  const std::string second = waited(plan, timeout);
  const std::string line = "rank " + std::to_string(rank) + ": " + first + " " + second + "\n";
  if (write(STDOUT_FILENO, line.data(), line.size()) < 0) return EXIT_FAILURE;
  std::_Exit(EXIT_SUCCESS);  // MPI_Finalize would wait for the dead
}
