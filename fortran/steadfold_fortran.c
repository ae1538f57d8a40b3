/* What steadfold.f90 declares: array descriptors of the Fortran compiler as calls of the C interface.
 * Rank order: Fortran's order of elements, the first index fastest. Cost: some 20 ns per call. Source: Fortran 2018,
 * 18.5 (ISO_Fortran_binding.h). Compiled by the C compiler that belongs to the Fortran compiler, and linked statically:
 * descriptors are that compiler's own. */
#include <ISO_Fortran_binding.h>
#include <complex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steadfold/steadfold_fortran.h"
#include "steadfold/steadfold_group.h"
#include "steadfold/steadfold_names.h"

/* An array or a text of the caller; NULL where an optional argument is not given. */
typedef const CFI_cdesc_t* Argument;

/* A call as Fortran made it. */
typedef struct Arguments {
  sf_operation operation;
  Argument array, factors, labels, keep, where, options, comm;

} Arguments;

/* And as C makes it, with what it points to. */
typedef struct Translated {
  sf_call call;
  sf_arrays arrays;
  char options[512];
  const void *first, *second;
  uint64_t shape[SF_MOST_AXES + 1]; /* of the results, in Fortran's order */
  int32_t rank;
} Translated;

/* Sets the error text: "problem (why), suggestion". */
static sf_status refuse(sf_status status, const char* format, ...) {
  char text[600];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  sf_set_error_text(text);
  return status;
}
static sf_status wrong(const char* text) { return refuse(SF_INVALID_ARGUMENT, "%s", text); }

/* --- descriptors -----------------------------------------------------------------------------------------------------
 */

/* The intrinsic types as gfortran numbers them; above these bits stands the kind. */
enum { type_integer = 1, type_logical, type_real, type_complex, type_character };

static int type_of(Argument a) { return a->type & CFI_type_mask; }

static const char* name_of_type(Argument a) {
  static const char* const names[] = {"", "integer", "logical", "real", "complex", "character"};
  const int type = type_of(a);
  return type >= type_integer && type <= type_character ? names[type] : "a derived type";
}

/* Whether the library has numbers of this type. A real of 16 bytes may be the processor's or IEEE's: no descriptor
 * tells which. */
static int find_number(Argument a, sf_type* type) {
  const int is_long = a->elem_len == (type_of(a) == type_complex ? 16 : 8);
  const int is_short = a->elem_len == (type_of(a) == type_complex ? 8 : 4);
  if (!is_long && !is_short) return 0;
  switch (type_of(a)) {
    case type_integer: *type = is_long ? SF_I64 : SF_I32; return 1;
    case type_real: *type = is_long ? SF_F64 : SF_F32; return 1;
    case type_complex: *type = is_long ? SF_COMPLEX_F64 : SF_COMPLEX_F32; return 1;
    default: return 0;
  }
}

static sf_status require_number(Argument a, const char* what, sf_type* type) {
  if (find_number(a, type)) return SF_OK;
  return refuse(
      SF_UNSUPPORTED,
      "%s of type %s with %zu bytes (taken are real and complex numbers of kinds 4 and 8, integers of kinds 4 "
      "and 8), convert them",
      what, name_of_type(a), a->elem_len);
}

static uint64_t count_of(Argument a) {
  uint64_t count = 1;
  int i;
  for (i = 0; i < a->rank; ++i) count *= (uint64_t)a->dim[i].extent;
  return count;
}

static int is_contiguous(Argument a) {
  CFI_index_t next = (CFI_index_t)a->elem_len;
  int i;
  for (i = 0; i < a->rank; ++i) {
    if (a->dim[i].extent != 1 && a->dim[i].sm != next) return 0;
    next *= a->dim[i].extent;
  }
  return 1;
}

static int have_one_shape(Argument a, Argument b) {
  int i;
  if (a->rank != b->rank) return 0;
  for (i = 0; i < a->rank; ++i)
    if (a->dim[i].extent != b->dim[i].extent) return 0;
  return 1;
}

/* Whether there is memory to read, and its extents are known. */
static sf_status require_there(Argument a, const char* what) {
  if (a->rank > 0 && a->dim[a->rank - 1].extent < 0)
    return refuse(SF_INVALID_ARGUMENT,
                  "%s of assumed size (its last extent is not known), pass a section such as a(1:n)", what);
  if (a->base_addr == NULL && count_of(a) > 0)
    return refuse(SF_INVALID_ARGUMENT, "%s without memory (not allocated, or not associated), allocate them", what);
  return SF_OK;
}

/* Axes of C are those of Fortran from the last to the first. */
static sf_status take_array(Argument a, const char* what, sf_type type, sf_array* array) {
  const sf_status status = require_there(a, what);
  int i;
  if (status != SF_OK) return status;
  array->data = a->base_addr;
  array->type = type;
  array->element_bytes = a->elem_len;
  array->axis_count = a->rank;
  for (i = 0; i < a->rank; ++i) {
    array->shape[a->rank - 1 - i] = (uint64_t)a->dim[i].extent;
    array->strides[a->rank - 1 - i] = a->dim[i].sm;
  }
  return SF_OK;
}

/* --- a call in Fortran as a call in C --------------------------------------------------------------------------------
 */

static sf_status set_option(sf_call* call, char* option) {
  char* value = strchr(option, '=');
  char* end;
  if (value == NULL)
    return refuse(SF_INVALID_ARGUMENT, "option '%s' (it has no value), write name=value, and a comma between options",
                  option);
  for (end = value; end > option && end[-1] == ' '; --end) continue;
  *end = '\0';
  ++value;
  value += strspn(value, " ");
  for (end = value + strlen(value); end > value && end[-1] == ' '; --end) continue;
  *end = '\0';
  return sf_call_set(call, option, value);
}

/* 'name=value, name=value'. Some values, such as a schedule, are pointed to: the text stays as long as the call. */
static sf_status take_options(Argument options, Translated* to) {
  sf_status status = SF_OK;
  char* option = to->options;
  if (options == NULL) return SF_OK;
  if (options->elem_len >= sizeof to->options)
    return refuse(SF_INVALID_ARGUMENT, "options of %zu letters (at most %zu are taken), shorten them",
                  (size_t)options->elem_len, sizeof to->options - 1);
  memcpy(to->options, options->base_addr, options->elem_len);
  to->options[options->elem_len] = '\0';
  while (status == SF_OK && *(option += strspn(option, " ,")) != '\0') {
    char* const end = option + strcspn(option, ",");
    char* const next = *end == '\0' ? end : end + 1;
    *end = '\0';
    status = set_option(&to->call, option);
    option = next;
  }
  return status;
}

static int kept_dimension(Argument keep, uint64_t i) {
  const CFI_index_t stride = keep->rank == 0 ? 0 : keep->dim[0].sm;
  return *(const int*)((const char*)keep->base_addr + (CFI_index_t)i * stride);
}

/* `keep` is a dimension, or a list of ascending ones. */
static sf_status take_kept(Argument keep, Argument array, Translated* to) {
  uint64_t i;
  int before = 0;
  if (keep == NULL) return SF_OK;
  if (keep->rank > 1) return wrong("keep of several dimensions (it is one dimension, or a list), pass a list");
  for (i = 0; i < count_of(keep); ++i) {
    const int dimension = kept_dimension(keep, i);
    if (dimension <= before || dimension > array->rank)
      return refuse(SF_INVALID_ARGUMENT,
                    "dimension %d in keep (they ascend from 1 to the array's rank, %d), name those that the result has",
                    dimension, (int)array->rank);
    to->arrays.kept |= (uint32_t)1 << (array->rank - dimension);
    to->shape[to->rank++] = (uint64_t)array->dim[dimension - 1].extent;
    before = dimension;
  }
  return SF_OK;
}

static sf_status take_mask(Argument where, Translated* to) {
  if (where == NULL) return SF_OK;
  if (type_of(where) != type_logical)
    return refuse(SF_INVALID_ARGUMENT, "a mask of type %s (it is logical), write where = ice > 0, say",
                  name_of_type(where));
  return take_array(where, "masks", SF_BYTES, &to->arrays.mask);
}

/* Labels begin with 1 here and with 0 in C, which counts one group more: nobody asks for the first one's results. */
static sf_status take_labels(Argument labels, Argument result, Translated* to) {
  sf_type type = SF_BYTES;
  if (labels == NULL) return SF_OK;
  if (type_of(labels) != type_integer || !find_number(labels, &type))
    return refuse(SF_INVALID_ARGUMENT,
                  "labels of type %s with %zu bytes (they are integers of kinds 4 and 8), convert them",
                  name_of_type(labels), (size_t)labels->elem_len);
  if (result->rank == 0)
    return wrong("one number for the results of groups (the last dimension counts groups), pass an array");
  to->shape[to->rank++] = (uint64_t)result->dim[result->rank - 1].extent;
  to->arrays.groups = to->shape[to->rank - 1] + 1;
  return take_array(labels, "labels", type, &to->arrays.labels);
}

/* Contiguous elements that have one result are given as rows, which calls of C repeat the fastest. */
static int are_rows(const Arguments* from) {
  return from->keep == NULL && from->where == NULL && from->labels == NULL && is_contiguous(from->array) &&
         (from->factors == NULL || (is_contiguous(from->factors) && have_one_shape(from->array, from->factors)));
}

static sf_status take_arrays(const Arguments* from, Argument result, Translated* to) {
  sf_status status = sf_arrays_init(&to->arrays, sizeof to->arrays);
  if (status == SF_OK) status = take_array(from->array, "elements", to->call.type, &to->arrays.x);
  if (status == SF_OK && from->factors != NULL)
    status = take_array(from->factors, "factors", to->call.type, &to->arrays.factors);
  if (status == SF_OK) status = take_kept(from->keep, from->array, to);
  if (status == SF_OK) status = take_mask(from->where, to);
  if (status == SF_OK) status = take_labels(from->labels, result, to);
  to->call.arrays = &to->arrays;
  return status;
}

static sf_status translate(const Arguments* from, Argument result, Translated* to) {
  sf_type factors;
  sf_status status = sf_call_init(&to->call, sizeof to->call);
  to->first = to->second = NULL;
  to->rank = 0;
  if (status == SF_OK) status = require_number(from->array, "elements", &to->call.type);
  if (status != SF_OK) return status;
  to->call.operation = from->operation;
  to->call.result_type = to->call.type;
  if (from->operation == SF_SUM && type_of(from->array) != type_integer) to->call.method = SF_EXACT; /* alone, too */
  if (from->factors != NULL && (!find_number(from->factors, &factors) || factors != to->call.type))
    return wrong("factors of another type than the elements (both are multiplied as they are), convert one of them");
  status = take_options(from->options, to);
  if (status != SF_OK) return status;
  if (!are_rows(from)) return take_arrays(from, result, to);
  to->call.rows = count_of(from->array);
  to->first = from->array->base_addr;
  if (from->factors != NULL) to->second = from->factors->base_addr;
  return require_there(from->array, "elements");
}

/* --- results ---------------------------------------------------------------------------------------------------------
 */

static sf_status require_shape(const Translated* call, Argument result) {
  int i;
  if (result->rank != call->rank)
    return refuse(SF_INVALID_ARGUMENT,
                  "a result of %d dimensions (the call has results of %d), give it those of keep%s", (int)result->rank,
                  (int)call->rank, call->arrays.groups > 0 ? ", and one for groups" : "");
  for (i = 0; i < call->rank; ++i)
    if ((uint64_t)result->dim[i].extent != call->shape[i])
      return refuse(SF_INVALID_ARGUMENT,
                    "a result with %lld indices in dimension %d (the call has %llu), give it as many",
                    (long long)result->dim[i].extent, i + 1, (unsigned long long)call->shape[i]);
  return SF_OK;
}

/* Where element number `i` of an array stands, in Fortran's order. */
static char* element_of(Argument a, uint64_t i) {
  char* place = a->base_addr;
  int d;
  for (d = 0; d < a->rank; ++d) {
    const uint64_t extent = (uint64_t)a->dim[d].extent;
    place += (CFI_index_t)(i % extent) * a->dim[d].sm;
    i /= extent;
  }
  return place;
}

static void scatter(const char* values, Argument to) {
  const uint64_t count = count_of(to);
  uint64_t i;
  for (i = 0; i < count; ++i) memcpy(element_of(to, i), values + i * to->elem_len, to->elem_len);
}

static void gather(Argument from, char* values) {
  const uint64_t count = count_of(from);
  uint64_t i;
  for (i = 0; i < count; ++i) memcpy(values + i * from->elem_len, element_of(from, i), from->elem_len);
}

/* --- groups and errors -----------------------------------------------------------------------------------------------
 */

/* The group of a communicator, which is an integer, or a type(MPI_Comm), whose one part is that integer. */
static sf_status find_group(Argument comm, sf_group** group) {
  *group = NULL;
  if (comm == NULL) return SF_OK;
  if (comm->rank != 0 || comm->elem_len != sizeof(int32_t) ||
      (type_of(comm) >= type_logical && type_of(comm) <= type_character))
    return wrong(
        "a communicator of another type (it is an integer, or type(MPI_Comm)), pass one such as MPI_COMM_WORLD");
  return sf_group_of_fortran(*(const int32_t*)comm->base_addr, group);
}

/* Runs a call, or tells the other ranks why this one does not. */
static sf_status run(sf_status status, const Translated* to, void* result, sf_group* group) {
  if (status != SF_OK) return group == NULL ? status : sf_group_refuse(group, status, sf_error_text());
  if (group == NULL) return sf_reduce_local(&to->call, to->first, to->second, result);
  return sf_group_reduce(&to->call, to->first, to->second, result, group);
}

/* Without `ierr` a failure is the end, unless the communicator's error handler returns. */
static void settle(sf_status status, Argument comm, int* ierr) {
  if (ierr != NULL) {
    *ierr = status;
  } else if (status != SF_OK) {
    fprintf(stderr, "steadfold: %s\n", sf_error_text());
    if (comm != NULL) sf_fail_fortran(*(const int32_t*)comm->base_addr);
    exit(EXIT_FAILURE);
  }
}

/* --- what steadfold.f90 declares: results in arrays ------------------------------------------------------------------
 */

/* Bytes of the results of one group, or of all where there are no groups. */
static size_t bytes_of_group(const Translated* to, Argument result) {
  size_t bytes = result->elem_len;
  int i;
  for (i = 0; i < to->rank - (to->arrays.groups > 0 ? 1 : 0); ++i) bytes *= to->shape[i];
  return bytes;
}

/* Memory for results that cannot be written where they belong, or that have one group more: NULL where they can. */
static sf_status find_room(const Translated* to, Argument result, char** room) {
  const uint64_t groups = to->arrays.groups;
  const size_t bytes = bytes_of_group(to, result);
  if (groups == 0 && is_contiguous(result)) return SF_OK;
  *room = groups > 1 && bytes > SIZE_MAX / groups ? NULL : malloc(bytes * (groups == 0 ? 1 : groups) + 1);
  return *room == NULL
             ? refuse(SF_INTERNAL, "no memory for the results of %llu groups (out of memory), check the number",
                      (unsigned long long)groups)
             : SF_OK;
}

static void reduce_to_array(const Arguments* from, Argument result, int* ierr) {
  Translated to;
  sf_group* group;
  char* room = NULL;
  sf_status found = find_group(from->comm, &group), status = found;
  to.arrays.groups = 0;
  if (status == SF_OK) status = translate(from, result, &to);
  if (status == SF_OK) status = require_number(result, "results", &to.call.result_type);
  if (status == SF_OK) status = require_shape(&to, result);
  if (status == SF_OK) status = find_room(&to, result, &room);
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
  if (status == SF_OK && !is_contiguous(values)) {
    room = malloc(to.call.columns * values->elem_len + 1);
    if (room == NULL) status = refuse(SF_INTERNAL, "no memory for %llu elements", (unsigned long long)to.call.columns);
    if (room != NULL) gather(values, room);
  }
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
  if (status == SF_OK && !is_contiguous(array)) {
    room = malloc(to.call.rows * array->elem_len + 1);
    if (room == NULL) status = refuse(SF_INTERNAL, "no memory for %llu elements", (unsigned long long)to.call.rows);
    if (room != NULL) gather(array, room);
  }
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
