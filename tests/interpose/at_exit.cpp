// A program whose objects start and finalize MPI, and reduce, before and behind main(), as those of Boost.MPI may. With
// INIT_IN_MAIN in the environment, main() starts MPI.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

namespace {

struct Environment {
  Environment() {
    if (std::getenv("INIT_IN_MAIN") == nullptr) MPI_Init(nullptr, nullptr);
  }
  ~Environment() { MPI_Finalize(); }
} environment;

double sum_of_ranks() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double mine = rank;
  double sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

struct Timer {
  ~Timer() { std::printf("at exit %g\n", sum_of_ranks()); }
} timer;

}  // namespace

int main() {
  if (std::getenv("INIT_IN_MAIN") != nullptr) MPI_Init(nullptr, nullptr);
  std::printf("in main %g\n", sum_of_ranks());
}
