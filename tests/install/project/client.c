/* The sum of 1/1 .. 1/1000 over all ranks, and one without MPI; rank 0 prints both. */
#include <stdio.h>
#include <steadfold/steadfold_mpi.h>

int main(int argc, char** argv) {
  double x[1000], all = 0, own = 0;
  int rank, ranks, i, rows = 0, wrong;
  sf_call call = sf_call_default();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (i = rank; i < 1000; i += ranks) x[rows++] = 1.0 / (i + 1);
  call.method = SF_EXACT;
  call.rows = (uint64_t)rows;
  wrong = sf_reduce(&call, x, NULL, &all, MPI_COMM_WORLD) || sf_reduce_local(&call, x, NULL, &own);
  call.columns = 0; /* fails in one library, told by the other */
  wrong = wrong || !sf_reduce(&call, x, NULL, &own, MPI_COMM_WORLD) || !*sf_error_text();
  if (rank == 0 && !wrong) printf("%s %a\n", sf_version(), all);
  MPI_Finalize();
  return wrong;
}
