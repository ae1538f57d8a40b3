/* The layouts of steadfold.f90, which say which elements of the whole job a rank has. They never change. A bundle that
 * is not bound yet may use a layout that the program has freed, so users are counted. */
#ifndef STEADFOLD_FORTRAN_LAYOUT_H
#define STEADFOLD_FORTRAN_LAYOUT_H

#include <stdatomic.h>
#include <stdlib.h>

#include "handles.h"

/* The object of a type(sf_layout). */
typedef struct Layout {
  atomic_int users;
  sf_layout kind;
  uint64_t element_count;
  sf_grid grid;
  size_t count;
  sf_interval intervals[];
} Layout;

/* Adds a user and returns the layout. NULL if there is none, or if it has ended. */
static inline Layout* use_layout(const Handle* layout) {
  Layout* const own = layout == NULL ? NULL : object_of(*layout, kind_layout);
  if (own != NULL) atomic_fetch_add(&own->users, 1);
  return own;
}

static inline void leave_layout(Layout* layout) {
  if (layout != NULL && atomic_fetch_sub(&layout->users, 1) == 1) free(layout);
}

#endif
