/* Converts a reduction in Fortran to a call of the C interface. Rank order: Fortran's order of elements, the first
 * index fastest. Cost: about 20 ns. */
#ifndef STEADFOLD_FORTRAN_CALL_H
#define STEADFOLD_FORTRAN_CALL_H

#include "descriptors.h"
#include "layout.h"
#include "steadfold/steadfold_names.h"

/* Passes several arguments as one argument of a macro. */
#define LIST(...) __VA_ARGS__

/* The arguments of a call from Fortran. `name`, if given, is the name of the operation. */
typedef struct Arguments {
  sf_operation operation;
  sf_collective collective;
  Argument array, result, index, factors, labels, keep, where, options, comm, name, blocks;
  const Handle* layout;
  sf_operator user;
  void* context;
} Arguments;

/* The call of the C interface, with the data that it points to. */
typedef struct Translated {
  sf_call call;
  sf_arrays arrays;
  char options[512];
  const void *first, *second;
  uint64_t shape[SF_MOST_AXES + 1]; /* the shape of the results, in Fortran's order */
  int32_t rank;
} Translated;

/* Removes blanks, which may follow the commas in lists of names such as guarantees. */
static inline void remove_blanks(char* text) {
  char* to = text;
  for (; *text != '\0'; ++text)
    if (*text != ' ') *to++ = *text;
  *to = '\0';
}

/* Refuses options that arguments determine, such as the type of elements: memory would be read as another type. */
static inline sf_status refuse_what_arguments_say(const char* option, int are_vectors) {
  size_t entry = 0;
  const char* said = "";
  if (sf_list_find(SF_LIST_OPTIONS, option, &entry) == SF_OK) said = sf_list_text(SF_LIST_OPTIONS, entry, "arguments");
  if (strcmp(said, "arrays") != 0 && !(are_vectors && strcmp(said, "vectors") == 0)) return SF_OK;
  return refuse(SF_INVALID_ARGUMENT,
                "option '%s' (the arguments determine it), leave out the option and pass other arguments", option);
}

/* Checks that an option asks only for a collective whose result has as many elements as the vector. */
static inline sf_status require_elements_of_all(sf_collective collective) {
  if (collective == SF_REDUCE || collective == SF_SCAN || collective == SF_EXSCAN) return SF_OK;
  return wrong(
      "option 'collective' (a reduction of elements is reduce, scan or exscan), call sf_reduce_scatter instead");
}

static inline sf_status set_option(sf_call* call, char* option, int are_vectors) {
  sf_status status;
  char* value = strchr(option, '=');
  char* end;
  if (value == NULL)
    return refuse(SF_INVALID_ARGUMENT,
                  "option '%s' (the option has no value), write name=value, and a comma between options", option);
  for (end = value; end > option && end[-1] == ' '; --end) continue;
  *end = '\0';
  ++value;
  value += strspn(value, " ");
  for (end = value + strlen(value); end > value && end[-1] == ' '; --end) continue;
  *end = '\0';
  if (strchr(value, ',') != NULL) remove_blanks(value);
  status = refuse_what_arguments_say(option, are_vectors);
  return status == SF_OK ? sf_call_set(call, option, value) : status;
}

static inline sf_status take_layout(const Handle* layout, Translated* to) {
  const Layout* own;
  if (layout == NULL) return SF_OK;
  own = object_of(*layout, kind_layout);
  if (own == NULL)
    return no_object(
        *layout, kind_layout,
        "the layout was not made (or was freed), make the layout first, for example with sf_layout_intervals");
  to->call.layout = own->kind;
  to->call.element_count = own->element_count;
  to->call.intervals = own->intervals;
  to->call.interval_count = own->count;
  to->call.grid = own->kind == SF_GRID ? &own->grid : NULL;
  return SF_OK;
}

static inline sf_status take_operation(Argument name, sf_call* call) {
  char text[64];
  size_t length = name->elem_len, entry = 0;
  sf_status status;
  while (length > 0 && ((const char*)name->base_addr)[length - 1] == ' ') --length;
  if (length >= sizeof text)
    return wrong("the name of an operation is too long (every operation has a shorter name), see SF_LIST_OPERATIONS");
  memcpy(text, name->base_addr, length);
  text[length] = '\0';
  status = sf_list_find(SF_LIST_OPERATIONS, text, &entry);
  if (status == SF_OK && entry == SF_USER)
    return wrong(
        "operation 'user' without an operator (a name gives no operator), pass an operator, for example c_funloc(op) "
        "to sf_reduce");
  if (status == SF_OK) call->operation = (sf_operation)entry;
  return status;
}

/* Sets the operation. With weights a sum is a sum of products, and a mean a weighted mean. */
static inline sf_status find_operation(const Arguments* from, sf_call* call) {
  sf_status status = SF_OK;
  call->operation = from->operation;
  if (from->name != NULL) status = take_operation(from->name, call);
  if (from->factors != NULL && call->operation == SF_SUM) call->operation = SF_DOT;
  if (from->factors != NULL && call->operation == SF_MEAN) call->operation = SF_WEIGHTED_MEAN;
  return status;
}

/* Returns the end of an option: a comma, unless the text after the comma has no name, as in 'require=ranks,layout'. */
static inline char* end_of_option(char* option) {
  char* end = option + strcspn(option, ",");
  while (*end == ',') {
    const char* const next = end + 1 + strspn(end + 1, " ,");
    const size_t length = strcspn(next, ",");
    if (length == 0 || memchr(next, '=', length) != NULL || memchr(option, '=', (size_t)(end - option)) == NULL) break;
    end += 1 + strcspn(end + 1, ",");
  }
  return end;
}

/* Sets the options of a text 'name=value, name=value'. The text must stay as long as the call, since some values, such
 * as a schedule, are pointers to it. */
static inline sf_status take_options(Argument options, int are_vectors, Translated* to) {
  sf_status status = SF_OK;
  char* option = to->options;
  if (options == NULL) return SF_OK;
  if (options->elem_len >= sizeof to->options)
    return refuse(SF_INVALID_ARGUMENT, "options of %zu characters (at most %zu are read), shorten the options",
                  (size_t)options->elem_len, sizeof to->options - 1);
  memcpy(to->options, options->base_addr, options->elem_len);
  to->options[options->elem_len] = '\0';
  while (status == SF_OK && *(option += strspn(option, " ,")) != '\0') {
    char* const end = end_of_option(option);
    char* const next = *end == '\0' ? end : end + 1;
    *end = '\0';
    status = set_option(&to->call, option, are_vectors);
    option = next;
  }
  return status == SF_OK ? require_elements_of_all(to->call.collective) : status;
}

static inline int kept_dimension(Argument keep, uint64_t i) {
  const CFI_index_t stride = keep->rank == 0 ? 0 : distance_along(keep, 0);
  return *(const int*)((const char*)keep->base_addr + (CFI_index_t)i * stride);
}

/* Takes `keep`, a dimension or an ascending list of dimensions. */
static inline sf_status take_kept(Argument keep, Argument array, Translated* to) {
  uint64_t i;
  int before = 0;
  if (keep == NULL) return SF_OK;
  if (keep->rank > 1)
    return wrong("keep has several dimensions (keep is a dimension, or a list of dimensions), pass a list");
  for (i = 0; i < count_of(keep); ++i) {
    const int dimension = kept_dimension(keep, i);
    if (dimension <= before || dimension > array->rank)
      return refuse(SF_INVALID_ARGUMENT,
                    "dimension %d in keep (the dimensions in keep must ascend, from 1 to the array's rank, %d), list "
                    "the dimensions that the result keeps",
                    dimension, (int)array->rank);
    to->arrays.kept |= (uint32_t)1 << (array->rank - dimension);
    to->shape[to->rank++] = (uint64_t)array->dim[dimension - 1].extent;
    before = dimension;
  }
  return SF_OK;
}

/* Writes a shape as "2, 3", in Fortran's order. */
static inline const char* shape_text(Argument a, char* text, size_t room) {
  size_t used = 0;
  int i;
  text[0] = '\0';
  for (i = 0; i < a->rank && used < room; ++i)
    used += (size_t)snprintf(text + used, room - used, "%s%lld", i == 0 ? "" : ", ", (long long)a->dim[i].extent);
  return text;
}

/* Checks that an operand can be repeated to the shape of the elements. The C interface would report the extents in C's
 * order. */
static inline sf_status require_stretches(Argument operand, const char* what, Argument elements) {
  char own[400], others[400];
  const int skipped = elements->rank - operand->rank;
  int i, fits = skipped >= 0;
  for (i = 0; fits && i < operand->rank; ++i) {
    const CFI_index_t extent = operand->dim[i].extent;
    /* An extent below 0 is an error that C reports. */
    fits = extent < 0 || extent == 1 || extent == elements->dim[i].extent;
  }
  if (fits) return SF_OK;
  return refuse(
      SF_INVALID_ARGUMENT,
      "%s of shape (%s) for elements of shape (%s) (from the first dimension on, extents must be equal, or 1, and "
      "there are no more dimensions), give an array that can be broadcast to the elements",
      what, shape_text(operand, own, sizeof own), shape_text(elements, others, sizeof others));
}

/* Checks labels. A single label is not repeated to a vector; along other dimensions labels are repeated. */
static inline sf_status require_labels(Argument labels, Argument elements) {
  char shape[400];
  const int is_one = labels->rank == 0 || (labels->rank == 1 && labels->dim[0].extent == 1);
  if (!is_one || elements->rank == 0 || (labels->rank == 1 && elements->dim[0].extent == 1))
    return require_stretches(labels, "labels", elements);
  return refuse(SF_INVALID_ARGUMENT,
                "one label for elements of shape (%s) (every element has one label), give one label per element, as "
                "spread(label, 1, n)",
                shape_text(elements, shape, sizeof shape));
}

static inline sf_status take_mask(Argument where, Translated* to) {
  if (where == NULL) return SF_OK;
  if (type_of(where) != type_logical)
    return refuse(SF_INVALID_ARGUMENT, "a mask of type %s (a mask must be logical), write where = ice > 0, for example",
                  name_of_type(where));
  return take_array(where, "masks", SF_BYTES, &to->arrays.mask);
}

/* Takes labels. Labels count from 1 in Fortran and from 0 in C, so the call has one more group, number 0, whose results
 * are not used. */
static inline sf_status take_labels(Argument labels, Argument result, Translated* to) {
  sf_type type = SF_BYTES;
  if (labels == NULL) return SF_OK;
  if (type_of(labels) != type_integer || !find_number(labels, &type))
    return refuse(SF_INVALID_ARGUMENT,
                  "labels of type %s with %zu bytes (labels must be integers of kinds 4 and 8), convert the labels",
                  name_of_type(labels), (size_t)labels->elem_len);
  if (result->rank == 0)
    return wrong("one number for the results of groups (the last dimension counts groups), pass an array");
  to->shape[to->rank++] = (uint64_t)result->dim[result->rank - 1].extent;
  to->arrays.groups = to->shape[to->rank - 1] + 1;
  return take_array(labels, "labels", type, &to->arrays.labels);
}

static inline int takes_factors(sf_operation operation) {
  return operation == SF_DOT || operation == SF_DOTC || operation == SF_WEIGHTED_MEAN || operation == SF_COVARIANCE ||
         operation == SF_SAMPLE_COVARIANCE || operation == SF_CORRELATION;
}

/* Whether the elements can be passed as rows: contiguous elements with one result, for which calls of C are fastest.
 * An array that would be refused is not passed as rows. */
static inline int are_rows(const Arguments* from, sf_operation operation) {
  const int has_unread = operation == SF_MASKED_SUM || (from->factors != NULL && !takes_factors(operation));
  return !has_unread && from->keep == NULL && from->where == NULL && from->labels == NULL &&
         is_contiguous(from->array) &&
         (from->factors == NULL || (is_contiguous(from->factors) && have_one_shape(from->array, from->factors)));
}

static inline sf_status take_arrays(const Arguments* from, Argument result, Translated* to) {
  sf_status status = sf_arrays_init(&to->arrays, sizeof to->arrays);
  if (status == SF_OK) status = take_array(from->array, "elements", to->call.type, &to->arrays.x);
  if (status == SF_OK && from->factors != NULL) status = require_stretches(from->factors, "factors", from->array);
  if (status == SF_OK && from->where != NULL) status = require_stretches(from->where, "a mask", from->array);
  if (status == SF_OK && from->labels != NULL) status = require_labels(from->labels, from->array);
  if (status == SF_OK && from->factors != NULL)
    status = take_array(from->factors, "factors", to->call.type, &to->arrays.factors);
  if (status == SF_OK) status = take_kept(from->keep, from->array, to);
  if (status == SF_OK) status = take_mask(from->where, to);
  if (status == SF_OK) status = take_labels(from->labels, result, to);
  to->call.arrays = &to->arrays;
  return status;
}

/* Checks both vectors of an operation on two vectors; weights of sums and means are repeated. */
static inline sf_status require_pair(const Arguments* from) {
  char first[400], second[400];
  const int has_weights = from->name != NULL || from->operation == SF_SUM || from->operation == SF_MEAN;
  sf_status status = SF_OK;
  if (from->factors == NULL || has_weights) return SF_OK;
  status = require_there(from->array, "elements");
  if (status == SF_OK) status = require_there(from->factors, "factors");
  if (status != SF_OK || have_one_shape(from->array, from->factors)) return status;
  return refuse(
      SF_INVALID_ARGUMENT,
      "a first vector of shape (%s) and a second vector of shape (%s) (their elements are paired, and no element is "
      "repeated), give two vectors of the same shape",
      shape_text(from->array, first, sizeof first), shape_text(from->factors, second, sizeof second));
}

static inline sf_status require_factors(const Arguments* from, sf_type type) {
  sf_type factors;
  if (from->factors == NULL || (find_number(from->factors, &factors) && factors == type)) return SF_OK;
  return wrong(
      "the factors and the elements have different types (both are multiplied without conversion), convert one of "
      "them");
}

static inline sf_status translate(const Arguments* from, Translated* to) {
  sf_status status = sf_call_init(&to->call, sizeof to->call);
  to->first = to->second = NULL;
  to->rank = 0;
  to->arrays.groups = 0; /* no groups, because the arrays may be passed as rows */
  if (status == SF_OK) status = require_number(from->array, "elements", &to->call.type);
  if (status != SF_OK) return status;
  status = find_operation(from, &to->call);
  if (status != SF_OK) return status;
  to->call.result_type = to->call.type;
  /* Without a communicator, too, sums use method exact. */
  if (to->call.operation == SF_SUM && type_of(from->array) != type_integer) to->call.method = SF_EXACT;
  status = require_pair(from);
  if (status == SF_OK) status = require_factors(from, to->call.type);
  if (status == SF_OK) status = take_options(from->options, 0, to);
  if (status == SF_OK) status = take_layout(from->layout, to);
  if (status != SF_OK) return status;
  if (!are_rows(from, to->call.operation)) return take_arrays(from, from->result, to);
  to->call.rows = count_of(from->array);
  to->first = from->array->base_addr;
  if (from->factors != NULL) to->second = from->factors->base_addr;
  return require_there(from->array, "elements");
}

static inline sf_status require_shape(const Translated* call, Argument result) {
  int i;
  if (result->rank != call->rank)
    return refuse(SF_INVALID_ARGUMENT,
                  "a result of %d dimensions (the results of the call have %d dimensions), give the result the "
                  "dimensions in keep%s",
                  (int)result->rank, (int)call->rank, call->arrays.groups > 0 ? ", and one for groups" : "");
  for (i = 0; i < call->rank; ++i)
    if ((uint64_t)result->dim[i].extent != call->shape[i])
      return refuse(SF_INVALID_ARGUMENT,
                    "a result with %lld indices in dimension %d (the call has %llu results along it), give the result "
                    "as many indices",
                    (long long)result->dim[i].extent, i + 1, (unsigned long long)call->shape[i]);
  return SF_OK;
}

/* Runs a call, or tells the other ranks why this rank does not make it. */
static inline sf_status run(sf_status status, const Translated* to, void* result, sf_group* group) {
  if (status != SF_OK) return group == NULL ? status : tell(group, status);
  if (group == NULL) return sf_reduce_local(&to->call, to->first, to->second, result);
  return sf_group_reduce(&to->call, to->first, to->second, result, group);
}

#endif
