/* Array descriptors of the Fortran compiler: the type and the elements of an argument. Errors are reported as in the C
 * interface. Cost: a few nanoseconds per dimension. Source: Fortran 2018, 18.5 (ISO_Fortran_binding.h). */
#ifndef STEADFOLD_FORTRAN_DESCRIPTORS_H
#define STEADFOLD_FORTRAN_DESCRIPTORS_H

#include <ISO_Fortran_binding.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "handles.h"
#include "steadfold/steadfold_fortran.h"
#include "texts.h"

/* An array or a text of the caller; NULL if an optional argument is not given. */
typedef const CFI_cdesc_t* Argument;

/* Sets the error text: "problem (why), suggestion". */
static inline sf_status refuse(sf_status status, const char* format, ...) {
  char text[600];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  sf_set_error_text(text);
  return status;
}
static inline sf_status wrong(const char* text) { return refuse(SF_INVALID_ARGUMENT, "%s", text); }

/* The intrinsic types as gfortran numbers them; the kind is in the bits above. */
enum { type_integer = 1, type_logical, type_real, type_complex, type_character, type_derived };

static inline int type_of(Argument a) { return a->type & CFI_type_mask; }

static const char* name_of_type(Argument a) {
  static const char* const names[] = {"", "integer", "logical", "real", "complex", "character"};
  const int type = type_of(a);
  return type >= type_integer && type <= type_character ? names[type] : "a derived type";
}

/* Finds the library's type of numbers, if there is one. A real of 16 bytes may be the processor's type or IEEE's; the
 * descriptor does not tell. */
static inline int find_number(Argument a, sf_type* type) {
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

static inline sf_status require_number(Argument a, const char* what, sf_type* type) {
  if (find_number(a, type)) return SF_OK;
  return refuse(
      SF_UNSUPPORTED,
      "%s of type %s with %zu bytes (supported are real and complex numbers of kinds 4 and 8, integers of kinds 4 "
      "and 8), convert the numbers",
      what, name_of_type(a), a->elem_len);
}

static inline uint64_t count_of(Argument a) {
  uint64_t count = 1;
  int i;
  for (i = 0; i < a->rank; ++i) count *= (uint64_t)a->dim[i].extent;
  return count;
}

/* Whether the distances in the descriptor are possible: elements do not overlap, are aligned like the elements of a
 * sequence, and fit into memory. gfortran 12 leaves the distances undefined if an assignment allocates an array for the
 * result of pack, reshape, spread, matmul or cshift (`x = pack(y, mask)`). */
static inline int has_distances(Argument a) {
  const CFI_index_t bytes = (CFI_index_t)a->elem_len, unit = bytes % 4 == 0 ? 4 : 1;
  const double most = 1e14; /* limit in bytes of memory, computed as a double, which cannot overflow */
  int i;
  for (i = 0; i < a->rank; ++i) {
    const CFI_index_t extent = a->dim[i].extent, distance = a->dim[i].sm;
    if (extent <= 1) continue;
    if (distance < bytes && distance > -bytes) return 0;
    if (distance % unit != 0 || (double)distance * (double)extent > most || (double)distance * (double)extent < -most)
      return 0;
  }
  return 1;
}

/* Returns the number of bytes from an element to the next along a dimension. An array that an assignment allocated is
 * contiguous. */
static inline CFI_index_t distance_along(Argument a, int dimension) {
  CFI_index_t next = (CFI_index_t)a->elem_len;
  int i;
  if (has_distances(a)) return a->dim[dimension].sm;
  for (i = 0; i < dimension; ++i) next *= a->dim[i].extent;
  return next;
}

static inline int is_contiguous(Argument a) {
  CFI_index_t next = (CFI_index_t)a->elem_len;
  int i;
  for (i = 0; i < a->rank; ++i) {
    if (a->dim[i].extent != 1 && distance_along(a, i) != next) return 0;
    next *= a->dim[i].extent;
  }
  return 1;
}

static inline int have_one_shape(Argument a, Argument b) {
  int i;
  if (a->rank != b->rank) return 0;
  for (i = 0; i < a->rank; ++i)
    if (a->dim[i].extent != b->dim[i].extent) return 0;
  return 1;
}

/* Checks that there is memory to read, and that its extents are known. */
static inline sf_status require_there(Argument a, const char* what) {
  if (a->rank > 0 && a->dim[a->rank - 1].extent < 0)
    return refuse(SF_INVALID_ARGUMENT,
                  "%s of assumed size (the last extent is not known), pass a section such as a(1:n)", what);
  if (a->base_addr == NULL && count_of(a) > 0)
    return refuse(SF_INVALID_ARGUMENT,
                  "%s without memory (not allocated, or not associated), allocate the memory first", what);
  return SF_OK;
}

/* Takes an array. The axes of C are the dimensions of Fortran in reverse order. */
static inline sf_status take_array(Argument a, const char* what, sf_type type, sf_array* array) {
  const sf_status status = require_there(a, what);
  int i;
  if (status != SF_OK) return status;
  array->data = a->base_addr;
  array->type = type;
  array->element_bytes = a->elem_len;
  array->axis_count = a->rank;
  for (i = 0; i < a->rank; ++i) {
    array->shape[a->rank - 1 - i] = (uint64_t)a->dim[i].extent;
    array->strides[a->rank - 1 - i] = distance_along(a, i);
  }
  return SF_OK;
}

/* Returns the address of element number `i` of an array, in Fortran's order. */
static char* element_of(Argument a, uint64_t i) {
  char* place = a->base_addr;
  int d;
  if (!has_distances(a)) return place + i * a->elem_len;
  for (d = 0; d < a->rank; ++d) {
    const uint64_t extent = (uint64_t)a->dim[d].extent;
    place += (CFI_index_t)(i % extent) * a->dim[d].sm;
    i /= extent;
  }
  return place;
}

/* Read lists of numbers: integers of 4 or 8 bytes, one or several. */
static inline sf_status require_integers(Argument list, const char* what) {
  sf_type type;
  if (type_of(list) == type_integer && find_number(list, &type)) return SF_OK;
  return refuse(SF_INVALID_ARGUMENT,
                "%s of type %s with %zu bytes (only integers of kinds 4 and 8 are supported), convert the numbers",
                what, name_of_type(list), list->elem_len);
}
static inline int64_t integer_at(Argument list, uint64_t i) {
  const char* const place = element_of(list, i);
  int32_t narrow;
  int64_t wide;
  if (list->elem_len == sizeof narrow) {
    memcpy(&narrow, place, sizeof narrow);
    return narrow;
  }
  memcpy(&wide, place, sizeof wide);
  return wide;
}

/* Checks a number of rows, which is unsigned in C. */
static inline sf_status require_rows(int64_t rows) {
  return rows >= 0 ? SF_OK
                   : refuse(SF_INVALID_ARGUMENT,
                            "%lld rows of this rank (the number of rows must be at least 0), check the number",
                            (long long)rows);
}

static inline void scatter(const char* values, Argument to) {
  const uint64_t count = count_of(to);
  uint64_t i;
  for (i = 0; i < count; ++i) memcpy(element_of(to, i), values + i * to->elem_len, to->elem_len);
}

/* Copies elements that are not contiguous to new memory, `*room`. `*room` must be NULL before, and stays NULL if the
 * elements are contiguous. */
static inline sf_status gather_apart(Argument from, char** room) {
  const uint64_t count = count_of(from);
  uint64_t i;
  if (is_contiguous(from)) return SF_OK;
  *room = malloc(count * from->elem_len + 1);
  if (*room == NULL) return refuse(SF_INTERNAL, "no memory for %llu elements", (unsigned long long)count);
  for (i = 0; i < count; ++i) memcpy(*room + i * from->elem_len, element_of(from, i), from->elem_len);
  return SF_OK;
}

/* The kinds of an argument `comm`: a communicator, as an integer or a type(MPI_Comm), whose only component is that
 * integer; or a type(sf_group), whose only component is a handle. */
static inline int is_communicator(Argument comm) {
  return comm->rank == 0 && comm->elem_len == sizeof(int32_t) &&
         (type_of(comm) == type_integer || type_of(comm) == type_derived);
}
static inline int is_group(Argument comm) {
  return comm->rank == 0 && comm->elem_len == sizeof(Handle) && type_of(comm) == type_derived;
}
static inline int32_t communicator(Argument comm) { return *(const int32_t*)comm->base_addr; }

static inline sf_status find_group(Argument comm, sf_group** group) {
  Handle handle;
  *group = NULL;
  if (comm == NULL) return SF_OK;
  if (is_communicator(comm)) return sf_group_of_fortran(communicator(comm), group);
  if (!is_group(comm))
    return wrong(
        "a communicator of another type (it is an integer, type(MPI_Comm), or type(sf_group)), pass one such as "
        "MPI_COMM_WORLD");
  handle = *(const Handle*)comm->base_addr;
  if (is_of_communicator(handle)) return sf_group_of_fortran(communicator_of(handle), group);
  *group = object_of(handle, kind_group);
  return *group == NULL ? no_object(handle, kind_group,
                                    "a group without ranks (the variable was not set), call sf_team_member first")
                        : SF_OK;
}

/* Tells the other ranks of the group why this rank makes no call; the error text has the reason. */
static inline sf_status tell(sf_group* group, sf_status status) {
  return sf_group_refuse(group, status, sf_error_text());
}

/* Reports the status. Without `ierr` a failure ends the program, unless the communicator's error handler returns. */
static inline void settle(sf_status status, Argument comm, int* ierr) {
  if (ierr != NULL) {
    *ierr = status;
  } else if (status != SF_OK) {
    fprintf(stderr, "steadfold: %s\n", sf_fortran_error_text());
    if (comm != NULL && is_communicator(comm)) sf_fail_fortran(communicator(comm));
    exit(EXIT_FAILURE);
  }
}

#endif
