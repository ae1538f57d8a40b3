/* mpicc basins.c -o basins $(pkg-config --cflags --libs steadfold-openmpi-static) -lm && mpirun -n 4 ./basins */
#include <math.h>
#include <stdio.h>
#include <steadfold/steadfold_accumulator.h>
#include <steadfold/steadfold_mpi.h>

enum { LEVELS = 3, ROWS = 8, COLUMNS = 12, BASINS = 3 };

/* An array of rows and columns, or of levels, rows and columns, without gaps. */
static sf_array array_of(const void* data, sf_type type, int64_t bytes, int levels, int rows, int columns) {
  const sf_array plane = {
      data, type, (size_t)bytes, 2, 0, {(uint64_t)rows, (uint64_t)columns}, {columns * bytes, bytes}};
  const sf_array volume = {data,
                           type,
                           (size_t)bytes,
                           3,
                           0,
                           {(uint64_t)levels, (uint64_t)rows, (uint64_t)columns},
                           {rows * columns * bytes, columns * bytes, bytes}};
  return levels == 0 ? plane : volume;
}

static void check(sf_status status) {
  if (status == SF_OK) return;
  fprintf(stderr, "%s\n", sf_error_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  /* An ocean of 3 levels, 8 rows and 12 columns. This rank has all rows and levels of some columns. */
  double t[LEVELS * ROWS * COLUMNS], area[ROWS * COLUMNS], heat[BASINS][LEVELS], of_level[LEVELS], mean = 0, budget = 0;
  int basin[ROWS * COLUMNS], ocean[ROWS * COLUMNS], rank = 0, ranks = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int first = COLUMNS * rank / ranks, width = COLUMNS * (rank + 1) / ranks - first;
  for (int k = 0; k < LEVELS; ++k)
    for (int j = 0; j < ROWS; ++j)
      for (int i = first; i < first + width; ++i) {
        const int cell = width * j + i - first;
        area[cell] = 1.0 / (j + 2);
        basin[cell] = (i + j) % 4 - 1; /* 0, 1, 2; or -1, which is land and belongs to no basin */
        ocean[cell] = basin[cell] >= 0;
        t[width * ROWS * k + cell] = ocean[cell] ? 1.0 / (1 + i + COLUMNS * (j + ROWS * k)) : NAN;
      }

  /* levels: the sum of temperature times area for every level; the mask leaves out land, whose NaN is not read */
  sf_arrays arrays = sf_arrays_default();
  arrays.x = array_of(t, SF_F64, sizeof *t, LEVELS, ROWS, width);
  arrays.factors = array_of(area, SF_F64, sizeof *area, 0, ROWS, width);
  arrays.mask = array_of(ocean, SF_I32, sizeof *ocean, 0, ROWS, width);
  arrays.kept = 1; /* bit 0: the axis of levels */
  sf_call call = sf_call_default();
  call.method = SF_EXACT;
  call.operation = SF_DOT; /* a sum of products with the factors */
  call.arrays = &arrays;
  check(sf_reduce(&call, NULL, NULL, of_level, MPI_COMM_WORLD));

  /* mean: the global mean of the top level, weighted by area, rounded once */
  arrays.x = array_of(t, SF_F64, sizeof *t, 0, ROWS, width);
  arrays.kept = 0;
  call.operation = SF_WEIGHTED_MEAN;
  check(sf_reduce(&call, NULL, NULL, &mean, MPI_COMM_WORLD));

  /* basins: the sum of temperature times area for every basin and level, in one message */
  sf_arrays by_basin = sf_arrays_default();
  by_basin.x = array_of(t, SF_F64, sizeof *t, LEVELS, ROWS, width);
  by_basin.factors = array_of(area, SF_F64, sizeof *area, 0, ROWS, width);
  by_basin.labels = array_of(basin, SF_I32, sizeof *basin, 0, ROWS, width);
  by_basin.groups = BASINS;
  by_basin.kept = 1; /* bit 0: the axis of levels */
  call.operation = SF_DOT;
  call.arrays = &by_basin;
  check(sf_reduce(&call, NULL, NULL, heat, MPI_COMM_WORLD));

  /* budget: each rank adds its own cells in every step (here: for every level); rounded once, at the end */
  sf_group* group = NULL;
  sf_accumulator* sum_of_steps = NULL;
  check(sf_group_of(MPI_COMM_WORLD, &group));
  check(sf_accumulator_create(SF_F64, SF_PRODUCTS, 1, &sum_of_steps));
  for (int step = 0; step < LEVELS; ++step) {
    arrays.x.data = t + step * ROWS * width;
    check(sf_accumulator_add_arrays(sum_of_steps, &arrays, 1));
  }
  check(sf_accumulator_merge_ranks(sum_of_steps, group));
  check(sf_accumulator_round(sum_of_steps, SF_SUM, SF_F64, &budget));

  if (rank == 0) {
    for (int b = 0; b < BASINS; ++b)
      for (int k = 0; k < LEVELS; ++k) printf("basin %d level %d %a\n", b + 1, k + 1, heat[b][k]);
    for (int k = 0; k < LEVELS; ++k) printf("level %d %a\n", k + 1, of_level[k]);
    printf("mean %a\nbudget %a\n", mean, budget);
  }
  sf_accumulator_free(sum_of_steps);
  MPI_Finalize();
  return 0;
}
