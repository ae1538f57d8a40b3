/* The reductions of steadfold.f90 that are functions and return values. Rank order: Fortran's order of elements. Cost:
 * that of the call in C, and about 20 ns. */
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

/* Defines a function with these parameters; `...` initialises the Arguments. */
#define FUNCTION(function, name, value_type, type, parameters, ...)                                           \
  value_type sf_fortran_##function##_##name(parameters) {                                                     \
    const Arguments from = {__VA_ARGS__, .where = where, .options = options, .comm = comm, .layout = layout}; \
    value_type value = 0;                                                                                     \
    reduce_to_value(&from, type, &value, ierr);                                                               \
    return value;                                                                                             \
  }
/* Define functions of one array, of two arrays, and of one array with optional weights. */
#define OF_ARRAY(function, name, value_type, type, what)                                                           \
  FUNCTION(function, name, value_type, type,                                                                       \
           LIST(Argument array, Argument comm, Argument where, Argument options, int* ierr, const Handle* layout), \
           .operation = what, .array = array)
#define OF_PRODUCTS(function, name, value_type, type, what)                                                           \
  FUNCTION(                                                                                                           \
      function, name, value_type, type,                                                                               \
      LIST(Argument x, Argument y, Argument comm, Argument where, Argument options, int* ierr, const Handle* layout), \
      .operation = what, .array = x, .factors = y)
#define OF_WEIGHTED(function, name, value_type, type, what)                                                  \
  FUNCTION(function, name, value_type, type,                                                                 \
           LIST(Argument array, Argument comm, Argument weight, Argument where, Argument options, int* ierr, \
                const Handle* layout),                                                                       \
           .operation = what, .array = array, .factors = weight)
#include "values.inc"

static double variance(const Arguments* from, const int* ddof, int* ierr) {
  sf_statistics statistics = {0};
  if (ddof != NULL && *ddof != 0 && *ddof != 1) {
    Translated none;
    sf_group* group;
    sf_status status = find_group(from->comm, &group);
    if (status == SF_OK)
      status =
          run(refuse(SF_UNSUPPORTED, "a variance with ddof=%d (only 0 and 1 are supported), call sf_describe", *ddof),
              &none, NULL, group);
    settle(status, from->comm, ierr);
    return 0;
  }
  reduce_to_value(from, SF_F64, &statistics, ierr);
  return ddof != NULL && *ddof == 1 ? statistics.sample_variance : statistics.variance;
}

#define VARIANCE(name)                                                                                           \
  double sf_fortran_var_##name(Argument array, Argument comm, const int* ddof, Argument where, Argument options, \
                               int* ierr, const Handle* layout) {                                                \
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
