/* mpicc sum.c -o sum $(pkg-config --cflags --libs steadfold-openmpi-static) && mpirun -n 4 ./sum */
#include <stdio.h>
#include <steadfold/steadfold_mpi.h>

int main(int argc, char** argv) {
  double x[1000], total = 0; /* x: this rank's elements of 1, 1/2, ..., 1/1000 */
  int rank = 0, ranks = 1, rows = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = rank; i < 1000; i += ranks) x[rows++] = 1.0 / (i + 1);

  sf_call call = sf_call_default(); /* a sum of doubles */
  call.method = SF_EXACT;           /* correctly rounded */
  call.rows = (uint64_t)rows;
  if (sf_reduce(&call, x, NULL, &total, MPI_COMM_WORLD) != SF_OK) {
    fprintf(stderr, "%s\n", sf_error_text());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }

  if (rank == 0) printf("sum %a (should be 0x1.df11f45f4e61ap+2)\n", total);
  MPI_Finalize();
  return 0;
}
