/* Accumulators that steadfold.f90 declares: exact sums as objects, made when something is first added to them.
 * Rank order: none, sums are exact. Cost: that of the accumulator in C, and some 20 ns. */
#include "call.h"
#include "steadfold/steadfold_accumulator.h"

/* The arrays of an addition, and the shape of the accumulator that they are for. */
static sf_status take_terms(const Arguments* from, Translated* to, sf_accumulator_shape* shape) {
  int i;
  sf_status status = sf_call_init(&to->call, sizeof to->call);
  to->rank = 0;
  if (status == SF_OK) status = require_number(from->array, "elements", &to->call.type);
  if (status == SF_OK) status = require_factors(from, to->call.type);
  if (status == SF_OK) status = take_arrays(from, NULL, to);
  shape->type = to->call.type;
  shape->terms = from->factors == NULL ? SF_ELEMENTS : SF_PRODUCTS;
  shape->columns = 1;
  for (i = 0; status == SF_OK && i < to->rank; ++i) shape->columns *= to->shape[i];
  return status;
}

static void change(sf_accumulator** accumulator, const Arguments* from, int is_added, int* ierr) {
  Translated to;
  sf_accumulator_shape shape;
  sf_accumulator* made = NULL;
  sf_status status = take_terms(from, &to, &shape);
  if (status == SF_OK && *accumulator == NULL)
    status = sf_accumulator_create(shape.type, shape.terms, shape.columns, &made);
  if (status == SF_OK) {
    sf_accumulator* const own = made == NULL ? *accumulator : made;
    status =
        is_added ? sf_accumulator_add_arrays(own, &to.arrays, 1) : sf_accumulator_subtract_arrays(own, &to.arrays, 1);
  }
  if (status == SF_OK && made != NULL)
    *accumulator = made;
  else
    sf_accumulator_free(made);
  settle(status, NULL, ierr);
}

void sf_fortran_add(sf_accumulator** accumulator, Argument array, Argument keep, Argument weight, Argument where,
                    int* ierr) {
  const Arguments from = {.array = array, .factors = weight, .keep = keep, .where = where};
  change(accumulator, &from, 1, ierr);
}

void sf_fortran_subtract(sf_accumulator** accumulator, Argument array, Argument keep, Argument weight, Argument where,
                         int* ierr) {
  const Arguments from = {.array = array, .factors = weight, .keep = keep, .where = where};
  change(accumulator, &from, 0, ierr);
}

static sf_status require_made(const sf_accumulator* accumulator) {
  return accumulator == NULL ? wrong("an empty accumulator (nothing was ever added to it), call sf_add") : SF_OK;
}

/* What was never added to is nothing. */
void sf_fortran_merge(sf_accumulator** into, sf_accumulator* const* from, int* ierr) {
  sf_status status = SF_OK;
  if (*from != NULL) status = *into == NULL ? sf_accumulator_copy(*from, into) : sf_accumulator_merge(*into, *from);
  settle(status, NULL, ierr);
}

void sf_fortran_unmerge(sf_accumulator** from, sf_accumulator* const* what, int* ierr) {
  sf_status status = require_made(*from);
  if (status == SF_OK) status = require_made(*what);
  settle(status == SF_OK ? sf_accumulator_unmerge(*from, *what) : status, NULL, ierr);
}

/* What was never added to stays so. */
void sf_fortran_clear(sf_accumulator** accumulator, int* ierr) {
  settle(*accumulator == NULL ? SF_OK : sf_accumulator_clear(*accumulator), NULL, ierr);
}
void sf_fortran_negate(sf_accumulator** accumulator, int* ierr) {
  settle(*accumulator == NULL ? SF_OK : sf_accumulator_negate(*accumulator), NULL, ierr);
}

/* Makes another one that is equal; one of the same shape takes the sums into its own memory. */
void sf_fortran_copy(sf_accumulator* const* from, sf_accumulator** to, int* ierr) {
  sf_status status = require_made(*from);
  if (status == SF_OK) status = *to == NULL ? sf_accumulator_copy(*from, to) : sf_accumulator_assign(*to, *from);
  settle(status, NULL, ierr);
}

/* -1, 0 or 1 for every column, 2 where one of them is NaN. */
void sf_fortran_compare(sf_accumulator* const* a, sf_accumulator* const* b, Argument orders, int* ierr) {
  sf_accumulator_shape shape;
  sf_order* found = NULL;
  uint64_t i;
  sf_status status = require_made(*a);
  if (status == SF_OK) status = require_made(*b);
  if (status == SF_OK) status = sf_accumulator_describe(*a, &shape, NULL);
  if (status == SF_OK && count_of(orders) != shape.columns)
    status = refuse(SF_INVALID_ARGUMENT, "%llu places for the orders of %llu columns (each has one), give as many",
                    (unsigned long long)count_of(orders), (unsigned long long)shape.columns);
  if (status == SF_OK && (found = malloc(shape.columns * sizeof *found)) == NULL)
    status = refuse(SF_INTERNAL, "%s", "no memory for orders (out of memory), free some");
  if (status == SF_OK) status = sf_accumulator_compare(*a, *b, found);
  for (i = 0; status == SF_OK && i < shape.columns; ++i) {
    const int order = found[i];
    memcpy(element_of(orders, i), &order, sizeof order);
  }
  free(found);
  settle(status, NULL, ierr);
}

/* Nothing was added to an empty one. */
void sf_fortran_shape(sf_accumulator* const* accumulator, int64_t* columns, int64_t* rows, int* has_products,
                      int* ierr) {
  sf_accumulator_shape shape = {SF_F64, SF_ELEMENTS, 0};
  int64_t added = 0;
  const sf_status status = *accumulator == NULL ? SF_OK : sf_accumulator_describe(*accumulator, &shape, &added);
  if (columns != NULL) *columns = (int64_t)shape.columns;
  if (rows != NULL) *rows = added;
  if (has_products != NULL) *has_products = shape.terms == SF_PRODUCTS;
  settle(status, NULL, ierr);
}

void sf_fortran_merge_ranks(sf_accumulator** accumulator, Argument comm, int* ierr) {
  sf_group* group;
  sf_status status = find_group(comm, &group);
  if (status == SF_OK) {
    status = require_made(*accumulator);
    status = status == SF_OK ? sf_accumulator_merge_ranks(*accumulator, group) : tell(group, status);
  }
  settle(status, comm, ierr);
}

/* The sums, or the means, into an array of one element for every column. */
static void round_to(sf_accumulator* const* accumulator, sf_operation operation, Argument result, int* ierr) {
  sf_accumulator_shape shape;
  sf_type type = SF_F64;
  char* room = NULL;
  sf_status status = require_made(*accumulator);
  if (status == SF_OK) status = require_number(result, "results", &type);
  if (status == SF_OK) status = sf_accumulator_describe(*accumulator, &shape, NULL);
  if (status == SF_OK && shape.columns != count_of(result))
    status =
        refuse(SF_INVALID_ARGUMENT, "a result of %llu elements (the accumulator has %llu columns), give it as many",
               (unsigned long long)count_of(result), (unsigned long long)shape.columns);
  if (status == SF_OK && !is_contiguous(result) && (room = malloc(shape.columns * result->elem_len)) == NULL)
    status =
        refuse(SF_INTERNAL, "no memory for %llu results (out of memory), free some", (unsigned long long)shape.columns);
  if (status == SF_OK)
    status = sf_accumulator_round(*accumulator, operation, type, room == NULL ? result->base_addr : room);
  if (status == SF_OK && room != NULL) scatter(room, result);
  free(room);
  settle(status, NULL, ierr);
}

void sf_fortran_total(sf_accumulator* const* accumulator, Argument result, int* ierr) {
  round_to(accumulator, SF_SUM, result, ierr);
}

void sf_fortran_average(sf_accumulator* const* accumulator, Argument result, int* ierr) {
  round_to(accumulator, SF_MEAN, result, ierr);
}

void sf_fortran_root(sf_accumulator* const* accumulator, Argument result, int* ierr) {
  round_to(accumulator, SF_NORM2, result, ierr);
}

static sf_status require_bytes(Argument bytes) {
  return is_contiguous(bytes) ? SF_OK
                              : wrong(
                                    "bytes that do not stand one after the other (a section with strides), pass a "
                                    "whole array");
}

/* Bytes for a file into an array of bytes; `size` is how many there are. */
void sf_fortran_write(sf_accumulator* const* accumulator, Argument bytes, int64_t* size, int* ierr) {
  uint64_t needed = 0;
  sf_status status = require_made(*accumulator);
  if (status == SF_OK) status = require_bytes(bytes);
  if (status == SF_OK)
    status = sf_accumulator_write(*accumulator, bytes->base_addr, count_of(bytes) * bytes->elem_len, &needed);
  *size = (int64_t)needed;
  settle(status, NULL, ierr);
}

void sf_fortran_read(sf_accumulator** accumulator, Argument bytes, int* ierr) {
  sf_status status = SF_OK;
  if (*accumulator != NULL) status = wrong("an accumulator that is read again (it holds one), call sf_free first");
  if (status == SF_OK) status = require_bytes(bytes);
  if (status == SF_OK) status = sf_accumulator_read(bytes->base_addr, count_of(bytes) * bytes->elem_len, accumulator);
  settle(status, NULL, ierr);
}

/* --- packed: bytes for messages, of one size for all accumulators of a shape
 * ------------------------------------------
 */

int64_t sf_fortran_packed_size(sf_accumulator* const* accumulator) {
  return *accumulator == NULL ? 0 : (int64_t)sf_accumulator_packed_size(*accumulator);
}

void sf_fortran_pack(sf_accumulator* const* accumulator, Argument bytes, int* ierr) {
  sf_status status = require_made(*accumulator);
  if (status == SF_OK) status = require_bytes(bytes);
  if (status == SF_OK) status = sf_accumulator_pack(*accumulator, bytes->base_addr, count_of(bytes) * bytes->elem_len);
  settle(status, NULL, ierr);
}

void sf_fortran_unpack(sf_accumulator** accumulator, Argument bytes, int* ierr) {
  sf_status status = require_made(*accumulator);
  if (status == SF_OK) status = require_bytes(bytes);
  if (status == SF_OK)
    status = sf_accumulator_unpack(*accumulator, bytes->base_addr, count_of(bytes) * bytes->elem_len);
  settle(status, NULL, ierr);
}

void sf_fortran_merge_packed(Argument from, Argument into, int* ierr) {
  const uint64_t size = count_of(into) * into->elem_len;
  sf_status status = require_bytes(from);
  if (status == SF_OK) status = require_bytes(into);
  if (status == SF_OK && count_of(from) * from->elem_len != size)
    status = wrong("packed accumulators of different sizes (they are of one shape), merge those of one shape");
  if (status == SF_OK) sf_accumulator_merge_packed(from->base_addr, into->base_addr, size);
  settle(status, NULL, ierr);
}

void sf_fortran_free_accumulator(sf_accumulator** accumulator) {
  sf_accumulator_free(*accumulator);
  *accumulator = NULL;
}
