/* The reductions of arrays of steadfold.f90, blocking and started. Rank order: Fortran's order of elements. Cost: that
 * of the call in C, and about 20 ns. */
#include "request.h"

/* Defines each reduction twice: blocking, and started with a request after the communicator. `optional` is the list of
 * the following parameters, and `given` initialises the Arguments. */
#define REDUCTION(name, operands, optional, given)                                                                   \
  void sf_fortran_##name(operands, Argument comm, optional, Argument where, Argument options, int* ierr,             \
                         const Handle* layout) {                                                                     \
    const Arguments from = {given, .where = where, .options = options, .comm = comm, .layout = layout};              \
    reduce_now(&from, prepare_array, ierr);                                                                          \
  }                                                                                                                  \
  void sf_fortran_start_##name(operands, Argument comm, Handle* request, optional, Argument where, Argument options, \
                               int* ierr, const Handle* layout) {                                                    \
    const Arguments from = {given, .where = where, .options = options, .comm = comm, .layout = layout};              \
    start_work(&from, prepare_array, request, ierr);                                                                 \
  }

REDUCTION(sum, LIST(Argument array, Argument result), LIST(Argument keep, Argument weight),
          LIST(.operation = SF_SUM, .array = array, .result = result, .keep = keep, .factors = weight))
REDUCTION(sum_by, LIST(Argument array, Argument labels, Argument result), LIST(Argument keep, Argument weight),
          LIST(.operation = SF_SUM, .array = array, .labels = labels, .result = result, .keep = keep,
               .factors = weight))
REDUCTION(combine, LIST(Argument array, Argument operation, Argument result), LIST(Argument keep, Argument weight),
          LIST(.name = operation, .array = array, .result = result, .keep = keep, .factors = weight))
REDUCTION(combine_by, LIST(Argument array, Argument labels, Argument operation, Argument result),
          LIST(Argument keep, Argument weight),
          LIST(.name = operation, .array = array, .labels = labels, .result = result, .keep = keep, .factors = weight))
REDUCTION(minloc, LIST(Argument array, Argument value, Argument index), Argument keep,
          LIST(.operation = SF_MIN_LOCATION, .array = array, .result = value, .index = index, .keep = keep))
REDUCTION(maxloc, LIST(Argument array, Argument value, Argument index), Argument keep,
          LIST(.operation = SF_MAX_LOCATION, .array = array, .result = value, .index = index, .keep = keep))
REDUCTION(describe, LIST(Argument array, Argument statistics), Argument keep,
          LIST(.operation = SF_STATISTICS, .array = array, .result = statistics, .keep = keep))

void sf_fortran_start_dot(Argument x, Argument y, Argument result, Argument comm, Handle* request, Argument where,
                          Argument options, int* ierr, const Handle* layout) {
  const Arguments from = {.operation = SF_DOTC,
                          .array = x,
                          .factors = y,
                          .result = result,
                          .where = where,
                          .options = options,
                          .comm = comm,
                          .layout = layout};
  start_work(&from, prepare_array, request, ierr);
}
