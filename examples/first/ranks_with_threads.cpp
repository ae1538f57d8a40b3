// mpicxx ranks_with_threads.cpp -o ranks_with_threads $(pkg-config --cflags --libs steadfold-openmpi-static) -fopenmp
// mpirun -n 2 ./ranks_with_threads
#include <omp.h>
#include <cstdio>
#include <steadfold/mpi.hpp>
#include <steadfold/team.hpp>
#include <vector>

int main(int argc, char** argv) {
  int provided = 0, rank = 0, ranks = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  // team: all threads of all ranks are in one team; each adds its own elements, and gets the sum of all
  {
    constexpr int threads = 2;
    sf::Team team(MPI_COMM_WORLD, threads);
#pragma omp parallel num_threads(threads)
    {
      const int t = omp_get_thread_num();
      std::vector<double> x;  // this thread's elements of 1, 1/2, ..., 1/1000
      for (int i = rank * threads + t; i < 1000; i += ranks * threads) x.push_back(1.0 / (i + 1));
      const double total = sf::sum(x, team[t]);  // correctly rounded
      if (rank == 0 && t == 0) std::printf("sum %a (should be 0x1.df11f45f4e61ap+2)\n", total);
    }
  }  // the team ends before MPI does

  MPI_Finalize();
}
