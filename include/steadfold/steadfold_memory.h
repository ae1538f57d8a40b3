/* Memory that ranks on the same node read and write in place, so that nothing is copied between them. In all other
 * respects it is ordinary memory. Needs no MPI.
 *
 * Plans and blocking calls use this memory in place if the row and the result on every rank are in memory from
 * sf_allocate, and if method, operation and type support it. The call must be an allreduce of one row per rank, have
 * more than a few columns, and leave the schedule to the library. The first run of a plan still copies, since the ranks
 * first have to find out. */
#ifndef STEADFOLD_STEADFOLD_MEMORY_H
#define STEADFOLD_STEADFOLD_MEMORY_H

#include "steadfold/steadfold.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Allocates `bytes` bytes, all zero, aligned to a page. If the system does not share memory between processes, the
 * memory is ordinary. After a fork, parent and child share the memory. Any thread may call this function. Free the
 * memory with sf_free. Local. */
sf_status sf_allocate(uint64_t bytes, void** memory);

/* Frees memory from sf_allocate. No run may be using it, on any rank. Does nothing for NULL, and for memory that a
 * child inherited by fork: the parent frees it. */
void sf_free(void* memory);

#ifdef __cplusplus
}
#endif

#endif
