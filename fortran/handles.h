/* Handles: what a variable of a program in Fortran holds in place of a pointer. A handle names a slot of one table and
 * the number of its use, so a copy of a handle whose object is gone is known as such: it finds nothing.
 * Cost: to find an object, two reads from memory; to make and to end a handle, a lock. */
#ifndef STEADFOLD_FORTRAN_HANDLES_H
#define STEADFOLD_FORTRAN_HANDLES_H

#include "steadfold/steadfold_group.h"

/* 0 is a variable that holds nothing. Below 0: the group of a communicator, which is looked up at every use. */
typedef int64_t Handle;

typedef enum Kind { kind_plan, kind_team, kind_group, kind_request, kind_layout } Kind;

/* A handle for the object; 0 and an error text if there is no memory. */
Handle make_handle(Kind kind, void* object);

/* The object; NULL if the handle is empty, of another kind, or its object is gone. */
void* object_of(Handle handle, Kind kind);

/* Empties the variable and ends its handle, and with it all copies. Returns the object, which the caller frees; NULL as
 * above. Of several threads that end one handle, one gets the object. */
void* end_handle(Handle* handle, Kind kind);

/* The error for a handle without an object: `if_empty` if the variable holds nothing, else that another variable ended
 * it. */
sf_status no_object(Handle handle, Kind kind, const char* if_empty);

static inline Handle handle_of_communicator(int32_t comm) { return INT64_MIN | (int64_t)(uint32_t)comm; }
static inline int is_of_communicator(Handle handle) { return handle < 0; }
static inline int32_t communicator_of(Handle handle) { return (int32_t)(uint32_t)handle; }

#endif
