// mpicxx restart.cpp -o restart $(pkg-config --cflags --libs steadfold-openmpi-static)
// mpirun -n 4 ./restart && mpirun -n 3 ./restart resume    (the second run goes on where the first one stopped)
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <steadfold/accumulator.hpp>
#include <steadfold/mpi.hpp>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const bool resumes = argc > 1;
  sf::Accumulator<double> kept;  // a sum that nothing has rounded
  if (resumes && rank == 0) {
    std::vector<std::byte> bytes(10000);
    std::ifstream file("first.restart", std::ios::binary);
    file.read(reinterpret_cast<char*>(bytes.data()), 10000);
    kept = sf::Accumulator<double>::load({bytes.data(), static_cast<std::size_t>(file.gcount())});
  }
  for (int i = rank + (resumes ? 500 : 0); i < (resumes ? 1000 : 500); i += ranks) kept += 1.0 / (i + 1);
  sf::merge_ranks(kept, MPI_COMM_WORLD);
  const auto bytes = kept.bytes();
  if (rank == 0) std::ofstream("first.restart").write(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const char* const due = resumes ? "0x1.df11f45f4e61ap+2" : "0x1.b2bd9e7bd3f55p+2";
  if (rank == 0) std::printf("sum %a (should be %s)\n", kept.sum(), due);
  MPI_Finalize();
}
