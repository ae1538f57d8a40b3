/* mpicc products.c -o products $(pkg-config --cflags --libs steadfold-openmpi-static) && mpirun -n 4 ./products */
#include <stdio.h>
#include <steadfold/steadfold_mpi.h>

enum { TOTAL = 10000 }; /* elements of all ranks; each has a run of them */

static void check(sf_status status) {
  if (status == SF_OK) return;
  fprintf(stderr, "%s\n", sf_error_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  static double d[TOTAL], x[TOTAL], r[TOTAL], p[TOTAL], q[TOTAL];
  double squared = 0, product = 0, xx = 0, xd = 0, h[2], length = 0;
  int rank = 0, ranks = 1, iterations = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int begin = TOTAL * rank / ranks, n = TOTAL * (rank + 1) / ranks - begin;
  for (int i = 0; i < n; ++i) d[i] = 1 + (begin + i) % 1000;
  for (int i = 0; i < n; ++i) p[i] = r[i] = 1;

  /* plan: the ranks agree on a plan once; a run sends the messages of one reduction and allocates nothing */
  sf_plan* dot = NULL;
  sf_call call = sf_call_default();
  call.operation = SF_DOT;
  call.method = SF_EXACT; /* SF_BINNED for less time */
  call.rows = (uint64_t)n;
  check(sf_plan_bind(&call, MPI_COMM_WORLD, &dot));

  /* loop: conjugate gradients for a diagonal matrix, d x = 1 */
  check(sf_plan_run(dot, r, r, &squared));
  const double first = squared;
  for (; squared > 1e-20 * first; ++iterations) {
    for (int i = 0; i < n; ++i) q[i] = d[i] * p[i];
    check(sf_plan_run(dot, p, q, &product));
    const double alpha = squared / product, before = squared;
    for (int i = 0; i < n; ++i) x[i] += alpha * p[i];
    for (int i = 0; i < n; ++i) r[i] -= alpha * q[i];
    check(sf_plan_run(dot, r, r, &squared));
    for (int i = 0; i < n; ++i) p[i] = r[i] + squared / before * p[i];
  }

  /* bundle: a bundle sends the sums of both products in the same messages */
  sf_plan* both = NULL;
  sf_call calls[2] = {call, call};
  calls[0].operation = SF_SUM_SQUARES;
  check(sf_bundle_bind(calls, 2, MPI_COMM_WORLD, &both));
  const sf_data data[2] = {{.first = x, .result = &xx}, {.first = x, .second = d, .result = &xd}};
  check(sf_bundle_run(both, data, 2)); /* again whenever the vectors have new elements */

  /* start: the reduction goes on while the program multiplies */
  int done = 0;
  check(sf_bundle_start(both, data, 2));
  for (int i = 0; i < n; ++i) q[i] = d[i] * p[i]; /* changes neither x nor d */
  check(sf_plan_test(both, &done));               /* moves the reduction on */
  check(sf_plan_wait(both));

  /* gram: dot products of one vector with several others, read once, in one message */
  const void* const others[2] = {d, x};
  const sf_array vector = {x, SF_F64, sizeof *x, 1, 0, {(uint64_t)n}, {sizeof *x}};
  sf_arrays arrays = sf_arrays_default();
  arrays.x = arrays.factors = vector;
  arrays.x.data = NULL; /* `xs` has the addresses */
  arrays.xs = others;
  arrays.x_count = 2;
  call.arrays = &arrays;
  check(sf_reduce(&call, NULL, NULL, h, MPI_COMM_WORLD));

  /* once: a product outside of loops needs no plan */
  call.arrays = NULL;
  call.operation = SF_NORM2;
  check(sf_reduce(&call, x, NULL, &length, MPI_COMM_WORLD));

  if (rank == 0) {
    printf("iterations %a\nsquared %a\n", (double)iterations, squared);
    printf("bundle %a\nbundle2 %a\ngram %a\ngram2 %a\nonce %a\n", xx, xd, h[0], h[1], length);
  }
  sf_plan_free(dot);
  sf_plan_free(both);
  MPI_Finalize();
  return 0;
}
