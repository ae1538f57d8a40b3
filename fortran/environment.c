/* Arithmetic on elements for the drop-in modules. It uses the floating-point environment in which results are promised:
 * rounding to nearest, with subnormals, whatever the program has set. Source: C11, 7.6. */
#include <fenv.h>
#include <stdint.h>

/* Multiplies numbers by a factor, or by its inverse, where the inverse of 0 counts as 0. */
void sf_fortran_scale(const double* from, const double* factor, int is_inverse, int64_t count, double* to) {
  fenv_t callers;
  double by;
  int64_t i;
  fegetenv(&callers);
  fesetenv(FE_DFL_ENV);
  by = !is_inverse ? *factor : *factor != 0 ? 1 / *factor : 0;
  for (i = 0; i < count; ++i) to[i] = from[i] * by;
  fesetenv(&callers);
}
