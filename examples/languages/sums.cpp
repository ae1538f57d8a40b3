// mpicxx sums.cpp -o sums $(pkg-config --cflags --libs steadfold-openmpi-static) && mpirun -n 4 ./sums
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <span>
#include <steadfold/accumulator.hpp>
#include <steadfold/mpi.hpp>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const MPI_Comm comm = MPI_COMM_WORLD;
  constexpr int n = 1000;    // elements of all ranks, dealt in blocks of 16
  std::vector<double> x, w;  // this rank's elements of 1, 1/2, ..., 1/1000, and their weights
  for (int i = 0; i < n; ++i)
    if (i / 16 % ranks == rank) x.push_back(1.0 / (i + 1)), w.push_back(1 + i % 7);

  // sum: the sum of all ranks' elements, correctly rounded
  const double total = sf::sum(x, comm);

  // check: both depend on the elements alone
  const double exact = sf::sum(x, comm), norm = sf::norm2(x, comm);
  if (rank == 0) std::printf("check %a\ncheck2 %a\n", exact, norm);

  // weights: the products are exact, and their sum is rounded once
  const double weighted = sf::weighted_sum(x, w, comm);

  // order: a fixed tree over the indices 0 to n - 1, of which this rank has blocks of 16
  const double tree = sf::sum(x, comm, {.method = sf::tree(), .layout = sf::Layout::block_cyclic(n, 16)});

  // threads: two threads of this rank add its elements
  const double threaded = sf::sum(x, comm, {.threads = 2});

  // require: bits that do not depend on the layout; a tree without one cannot promise that, and every rank gets an
  // error
  try {
    sf::sum(x, comm, {.method = sf::tree(), .require = sf::layout});
  } catch (const sf::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());  // problem (why), suggestion
  }

  // save: every rank adds elements, and one rank writes the exact sum of all
  sf::Accumulator<double> half;
  for (std::size_t i = 0; i < x.size() / 2; ++i) half += x[i];
  sf::merge_ranks(half, comm);
  const std::vector<std::byte> bytes = half.bytes();
  if (rank == 0)
    std::ofstream("half", std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), bytes.size());

  // load: one rank reads the file, the others start empty; the sum is rounded once, here
  sf::Accumulator<double> whole;
  if (rank == 0) {
    std::ifstream file("half", std::ios::binary);
    const std::vector<char> read(std::istreambuf_iterator<char>(file), {});
    whole = sf::Accumulator<double>::load(std::as_bytes(std::span(read)));
  }
  for (std::size_t i = x.size() / 2; i < x.size(); ++i) whole += x[i];
  sf::merge_ranks(whole, comm);
  const double kept = whole.sum();

  if (rank == 0)
    std::printf("sum %a\nweights %a\norder %a\nthreads %a\nkept %a\n", total, weighted, tree, threaded, kept);
  MPI_Finalize();
}
