/* Accumulators that steadfold.f90 declares: exact sums as objects, made when something is first added to them.
 * Rank order: none, sums are exact. Cost: that of the accumulator in C, and some 20 ns. Source: ours. */
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

/* Bytes for a file into an array of bytes; `size` is how many there are. */
void sf_fortran_write(sf_accumulator* const* accumulator, Argument bytes, int64_t* size, int* ierr) {
  uint64_t needed = 0;
  sf_status status = require_made(*accumulator);
  if (status == SF_OK && !is_contiguous(bytes))
    status = wrong("bytes that do not stand one after the other (a section with strides), pass a whole array");
  if (status == SF_OK)
    status = sf_accumulator_write(*accumulator, bytes->base_addr, count_of(bytes) * bytes->elem_len, &needed);
  *size = (int64_t)needed;
  settle(status, NULL, ierr);
}

void sf_fortran_read(sf_accumulator** accumulator, Argument bytes, int* ierr) {
  sf_status status = SF_OK;
  if (*accumulator != NULL) status = wrong("an accumulator that is read again (it holds one), call sf_free first");
  if (status == SF_OK && !is_contiguous(bytes))
    status = wrong("bytes that do not stand one after the other (a section with strides), pass bytes(1:size)");
  if (status == SF_OK) status = sf_accumulator_read(bytes->base_addr, count_of(bytes) * bytes->elem_len, accumulator);
  settle(status, NULL, ierr);
}

void sf_fortran_free_accumulator(sf_accumulator** accumulator) {
  sf_accumulator_free(*accumulator);
  *accumulator = NULL;
}
