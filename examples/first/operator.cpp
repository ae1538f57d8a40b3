// mpicxx operator.cpp -o operator $(pkg-config --cflags --libs steadfold-openmpi-static) && mpirun -n 4 ./operator
#include <cstdio>
#include <steadfold/mpi.hpp>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<double> ohms;  // this rank's run of 1, 2, ..., 1000
  for (int i = 1000 * rank / ranks; i < 1000 * (rank + 1) / ranks; ++i) ohms.push_back(i + 1);

  const auto in_parallel = [](double a, double b) noexcept { return a * b / (a + b); };  // order matters: it rounds
  const double all = sf::reduce(ohms, in_parallel, MPI_COMM_WORLD);                      // a fixed tree over 0..999

  if (rank == 0) std::printf("ohms %a (should be 0x1.1198c03bbe741p-3)\n", all);
  MPI_Finalize();
}
