/* Preloaded into a test of an adapter: a daxpy of BLAS that rounds the last few elements of a vector differently from
 * the others, as OpenBLAS does on some processors. Increments must be 1. */
#include <math.h>

void daxpy_(const int* count, const double* a, const double* x, const int* x_step, double* y, const int* y_step);

void daxpy_(const int* count, const double* a, const double* x, const int* x_step, double* y, const int* y_step) {
  const int even = *count - *count % 16;
  (void)x_step;
  (void)y_step;
  for (int i = 0; i < even; ++i) y[i] = fma(*a, x[i], y[i]);
  for (int i = even; i < *count; ++i) y[i] += *a * x[i];
}
