/* Reductions that steadfold.f90 declares: calls that end before they return.
 * Rank order: Fortran's order of elements. Cost: that of the call in C, and some 20 ns. Source: ours. */
#include <complex.h>

#include "call.h"

static void reduce_to_array(const Arguments* from, Argument result, int* ierr) {
  Translated to;
  sf_group* group;
  char* room = NULL;
  sf_status found = find_group(from->comm, &group), status = found;
  if (status == SF_OK) status = translate_to_array(from, result, &to, &room);
  if (found == SF_OK) status = run(status, &to, room == NULL ? result->base_addr : room, group);
  if (status == SF_OK && room != NULL)
    scatter(room + (to.arrays.groups == 0 ? 0 : bytes_of_group(&to, result)), result);
  free(room);
  settle(status, from->comm, ierr);
}

void sf_fortran_sum(Argument array, Argument result, Argument comm, Argument keep, Argument weight, Argument where,
                    Argument options, int* ierr) {
  const Arguments from = {.operation = weight == NULL ? SF_SUM : SF_DOT,
                          .array = array,
                          .factors = weight,
                          .keep = keep,
                          .where = where,
                          .options = options,
                          .comm = comm};
  reduce_to_array(&from, result, ierr);
}

void sf_fortran_sum_by(Argument array, Argument labels, Argument result, Argument comm, Argument keep, Argument weight,
                       Argument where, Argument options, int* ierr) {
  const Arguments from = {.operation = weight == NULL ? SF_SUM : SF_DOT,
                          .array = array,
                          .factors = weight,
                          .labels = labels,
                          .keep = keep,
                          .where = where,
                          .options = options,
                          .comm = comm};
  reduce_to_array(&from, result, ierr);
}

static sf_status take_operation(Argument name, sf_call* call) {
  char text[64];
  size_t length = name->elem_len, entry = 0;
  sf_status status;
  while (length > 0 && ((const char*)name->base_addr)[length - 1] == ' ') --length;
  if (length >= sizeof text) return wrong("the name of an operation is too long (no name is), see SF_LIST_OPERATIONS");
  memcpy(text, name->base_addr, length);
  text[length] = '\0';
  status = sf_list_find(SF_LIST_OPERATIONS, text, &entry);
  if (status == SF_OK) call->operation = (sf_operation)entry;
  return status;
}

void sf_fortran_allreduce(Argument values, Argument operation, Argument comm, Argument options, int* ierr) {
  Translated to;
  sf_group* group;
  char* room = NULL;
  sf_status found = find_group(comm, &group), status = found;
  sf_call_init(&to.call, sizeof to.call);
  if (status == SF_OK) status = require_number(values, "elements", &to.call.type);
  if (status == SF_OK) status = require_there(values, "elements");
  if (status == SF_OK) status = take_operation(operation, &to.call);
  if (status == SF_OK) status = take_options(options, &to);
  to.call.result_type = to.call.type;
  to.call.layout = SF_ROW_A_RANK;
  to.call.rows = 1;
  to.call.columns = count_of(values);
  if (status == SF_OK) status = gather_apart(values, &room);
  to.first = room == NULL ? values->base_addr : room;
  to.second = NULL;
  if (found == SF_OK) status = run(status, &to, room == NULL ? values->base_addr : room, group);
  if (status == SF_OK && room != NULL) scatter(room, values);
  free(room);
  settle(status, comm, ierr);
}

void sf_fortran_reduce(Argument array, Argument result, sf_operator user, Argument comm, Argument options, int* ierr) {
  Translated to;
  sf_group* group;
  char* room = NULL;
  sf_status found = find_group(comm, &group), status = found;
  sf_call_init(&to.call, sizeof to.call);
  to.call.operation = SF_USER;
  to.call.type = to.call.result_type = SF_BYTES;
  to.call.user = user;
  to.call.element_bytes = array->elem_len;
  to.call.layout = SF_RANK_ORDER;
  to.call.rows = count_of(array);
  if (status == SF_OK) status = require_there(array, "elements");
  if (status == SF_OK && (result->rank != 0 || result->elem_len != array->elem_len || result->type != array->type))
    status = wrong("a result of another type, or several (it is one element of the array's type), pass such a one");
  if (status == SF_OK) status = take_options(options, &to);
  if (status == SF_OK) status = gather_apart(array, &room);
  to.first = room == NULL ? array->base_addr : room;
  to.second = NULL;
  if (found == SF_OK) status = run(status, &to, result->base_addr, group);
  free(room);
  settle(status, comm, ierr);
}

/* --- results as values of functions ----------------------------------------------------------------------------------
 */

static void reduce_to_value(const Arguments* from, sf_type result_type, void* value, int* ierr) {
  Translated to;
  sf_group* group;
  sf_status found = find_group(from->comm, &group), status = found;
  if (status == SF_OK) status = translate(from, NULL, &to);
  to.call.result_type = result_type;
  if (found == SF_OK) status = run(status, &to, value, group);
  settle(status, from->comm, ierr);
}

#define FUNCTIONS_OF_NUMBERS(name, number, type, real, real_type)                                                     \
  number sf_fortran_dot_##name(Argument x, Argument y, Argument comm, Argument where, Argument options, int* ierr) {  \
    const Arguments from = {                                                                                          \
        .operation = SF_DOTC, .array = x, .factors = y, .where = where, .options = options, .comm = comm};            \
    number value = 0;                                                                                                 \
    reduce_to_value(&from, type, &value, ierr);                                                                       \
    return value;                                                                                                     \
  }                                                                                                                   \
  real sf_fortran_norm2_##name(Argument array, Argument comm, Argument where, Argument options, int* ierr) {          \
    const Arguments from = {.operation = SF_NORM2, .array = array, .where = where, .options = options, .comm = comm}; \
    real value = 0;                                                                                                   \
    reduce_to_value(&from, real_type, &value, ierr);                                                                  \
    return value;                                                                                                     \
  }                                                                                                                   \
  number sf_fortran_mean_##name(Argument array, Argument comm, Argument weight, Argument where, Argument options,     \
                                int* ierr) {                                                                          \
    const Arguments from = {.operation = weight == NULL ? SF_MEAN : SF_WEIGHTED_MEAN,                                 \
                            .array = array,                                                                           \
                            .factors = weight,                                                                        \
                            .where = where,                                                                           \
                            .options = options,                                                                       \
                            .comm = comm};                                                                            \
    number value = 0;                                                                                                 \
    reduce_to_value(&from, type, &value, ierr);                                                                       \
    return value;                                                                                                     \
  }

FUNCTIONS_OF_NUMBERS(f64, double, SF_F64, double, SF_F64)
FUNCTIONS_OF_NUMBERS(f32, float, SF_F32, float, SF_F32)
FUNCTIONS_OF_NUMBERS(c64, double _Complex, SF_COMPLEX_F64, double, SF_F64)
FUNCTIONS_OF_NUMBERS(c32, float _Complex, SF_COMPLEX_F32, float, SF_F32)

#define EXTREMES(name, number, type)                                                                                \
  number sf_fortran_min_##name(Argument array, Argument comm, Argument where, Argument options, int* ierr) {        \
    const Arguments from = {.operation = SF_MIN, .array = array, .where = where, .options = options, .comm = comm}; \
    number value = 0;                                                                                               \
    reduce_to_value(&from, type, &value, ierr);                                                                     \
    return value;                                                                                                   \
  }                                                                                                                 \
  number sf_fortran_max_##name(Argument array, Argument comm, Argument where, Argument options, int* ierr) {        \
    const Arguments from = {.operation = SF_MAX, .array = array, .where = where, .options = options, .comm = comm}; \
    number value = 0;                                                                                               \
    reduce_to_value(&from, type, &value, ierr);                                                                     \
    return value;                                                                                                   \
  }

EXTREMES(f64, double, SF_F64)
EXTREMES(f32, float, SF_F32)
EXTREMES(i32, int32_t, SF_I32)
EXTREMES(i64, int64_t, SF_I64)

static double variance(Argument array, Argument comm, const int* ddof, Argument where, Argument options, int* ierr) {
  const Arguments from = {.operation = SF_STATISTICS, .array = array, .where = where, .options = options, .comm = comm};
  sf_statistics statistics = {0};
  if (ddof != NULL && *ddof != 0 && *ddof != 1) {
    Translated none;
    sf_group* group;
    sf_status status = find_group(comm, &group);
    if (status == SF_OK)
      status = run(refuse(SF_UNSUPPORTED, "a variance with ddof=%d (0 and 1 are offered), take sf_statistics", *ddof),
                   &none, NULL, group);
    settle(status, comm, ierr);
    return 0;
  }
  reduce_to_value(&from, SF_F64, &statistics, ierr);
  return ddof != NULL && *ddof == 1 ? statistics.sample_variance : statistics.variance;
}
double sf_fortran_var_f64(Argument array, Argument comm, const int* ddof, Argument where, Argument options, int* ierr) {
  return variance(array, comm, ddof, where, options, ierr);
}
double sf_fortran_var_f32(Argument array, Argument comm, const int* ddof, Argument where, Argument options, int* ierr) {
  return variance(array, comm, ddof, where, options, ierr);
}
