/* The layouts of steadfold.f90, which say which elements of the whole job a rank has, counted from 1 as in Fortran.
 * Rank order: that of the layout. Cost: one allocation per layout. */
#include "descriptors.h"
#include "layout.h"

/* Allocates a layout. The program gets the layout only when it is complete. */
static Layout* new_layout(sf_layout kind, size_t count, sf_status* status) {
  Layout* const own = calloc(1, sizeof *own + count * sizeof own->intervals[0]);
  if (own == NULL) {
    *status = refuse(SF_INTERNAL, "no memory for a layout of %zu intervals (out of memory), free memory", count);
    return NULL;
  }
  atomic_init(&own->users, 1);
  own->kind = kind;
  own->element_count = SF_UNKNOWN;
  own->count = count;
  return own;
}

static sf_status require_none(Handle layout) {
  return object_of(layout, kind_layout) == NULL
             ? SF_OK
             : wrong("the layout exists already (it has a state), call sf_free before you make this object again");
}

/* Gives the layout to the program, or frees it after a failure. */
static sf_status keep_layout(sf_status status, Layout* own, Handle* layout) {
  Handle made = 0;
  if (status == SF_OK && (made = make_handle(kind_layout, own)) == 0) status = SF_INTERNAL;
  if (status == SF_OK)
    *layout = made;
  else
    leave_layout(own);
  return status;
}

static void make_simple(Handle* layout, sf_layout kind, int* ierr) {
  sf_status status = require_none(*layout);
  Layout* const own = status == SF_OK ? new_layout(kind, 0, &status) : NULL;
  settle(keep_layout(status, own, layout), NULL, ierr);
}

void sf_fortran_layout_anywhere(Handle* layout, int* ierr) { make_simple(layout, SF_ANYWHERE, ierr); }
void sf_fortran_layout_rank_order(Handle* layout, int* ierr) { make_simple(layout, SF_RANK_ORDER, ierr); }
void sf_fortran_layout_row_per_rank(Handle* layout, int* ierr) { make_simple(layout, SF_ROW_PER_RANK, ierr); }

static sf_status fill_intervals(Argument first, Argument last, Layout* own) {
  size_t i;
  for (i = 0; i < own->count; ++i) {
    const int64_t from = integer_at(first, i), to = integer_at(last, i);
    if (from < 1 || to < from - 1)
      return refuse(SF_INVALID_ARGUMENT,
                    "interval %zu from %lld to %lld (elements are counted from 1, and the last is not before the "
                    "first), check first and last",
                    i + 1, (long long)from, (long long)to);
    own->intervals[i].begin = (uint64_t)(from - 1);
    own->intervals[i].end = (uint64_t)to;
  }
  return SF_OK;
}

void sf_fortran_layout_intervals(Handle* layout, Argument first, Argument last, const int64_t* element_count,
                                 int* ierr) {
  Layout* own = NULL;
  sf_status status = require_integers(first, "first elements");
  if (status == SF_OK) status = require_integers(last, "last elements");
  if (status == SF_OK && count_of(first) != count_of(last))
    status = refuse(
        SF_INVALID_ARGUMENT,
        "%llu first elements and %llu last elements (each interval has a first and a last element), give equally many",
        (unsigned long long)count_of(first), (unsigned long long)count_of(last));
  if (status == SF_OK && element_count != NULL && *element_count < 0)
    status = refuse(SF_INVALID_ARGUMENT,
                    "%lld elements of the whole job (the number of elements is at least 0), check the number",
                    (long long)*element_count);
  if (status == SF_OK) status = require_none(*layout);
  if (status == SF_OK) own = new_layout(SF_INTERVALS, count_of(first), &status);
  if (status == SF_OK) status = fill_intervals(first, last, own);
  if (status == SF_OK && element_count != NULL) own->element_count = (uint64_t)*element_count;
  settle(keep_layout(status, own, layout), NULL, ierr);
}

/* Checks a list of a grid's rule: one number for each dimension, or none. */
static sf_status require_list(Argument list, uint64_t dimensions, const char* what) {
  uint64_t i;
  sf_status status;
  if (list == NULL) return SF_OK;
  status = require_integers(list, what);
  if (status == SF_OK && count_of(list) != dimensions)
    status = refuse(SF_INVALID_ARGUMENT,
                    "%llu %s for a grid of %llu dimensions (each dimension has one), give one number per dimension",
                    (unsigned long long)count_of(list), what, (unsigned long long)dimensions);
  for (i = 0; status == SF_OK && i < dimensions; ++i)
    if (integer_at(list, i) < 0)
      status = refuse(SF_INVALID_ARGUMENT,
                      "%s of %lld in dimension %llu of a grid (the numbers are at least 0), check the numbers", what,
                      (long long)integer_at(list, i), (unsigned long long)i + 1);
  return status;
}

static uint64_t in_list(Argument list, uint64_t dimension, uint64_t otherwise) {
  return list == NULL ? otherwise : (uint64_t)integer_at(list, dimension);
}

/* Makes the layout of a grid. The axes of C are the dimensions of Fortran in reverse order. */
void sf_fortran_layout_grid(Handle* layout, Argument extents, Argument ranks, Argument blocks, Argument first,
                            int* ierr) {
  const uint64_t count = count_of(extents);
  uint64_t i;
  Layout* own = NULL;
  sf_status status = SF_OK;
  if (count < 1 || count > SF_MOST_GRID_AXES)
    status = refuse(SF_INVALID_ARGUMENT,
                    "a grid of %llu dimensions (a grid has 1 to %d dimensions), give one extent per dimension",
                    (unsigned long long)count, SF_MOST_GRID_AXES);
  if (status == SF_OK) status = require_list(extents, count, "extents");
  if (status == SF_OK) status = require_list(ranks, count, "numbers of ranks");
  if (status == SF_OK) status = require_list(blocks, count, "block sizes");
  if (status == SF_OK) status = require_list(first, count, "first ranks");
  if (status == SF_OK) status = require_none(*layout);
  if (status == SF_OK) own = new_layout(SF_GRID, 0, &status);
  for (i = 0; status == SF_OK && i < count; ++i) {
    sf_grid_axis* const axis = &own->grid.axes[count - 1 - i];
    own->grid.axis_count = (uint32_t)count;
    axis->extent = in_list(extents, i, 0);
    axis->ranks = in_list(ranks, i, i + 1 == count ? 0 : 1);
    axis->block = in_list(blocks, i, 0);
    axis->first = in_list(first, i, 0);
  }
  settle(keep_layout(status, own, layout), NULL, ierr);
}

void sf_fortran_free_layout(Handle* layout) { leave_layout(end_handle(layout, kind_layout)); }
