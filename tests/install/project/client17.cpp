// The sum of 1/1 .. 1/1000 over all ranks, in C++17; rank 0 prints it.
#include <cstdio>
#include <steadfold/mpi.hpp>
#include <vector>

static_assert(__cplusplus < 202002L, "this is the client for C++17");

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<double> x;
  for (int i = rank; i < 1000; i += ranks) x.push_back(1.0 / (i + 1));
  const double sum = sf::sum(x, MPI_COMM_WORLD);
  bool refused = false;
  try {
    sf::Options options;
    options.schedule = "none such";
    sf::sum(x, MPI_COMM_WORLD, options);
  } catch (const sf::Error&) {
    refused = true;
  }
  if (rank == 0 && refused) std::printf("%s %a\n", sf_version(), sum);
  MPI_Finalize();
}
