/* mpicc team.c -o team $(pkg-config --cflags --libs steadfold-openmpi-static) -fopenmp && mpirun -n 2 ./team */
#include <omp.h>
#include <stdio.h>
#include <steadfold/steadfold_mpi.h>

enum { THREADS = 2 };

static void check(sf_status status) {
  if (status == SF_OK) return;
  fprintf(stderr, "%s\n", sf_error_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  int provided = 0, rank = 0, ranks = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  /* team: all threads of all ranks are in one team; each adds its own elements, and gets the sum of all */
  sf_team* team = NULL;
  check(sf_team_create_over(MPI_COMM_WORLD, THREADS, &team));
#pragma omp parallel num_threads(THREADS)
  {
    double x[1000], total = 0; /* this thread's elements of 1, 1/2, ..., 1/1000 */
    const int t = omp_get_thread_num();
    sf_group* group = NULL;
    sf_call call = sf_call_default();
    call.method = SF_EXACT;
    for (int i = rank * THREADS + t; i < 1000; i += ranks * THREADS) x[call.rows++] = 1.0 / (i + 1);
    check(sf_team_group(team, t, &group));
    check(sf_group_reduce(&call, x, NULL, &total, group));
    if (rank == 0 && t == 0) printf("sum %a\n", total);
  }
  sf_team_free(team);

  MPI_Finalize();
  return 0;
}
