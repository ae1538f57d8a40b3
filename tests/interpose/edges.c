/* Small programs at the edges of the interposer: calls of PMPI functions, calls through a library, ends without
 * MPI_Finalize, ranks that disagree, times and integers between sums, extremes with NaN, and real(16). The first
 * argument names the program. */
#include <math.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "edges.h"

static int rank, size;

static void check(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "rank %d: %s is wrong\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static double sum(double x) {
  double y = 0;
  MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return y;
}

/* Summands whose plain sum depends on the order: the tree over 5 ranks is ((1 + 1e16) + (-1e16 + 1)) + 1. */
static double summand(void) {
  static const double all[] = {1, 1e16, -1e16, 1, 1};
  return all[rank % 5];
}

static void pmpi(void) {
  const double x = summand();
  double y = 0;
  MPI_Request request;
  PMPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  printf("%a\n", y);
  PMPI_Iallreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  PMPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("%a\n", y);
}

static void tooled(void) {
  const double x = summand();
  double y = 0;
  MPI_Request request;
  for (int i = 0; i < 3; ++i) MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  printf("%a\n", y);
  MPI_Reduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Iallreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("%a\n", y);
}

static double first_caller(double x) { return wrapped_sum(x) + 1; }
static double second_caller(double x) { return wrapped_sum(x) + wrapped_sum(x); }

static void wrapped(void) { check(first_caller(1) + second_caller(1) == 3 * size + 1, "a sum of a library"); }

/* `noise` stands for a time and for the free memory. `added` is added to the second and third summand. */
static void noisy(double noise, double added) {
  long free_memory = (long)noise, least;
  double elapsed = noise, y;
  for (int i = 0; i < 3; ++i) {
    MPI_Allreduce(&free_memory, &least, 1, MPI_LONG, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&elapsed, &y, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    sum(i + (i > 0 ? added : 0));
  }
}

static void disagrees(void) {
  double x[64] = {0}, y[64];
  MPI_Allreduce(x, y, rank == size - 1 ? 64 : 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void extremes(void) {
  const double x = rank == 2 ? (double)NAN : rank + 1, zero = rank == 0 ? 0.0 : -0.0;
  double most, least;
  MPI_Allreduce(&x, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(&zero, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  printf("%g %g\n", isnan(most) ? -1 : most, copysign(1, least));
}

#ifdef __SIZEOF_FLOAT128__
static void sum_binary128(MPI_Datatype type) {
  const __float128 x = (__float128)(rank + 1) / 3;
  __float128 y = 0, all = 0, product = 1;
  for (int r = 0; r < size; ++r) { /* for 2 and 3 ranks this is the tree's order */
    all += (__float128)(r + 1) / 3;
    product *= (__float128)(r + 1) / 3;
  }
  MPI_Allreduce(&x, &y, 1, type, MPI_SUM, MPI_COMM_WORLD);
  check(y == all, "a sum of real(16)");
  MPI_Allreduce(&x, &y, 1, type, MPI_PROD, MPI_COMM_WORLD);
  check(y == product, "a product of real(16)");
  MPI_Allreduce(&x, &y, 1, type, MPI_MAX, MPI_COMM_WORLD);
  check(y == (__float128)size / 3, "a maximum of real(16)");
  const __float128 negative = -x;
  MPI_Allreduce(&negative, &y, 1, type, MPI_MIN, MPI_COMM_WORLD);
  check(y == -(__float128)size / 3, "a minimum of real(16)");
}

static void binary128(void) {
  MPI_Datatype duplicate;
  if (MPI_REAL16 == MPI_DATATYPE_NULL) {
    puts("no real(16)");
    return;
  }
  sum_binary128(MPI_REAL16);
  MPI_Type_dup(MPI_REAL16, &duplicate);
  sum_binary128(duplicate);
  MPI_Type_free(&duplicate);
  if (MPI_COMPLEX32 == MPI_DATATYPE_NULL) return;
  const __float128 x[2] = {(__float128)(rank + 1) / 3, (__float128)rank / 7};
  __float128 y[2] = {0, 0}, real = 0, imaginary = 0;
  for (int r = 0; r < size; ++r) {
    real += (__float128)(r + 1) / 3;
    imaginary += (__float128)r / 7;
  }
  MPI_Allreduce(x, y, 1, MPI_COMPLEX32, MPI_SUM, MPI_COMM_WORLD);
  check(y[0] == real && y[1] == imaginary, "a sum of complex(16)");
}
#else
static void binary128(void) { puts("no real(16)"); }
#endif

/* As if the disk was full after 200 bytes of each file. */
static void fills_the_disk(void) {
  const struct rlimit least = {200, RLIM_INFINITY};
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &least);
  for (int i = 0; i < 20; ++i) sum(i);
}

int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(name, "pmpi") == 0) pmpi();
  if (strcmp(name, "tooled") == 0) tooled();
  if (strcmp(name, "wrapped") == 0) wrapped();
  if (strcmp(name, "noisy") == 0) noisy(atof(argv[2]), atof(argv[3]));
  if (strcmp(name, "disagrees") == 0) disagrees();
  if (strcmp(name, "extremes") == 0) extremes();
  if (strcmp(name, "binary128") == 0) binary128();
  if (strcmp(name, "fills_the_disk") == 0) fills_the_disk();
  if (strcmp(name, "exits") == 0) {
    sum(rank + (argc > 2 ? atof(argv[2]) : 0));
    MPI_Barrier(MPI_COMM_WORLD);
    while (rank != 0) pause(); /* until the launcher ends the other ranks */
    exit(0);
  }
  MPI_Finalize();
  return 0;
}
