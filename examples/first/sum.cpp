// mpicxx sum.cpp -o sum $(pkg-config --cflags --libs steadfold-openmpi-static) && mpirun -n 4 ./sum
#include <cstdio>
#include <steadfold/mpi.hpp>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<double> x;  // this rank's elements of 1, 1/2, ..., 1/1000
  for (int i = rank; i < 1000; i += ranks) x.push_back(1.0 / (i + 1));

  const double total = sf::sum(x, MPI_COMM_WORLD);  // correctly rounded

  if (rank == 0) std::printf("sum %a (should be 0x1.df11f45f4e61ap+2)\n", total);
  MPI_Finalize();
}
