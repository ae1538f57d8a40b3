/* A program whose symbols are stripped, but for those that it exports: `shown` reduces once, and `hidden` reduces
 * behind it. With an argument the program ends before MPI_Finalize (it aborts, or is killed), or forgets a request. */
#include <mpi.h>
#include <signal.h>
#include <string.h>

static double reduce(double x) {
  double y;
  MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return y;
}

static int of_kind(void) {
  double x = 1, y;
  return MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD) + (int)y;
}

double shown(void) {
  double x = 2, y;
  MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return y + reduce(y);
}

int main(int argc, char** argv) {
  int rank, i;
  const char* const end = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (shown() == 0 || of_kind() == 0) return 1;
  if (strcmp(end, "more") == 0)
    for (i = 0; i < 3; ++i) reduce(i);
  if (strcmp(end, "forgets") == 0) { /* the first of two requests */
    static double x[2] = {1, 2}, y[2];
    MPI_Request request;
    for (i = 0; i < 2; ++i) MPI_Iallreduce(x + i, y + i, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(end, "aborts") == 0 && rank == 0) MPI_Abort(MPI_COMM_WORLD, 3);
  if (strcmp(end, "is_killed") == 0) raise(SIGKILL);
  if (strcmp(end, "aborts") == 0) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
