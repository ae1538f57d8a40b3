/* Layouts, as steadfold.f90 makes them: which elements of the whole job a rank has. They never change; a bundle that is
 * not bound yet may use one that the program has freed, so users are counted. */
#ifndef STEADFOLD_FORTRAN_LAYOUT_H
#define STEADFOLD_FORTRAN_LAYOUT_H

#include <stdatomic.h>
#include <stdlib.h>

#include "steadfold/steadfold.h"

/* What a type(sf_layout) points to. */
typedef struct Layout {
  atomic_int users;
  sf_layout kind;
  uint64_t element_count;
  sf_grid grid;
  size_t count;
  sf_interval intervals[];
} Layout;

static inline Layout* use_layout(Layout* const* layout) {
  if (layout == NULL || *layout == NULL) return NULL;
  atomic_fetch_add(&(*layout)->users, 1);
  return *layout;
}

static inline void leave_layout(Layout* layout) {
  if (layout != NULL && atomic_fetch_sub(&layout->users, 1) == 1) free(layout);
}

#endif
