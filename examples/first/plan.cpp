// mpicxx plan.cpp -o plan $(pkg-config --cflags --libs steadfold-openmpi-static) && mpirun -n 4 ./plan
#include <cstdio>
#include <steadfold/mpi.hpp>
#include <steadfold/plan.hpp>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<double> x;  // this rank's elements of 1, 1/2, ..., 1/1000
  for (int i = rank; i < 1000; i += ranks) x.push_back(1.0 / (i + 1));
  {
    sf::Plan<double> plan(sf::plus, x.size(), MPI_COMM_WORLD);  // agreed on once
    double total = 0;
    for (int step = 0; step < 100; ++step) total = plan.run(x);  // run often, with no set-up

    if (rank == 0) std::printf("sum %a (should be 0x1.df11f45f4e61ap+2)\n", total);
  }  // the plan ends before MPI does
  MPI_Finalize();
}
