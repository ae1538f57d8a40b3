/* The accumulators of steadfold.f90: exact sums as values. A type(sf_accumulator) holds an allocatable array of
 * integers with a head and the packed sums. Fortran copies and frees the array with the variable; a call unpacks the
 * sums. Rank order: irrelevant, because sums are exact. Cost: that of the accumulator in C, and per column about 100 ns
 * to pack and merge (sf_add) or to unpack and pack. */
#include "call.h"
#include "steadfold/steadfold_accumulator.h"

/* The state of an accumulator, an allocatable array in Fortran. The array is not allocated if nothing was ever
 * added. */
typedef CFI_cdesc_t State;

/* The numbers are equal to the numbers in steadfold.f90. */
enum { added, taken_away, copied };
enum { cleared, negated };
enum { to_sum, to_mean, to_root };

typedef struct Head {
  sf_accumulator_shape shape;
  int64_t rows;
} Head;
enum { head_words = sizeof(Head) / sizeof(int64_t) };

static int is_empty(const State* state) { return state->base_addr == NULL; }
static Head head_of(const State* state) {
  Head head = {{SF_F64, SF_ELEMENTS, 0}, 0};
  if (!is_empty(state)) memcpy(&head, state->base_addr, sizeof head);
  return head;
}
static void* packed_of(const State* state) { return (int64_t*)state->base_addr + head_words; }
static uint64_t packed_size(const State* state) {
  return is_empty(state) ? 0 : ((uint64_t)state->dim[0].extent - head_words) * sizeof(int64_t);
}

static sf_status no_memory_for(uint64_t columns) {
  return refuse(SF_INTERNAL, "no memory for an accumulator of %llu sums (out of memory), free memory",
                (unsigned long long)columns);
}

/* Allocates `words` words, unless the state has them. */
static sf_status allocate(State* state, uint64_t words) {
  const CFI_index_t first = 1, last = (CFI_index_t)words;
  if (!is_empty(state) && state->dim[0].extent == last) return SF_OK;
  if (!is_empty(state)) CFI_deallocate(state);
  return CFI_allocate(state, &first, &last, 0) == CFI_SUCCESS ? SF_OK : no_memory_for(words);
}

/* Stores an accumulator in the state. */
static sf_status store(const sf_accumulator* from, State* state) {
  const uint64_t size = sf_accumulator_packed_size(from);
  Head head;
  sf_status status = sf_accumulator_describe(from, &head.shape, &head.rows);
  if (status == SF_OK) status = allocate(state, head_words + size / sizeof(int64_t));
  if (status != SF_OK) return status;
  memcpy(state->base_addr, &head, sizeof head);
  return sf_accumulator_pack(from, packed_of(state), size);
}

static sf_status require_made(const State* state) {
  return is_empty(state) ? wrong("the accumulator is empty (nothing was ever added to it), call sf_add") : SF_OK;
}

/* Makes a C accumulator of the state. The caller frees it. `*to` is NULL after a failure. */
static sf_status unpack(const State* state, sf_accumulator** to) {
  const sf_accumulator_shape shape = head_of(state).shape;
  sf_status status = require_made(state);
  *to = NULL;
  if (status == SF_OK) status = sf_accumulator_create(shape.type, shape.terms, shape.columns, to);
  return status == SF_OK ? sf_accumulator_unpack(*to, packed_of(state), packed_size(state)) : status;
}

/* Stores a changed accumulator in the state, if `status` is a success, and frees the accumulator. */
static sf_status store_if(sf_status status, sf_accumulator* changed, State* state) {
  if (status == SF_OK) status = store(changed, state);
  sf_accumulator_free(changed);
  return status;
}

/* --- calls that change accumulators ------------------------------------------------------------------------------ */

/* Takes the arrays of an addition, and the shape that an accumulator needs for them. */
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

/* Adds the sums of `terms`, an accumulator of the same shape, to the state. */
static sf_status add_packed(const sf_accumulator* terms, State* state) {
  const uint64_t size = packed_size(state);
  Head head = head_of(state);
  int64_t rows = 0;
  char* const packed = malloc(size);
  sf_status status = packed == NULL ? no_memory_for(head.shape.columns) : sf_accumulator_describe(terms, NULL, &rows);
  if (status == SF_OK) status = sf_accumulator_pack(terms, packed, size);
  if (status == SF_OK) {
    head.rows += rows;
    memcpy(state->base_addr, &head, sizeof head);
    sf_accumulator_merge_packed(packed, packed_of(state), size);
  }
  free(packed);
  return status;
}

/* Adds or subtracts terms. The terms are added to a separate accumulator, whose packed sums are merged into the state;
 * this takes half the time of unpacking the state. If the state may be full, it is unpacked. */
void sf_fortran_change(State* state, Argument array, Argument keep, Argument weight, Argument where, int how,
                       int* ierr) {
  const Arguments from = {.array = array, .factors = weight, .keep = keep, .where = where};
  const Head head = head_of(state);
  const int64_t most = (int64_t)1 << 61;
  const int may_be_full = head.rows > most || head.rows < -most;
  Translated to;
  sf_accumulator_shape shape;
  sf_accumulator* own = NULL;
  sf_status status = take_terms(&from, &to, &shape);
  if (!is_empty(state)) shape = head.shape;
  if (status == SF_OK)
    status = may_be_full ? unpack(state, &own) : sf_accumulator_create(shape.type, shape.terms, shape.columns, &own);
  if (status == SF_OK)
    status = how == added ? sf_accumulator_add_arrays(own, &to.arrays, 1)
                          : sf_accumulator_subtract_arrays(own, &to.arrays, 1);
  if (status == SF_OK) status = is_empty(state) || may_be_full ? store(own, state) : add_packed(own, state);
  sf_accumulator_free(own);
  settle(status, NULL, ierr);
}

static sf_status unite_made(sf_accumulator* into, const sf_accumulator* from, int how) {
  if (how == added) return sf_accumulator_merge(into, from);
  return how == taken_away ? sf_accumulator_unmerge(into, from) : sf_accumulator_assign(into, from);
}

/* Merges an accumulator into another, subtracts it, or copies it. An empty accumulator changes nothing if it is merged;
 * it is an error to subtract it or to copy it. */
void sf_fortran_unite(State* into, const State* from, int how, int* ierr) {
  sf_accumulator *own = NULL, *other = NULL;
  sf_status status = SF_OK;
  if (how == taken_away) status = require_made(into);
  if (status == SF_OK && (how != added || !is_empty(from))) {
    status = unpack(from, &other);
    if (status == SF_OK && !is_empty(into)) {
      status = unpack(into, &own);
      if (status == SF_OK) status = unite_made(own, other, how);
    }
    if (status == SF_OK) status = store(own == NULL ? other : own, into);
  }
  sf_accumulator_free(own);
  sf_accumulator_free(other);
  settle(status, NULL, ierr);
}

/* Clears an accumulator, or negates it. An empty accumulator stays empty. */
void sf_fortran_turn(State* state, int how, int* ierr) {
  sf_accumulator* own = NULL;
  sf_status status = SF_OK;
  if (!is_empty(state)) {
    status = unpack(state, &own);
    if (status == SF_OK) status = how == cleared ? sf_accumulator_clear(own) : sf_accumulator_negate(own);
    status = store_if(status, own, state);
  }
  settle(status, NULL, ierr);
}

void sf_fortran_merge_ranks(State* state, Argument comm, int* ierr) {
  sf_group* group;
  sf_accumulator* own = NULL;
  sf_status status = find_group(comm, &group);
  if (status == SF_OK) {
    status = unpack(state, &own);
    status = status == SF_OK ? sf_accumulator_merge_ranks(own, group) : tell(group, status);
    status = store_if(status, own, state);
  }
  settle(status, comm, ierr);
}

/* --- calls that read accumulators -------------------------------------------------------------------------------- */

/* Compares two accumulators. Writes -1, 0 or 1 for every column, 2 if one of the two sums is NaN. */
void sf_fortran_compare(const State* a, const State* b, Argument orders, int* ierr) {
  const uint64_t columns = head_of(a).shape.columns;
  sf_accumulator *left = NULL, *right = NULL;
  sf_order* found = NULL;
  uint64_t i;
  sf_status status = unpack(a, &left);
  if (status == SF_OK) status = unpack(b, &right);
  if (status == SF_OK && count_of(orders) != columns)
    status =
        refuse(SF_INVALID_ARGUMENT,
               "%llu elements for the orders of %llu columns (each column has one order), give one element per column",
               (unsigned long long)count_of(orders), (unsigned long long)columns);
  if (status == SF_OK && (found = malloc(columns * sizeof *found)) == NULL)
    status = refuse(SF_INTERNAL, "%s", "no memory for orders (out of memory), free memory");
  if (status == SF_OK) status = sf_accumulator_compare(left, right, found);
  for (i = 0; status == SF_OK && i < columns; ++i) {
    const int order = found[i];
    memcpy(element_of(orders, i), &order, sizeof order);
  }
  free(found);
  sf_accumulator_free(left);
  sf_accumulator_free(right);
  settle(status, NULL, ierr);
}

/* Writes the shape of an accumulator. An empty accumulator has no columns and no rows. */
void sf_fortran_shape(const State* state, int64_t* columns, int64_t* rows, int* has_products, int* ierr) {
  const Head head = head_of(state);
  if (columns != NULL) *columns = (int64_t)head.shape.columns;
  if (rows != NULL) *rows = head.rows;
  if (has_products != NULL) *has_products = head.shape.terms == SF_PRODUCTS;
  settle(SF_OK, NULL, ierr);
}

/* Writes the sums, the means or the square roots to an array of one element for every column. */
void sf_fortran_round(const State* state, int how, Argument result, int* ierr) {
  static const sf_operation operations[] = {[to_sum] = SF_SUM, [to_mean] = SF_MEAN, [to_root] = SF_NORM2};
  const uint64_t columns = head_of(state).shape.columns;
  sf_type type = SF_F64;
  sf_accumulator* own = NULL;
  char* room = NULL;
  sf_status status = unpack(state, &own);
  if (status == SF_OK) status = require_number(result, "results", &type);
  if (status == SF_OK && how == to_root && head_of(state).shape.terms != SF_PRODUCTS)
    status = refuse(SF_UNSUPPORTED, "%s",
                    "the norm of an accumulator of elements (a norm is the root of a sum of squares), add products: "
                    "call sf_add with a weight");
  if (status == SF_OK && columns != count_of(result))
    status = refuse(
        SF_INVALID_ARGUMENT,
        "a result of %llu elements (the accumulator has %llu columns), give a result with one element per column",
        (unsigned long long)count_of(result), (unsigned long long)columns);
  if (status == SF_OK && !is_contiguous(result) && (room = malloc(columns * result->elem_len)) == NULL)
    status = no_memory_for(columns);
  if (status == SF_OK)
    status = sf_accumulator_round(own, operations[how], type, room == NULL ? result->base_addr : room);
  if (status == SF_OK && room != NULL) scatter(room, result);
  free(room);
  sf_accumulator_free(own);
  settle(status, NULL, ierr);
}

/* --- bytes ------------------------------------------------------------------------------------------------------- */

static sf_status require_bytes(Argument bytes) {
  return is_contiguous(bytes)
             ? SF_OK
             : wrong("the bytes are not contiguous (they are a section with strides), pass a whole array");
}
static uint64_t size_of(Argument bytes) { return count_of(bytes) * bytes->elem_len; }

/* Writes the bytes for a file to an array; `size` receives their number. */
void sf_fortran_write(const State* state, Argument bytes, int64_t* size, int* ierr) {
  uint64_t needed = 0;
  sf_accumulator* own = NULL;
  sf_status status = unpack(state, &own);
  if (status == SF_OK) status = require_bytes(bytes);
  if (status == SF_OK) status = sf_accumulator_write(own, bytes->base_addr, size_of(bytes), &needed);
  sf_accumulator_free(own);
  *size = (int64_t)needed;
  settle(status, NULL, ierr);
}

void sf_fortran_read(State* state, Argument bytes, int* ierr) {
  sf_accumulator* own = NULL;
  sf_status status = SF_OK;
  if (!is_empty(state))
    status =
        wrong("the accumulator exists already (it has a state), call sf_free before you read the accumulator again");
  if (status == SF_OK) status = require_bytes(bytes);
  if (status == SF_OK) status = sf_accumulator_read(bytes->base_addr, size_of(bytes), &own);
  settle(store_if(status, own, state), NULL, ierr);
}

/* Returns the size of a packed accumulator, which is equal for all accumulators of a shape. */
int64_t sf_fortran_packed_size(const State* state) { return (int64_t)packed_size(state); }

static sf_status require_packed(const State* state, Argument bytes) {
  sf_status status = require_made(state);
  if (status == SF_OK) status = require_bytes(bytes);
  if (status == SF_OK && size_of(bytes) != packed_size(state))
    status = refuse(SF_INVALID_ARGUMENT,
                    "%llu bytes for a packed accumulator (it needs %llu bytes), get the size from sf_packed_size",
                    (unsigned long long)size_of(bytes), (unsigned long long)packed_size(state));
  return status;
}

void sf_fortran_pack(const State* state, Argument bytes, int* ierr) {
  const sf_status status = require_packed(state, bytes);
  if (status == SF_OK) memcpy(bytes->base_addr, packed_of(state), packed_size(state));
  settle(status, NULL, ierr);
}

void sf_fortran_unpack(State* state, Argument bytes, int* ierr) {
  sf_accumulator* own = NULL;
  sf_status status = require_packed(state, bytes);
  if (status == SF_OK) status = unpack(state, &own);
  if (status == SF_OK) status = sf_accumulator_unpack(own, bytes->base_addr, size_of(bytes));
  settle(store_if(status, own, state), NULL, ierr);
}

void sf_fortran_merge_packed(Argument from, Argument into, int* ierr) {
  sf_status status = require_bytes(from);
  if (status == SF_OK) status = require_bytes(into);
  if (status == SF_OK && size_of(from) != size_of(into))
    status = wrong(
        "the packed accumulators have different sizes (accumulators of one shape have equal sizes), merge accumulators "
        "of one shape");
  if (status == SF_OK) sf_accumulator_merge_packed(from->base_addr, into->base_addr, size_of(into));
  settle(status, NULL, ierr);
}
