/* Handles, which variables of Fortran programs hold in place of pointers. A handle names a slot of one table and the
 * number of the slot's use. So a copy of a handle whose object has ended is recognised: it finds nothing. Cost: two
 * reads from memory to find an object; a lock to make or to end a handle. */
#ifndef STEADFOLD_FORTRAN_HANDLES_H
#define STEADFOLD_FORTRAN_HANDLES_H

#include "steadfold/steadfold_group.h"

/* A handle. A handle is 0 if the variable holds nothing. Negative: the group of a communicator, which is looked up at
 * every use. */
typedef int64_t Handle;

typedef enum Kind { kind_plan, kind_team, kind_group, kind_request, kind_layout } Kind;

/* Makes a handle for an object; returns 0 and sets the error text if there is no memory. */
Handle make_handle(Kind kind, void* object);

/* Returns the object; NULL if the handle is empty, of another kind, or its object has ended. */
void* object_of(Handle handle, Kind kind);

/* Empties the variable and ends its handle, and so all copies of the handle. Returns the object, which the caller
 * frees, or NULL as object_of does. If several threads end one handle, one of them gets the object. */
void* end_handle(Handle* handle, Kind kind);

/* Sets the error for a handle without an object: `if_empty` if the variable holds nothing, else that the object has
 * ended through another variable. */
sf_status no_object(Handle handle, Kind kind, const char* if_empty);

static inline Handle handle_of_communicator(int32_t comm) { return INT64_MIN | (int64_t)(uint32_t)comm; }
static inline int is_of_communicator(Handle handle) { return handle < 0; }
static inline int32_t communicator_of(Handle handle) { return (int32_t)(uint32_t)handle; }

#endif
