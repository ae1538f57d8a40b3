/* mpicc sums.c -o sums $(pkg-config --cflags --libs steadfold-openmpi-static) && mpirun -n 4 ./sums */
#include <stdio.h>
#include <steadfold/steadfold_accumulator.h>
#include <steadfold/steadfold_mpi.h>

enum { N = 1000 }; /* elements of all ranks, dealt in blocks of 16 */

static void check(sf_status status) {
  if (status == SF_OK) return;
  fprintf(stderr, "%s\n", sf_error_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  double x[N], w[N]; /* this rank's elements of 1, 1/2, ..., 1/1000, and their weights */
  double total = 0, norm = 0, weighted = 0, tree = 0, threaded = 0, kept = 0;
  int rank = 0, ranks = 1;
  uint64_t rows = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < N; ++i)
    if (i / 16 % ranks == rank) x[rows] = 1.0 / (i + 1), w[rows++] = 1 + i % 7;

  /* sum: the sum of all ranks' elements, correctly rounded */
  sf_call call = sf_call_default(); /* a sum of doubles */
  call.method = SF_EXACT;
  call.rows = rows;
  check(sf_reduce(&call, x, NULL, &total, MPI_COMM_WORLD));

  /* check: both depend on the elements alone */
  call.operation = SF_NORM2;
  check(sf_reduce(&call, x, NULL, &norm, MPI_COMM_WORLD));
  if (rank == 0) printf("check %a\ncheck2 %a\n", total, norm);

  /* weights: the products are exact, and their sum is rounded once */
  call.operation = SF_DOT;
  check(sf_reduce(&call, x, w, &weighted, MPI_COMM_WORLD));

  /* order: a fixed tree over the indices 0 to N - 1, of which this rank has blocks of 16 */
  const sf_grid blocks = {1, {{.extent = N, .block = 16}}};
  sf_call of_tree = sf_call_default();
  of_tree.method = SF_TREE;
  of_tree.rows = rows;
  of_tree.layout = SF_GRID;
  of_tree.grid = &blocks;
  check(sf_reduce(&of_tree, x, NULL, &tree, MPI_COMM_WORLD));

  /* threads: two threads of this rank add its elements */
  call.operation = SF_SUM;
  call.threads = 2;
  check(sf_reduce(&call, x, NULL, &threaded, MPI_COMM_WORLD));

  /* require: bits that do not depend on the layout; a tree without one cannot promise that, and every rank gets an
   * error */
  of_tree.layout = SF_RANK_ORDER;
  of_tree.grid = NULL;
  of_tree.require = SF_LAYOUT;
  if (sf_reduce(&of_tree, x, NULL, &tree, MPI_COMM_WORLD) != SF_OK) fprintf(stderr, "%s\n", sf_error_text());

  /* save: every rank adds elements, and one rank writes the exact sum of all */
  char bytes[10000];
  uint64_t size = 0;
  sf_group* group = NULL;
  sf_accumulator* half = NULL;
  check(sf_group_of(MPI_COMM_WORLD, &group));
  check(sf_accumulator_create(SF_F64, SF_ELEMENTS, 1, &half));
  check(sf_accumulator_add(half, x, rows / 2, 1));
  check(sf_accumulator_merge_ranks(half, group));
  check(sf_accumulator_write(half, bytes, sizeof bytes, &size));
  if (rank == 0) {
    FILE* file = fopen("half", "wb");
    fwrite(bytes, 1, size, file);
    fclose(file);
  }

  /* load: one rank reads the file, the others start empty; the sum is rounded once, here */
  sf_accumulator* whole = NULL;
  if (rank == 0) {
    FILE* file = fopen("half", "rb");
    size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    check(sf_accumulator_read(bytes, size, &whole));
  } else {
    check(sf_accumulator_create(SF_F64, SF_ELEMENTS, 1, &whole));
  }
  check(sf_accumulator_add(whole, x + rows / 2, rows - rows / 2, 1));
  check(sf_accumulator_merge_ranks(whole, group));
  check(sf_accumulator_round(whole, SF_SUM, SF_F64, &kept));

  if (rank == 0) printf("sum %a\nweights %a\norder %a\nthreads %a\nkept %a\n", total, weighted, tree, threaded, kept);
  sf_accumulator_free(half);
  sf_accumulator_free(whole);
  MPI_Finalize();
  return 0;
}
