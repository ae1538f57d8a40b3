// mpicxx basins.cpp -o basins $(pkg-config --cflags --libs steadfold-openmpi-static) && mpirun -n 4 ./basins
#include <cmath>
#include <cstdio>
#include <steadfold/accumulator.hpp>
#include <steadfold/mpi.hpp>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  // An ocean of 3 levels, 8 rows and 12 columns. This rank has all rows and levels of some columns.
  constexpr int levels = 3, rows = 8, columns = 12, basins = 3;
  const int first = columns * rank / ranks, width = columns * (rank + 1) / ranks - first;
  std::vector<double> t, dA;
  std::vector<int> basin, wet;
  for (int j = 0; j < rows; ++j)
    for (int i = first; i < first + width; ++i) {
      dA.push_back(1.0 / (j + 2));
      basin.push_back((i + j) % 4 - 1);  // 0, 1, 2; or -1, which is land and belongs to no basin
      wet.push_back(basin.back() >= 0);
    }
  for (int k = 0; k < levels; ++k)
    for (int j = 0; j < rows; ++j)
      for (int i = first; i < first + width; ++i)
        t.push_back((i + j) % 4 == 0 ? NAN : 1.0 / (1 + i + columns * (j + rows * k)));

  // arrays: the library reads them where they stand; area, mask and labels are repeated for every level
  const auto height = static_cast<std::uint64_t>(rows), breadth = static_cast<std::uint64_t>(width);
  const sf::Array<double> temperature(t.data(), {levels, height, breadth}), area(dA.data(), {height, breadth});
  const sf::Array<int> ocean(wet.data(), {height, breadth}), label(basin.data(), {height, breadth});

  // levels: the sum of temperature times area for every level; the mask leaves out land, whose NaN is not read
  const std::vector<double> of_level =
      sf::sum(temperature, {.keep = {0}, .where = ocean, .weights = area}, MPI_COMM_WORLD);

  // mean: the global mean of the top level, weighted by area, rounded once
  const double mean = sf::mean(temperature.section(0, 0, 1), {.where = ocean, .weights = area}, MPI_COMM_WORLD)[0];

  // basins: the sum of temperature times area for every basin and level, in one message
  const std::vector<double> heat =
      sf::sum(temperature, {.keep = {0}, .weights = area, .labels = label, .groups = basins}, MPI_COMM_WORLD);

  // budget: each rank adds its own cells in every step (here: for every level); rounded once, at the end
  sf::ProductAccumulator<double> sum_of_steps;
  for (std::uint64_t step = 0; step < levels; ++step)
    sum_of_steps.add(temperature.section(0, step, step + 1), {.where = ocean, .weights = area});
  sf::merge_ranks(sum_of_steps, MPI_COMM_WORLD);
  const double budget = sum_of_steps.sum();

  if (rank == 0) {
    for (int b = 0; b < basins; ++b)
      for (int k = 0; k < levels; ++k)
        std::printf("basin %d level %d %a\n", b + 1, k + 1, heat[static_cast<std::size_t>(levels * b + k)]);
    for (int k = 0; k < levels; ++k) std::printf("level %d %a\n", k + 1, of_level[static_cast<std::size_t>(k)]);
    std::printf("mean %a\nbudget %a\n", mean, budget);
  }
  MPI_Finalize();
}
