/* Reductions that steadfold.f90 declares as functions: their results are values.
 * Rank order: Fortran's order of elements. Cost: that of the call in C, and some 20 ns. Source: ours. */
#include <complex.h>

#include "call.h"

static void reduce_to_value(const Arguments* from, sf_type result_type, void* value, int* ierr) {
  Translated to;
  sf_group* group;
  sf_status found = find_group(from->comm, &group), status = found;
  if (status == SF_OK) status = translate(from, &to);
  to.call.result_type = result_type;
  if (found == SF_OK) status = run(status, &to, value, group);
  settle(status, from->comm, ierr);
}

/* A function of one array, and one of an array and its factors. */
#define OF_ARRAY(function, name, value_type, type, what)                                                        \
  value_type sf_fortran_##function##_##name(Argument array, Argument comm, Argument where, Argument options,    \
                                            int* ierr, Layout* const* layout) {                                 \
    const Arguments from = {                                                                                    \
        .operation = what, .array = array, .where = where, .options = options, .comm = comm, .layout = layout}; \
    value_type value = 0;                                                                                       \
    reduce_to_value(&from, type, &value, ierr);                                                                 \
    return value;                                                                                               \
  }
#define OF_PRODUCTS(function, name, value_type, type, what)                                                          \
  value_type sf_fortran_##function##_##name(Argument x, Argument y, Argument comm, Argument where, Argument options, \
                                            int* ierr, Layout* const* layout) {                                      \
    const Arguments from = {.operation = what,                                                                       \
                            .array = x,                                                                              \
                            .factors = y,                                                                            \
                            .where = where,                                                                          \
                            .options = options,                                                                      \
                            .comm = comm,                                                                            \
                            .layout = layout};                                                                       \
    value_type value = 0;                                                                                            \
    reduce_to_value(&from, type, &value, ierr);                                                                      \
    return value;                                                                                                    \
  }
#define MEAN(name, value_type, type)                                                                                  \
  value_type sf_fortran_mean_##name(Argument array, Argument comm, Argument weight, Argument where, Argument options, \
                                    int* ierr, Layout* const* layout) {                                               \
    const Arguments from = {.operation = SF_MEAN,                                                                     \
                            .array = array,                                                                           \
                            .factors = weight,                                                                        \
                            .where = where,                                                                           \
                            .options = options,                                                                       \
                            .comm = comm,                                                                             \
                            .layout = layout};                                                                        \
    value_type value = 0;                                                                                             \
    reduce_to_value(&from, type, &value, ierr);                                                                       \
    return value;                                                                                                     \
  }

#define OF_NUMBERS(name, number, type, real, real_type)        \
  OF_PRODUCTS(dot, name, number, type, SF_DOTC)                \
  OF_ARRAY(norm2, name, real, real_type, SF_NORM2)             \
  OF_ARRAY(sum_squares, name, real, real_type, SF_SUM_SQUARES) \
  MEAN(name, number, type)
OF_NUMBERS(f64, double, SF_F64, double, SF_F64)
OF_NUMBERS(f32, float, SF_F32, float, SF_F32)
OF_NUMBERS(c64, double _Complex, SF_COMPLEX_F64, double, SF_F64)
OF_NUMBERS(c32, float _Complex, SF_COMPLEX_F32, float, SF_F32)
OF_PRODUCTS(dotu, c64, double _Complex, SF_COMPLEX_F64, SF_DOT)
OF_PRODUCTS(dotu, c32, float _Complex, SF_COMPLEX_F32, SF_DOT)

#define OF_REAL_NUMBERS(name, number, type)       \
  OF_ARRAY(norm1, name, number, type, SF_ABS_SUM) \
  OF_ARRAY(norminf, name, number, type, SF_NORMINF)
OF_REAL_NUMBERS(f64, double, SF_F64)
OF_REAL_NUMBERS(f32, float, SF_F32)

#define EXTREMES(name, number, type)        \
  OF_ARRAY(min, name, number, type, SF_MIN) \
  OF_ARRAY(max, name, number, type, SF_MAX)
EXTREMES(f64, double, SF_F64)
EXTREMES(f32, float, SF_F32)
EXTREMES(i32, int32_t, SF_I32)
EXTREMES(i64, int64_t, SF_I64)

static double variance(const Arguments* from, const int* ddof, int* ierr) {
  sf_statistics statistics = {0};
  if (ddof != NULL && *ddof != 0 && *ddof != 1) {
    Translated none;
    sf_group* group;
    sf_status status = find_group(from->comm, &group);
    if (status == SF_OK)
      status = run(refuse(SF_UNSUPPORTED, "a variance with ddof=%d (0 and 1 are offered), take sf_describe", *ddof),
                   &none, NULL, group);
    settle(status, from->comm, ierr);
    return 0;
  }
  reduce_to_value(from, SF_F64, &statistics, ierr);
  return ddof != NULL && *ddof == 1 ? statistics.sample_variance : statistics.variance;
}

#define VARIANCE(name)                                                                                           \
  double sf_fortran_var_##name(Argument array, Argument comm, const int* ddof, Argument where, Argument options, \
                               int* ierr, Layout* const* layout) {                                               \
    const Arguments from = {.operation = SF_STATISTICS,                                                          \
                            .array = array,                                                                      \
                            .where = where,                                                                      \
                            .options = options,                                                                  \
                            .comm = comm,                                                                        \
                            .layout = layout};                                                                   \
    return variance(&from, ddof, ierr);                                                                          \
  }
VARIANCE(f64)
VARIANCE(f32)
