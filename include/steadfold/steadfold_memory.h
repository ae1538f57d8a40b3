/* Memory from Steadfold, for rows and results that ranks on the same node read and write in place: then nothing is
 * copied between them. Anything else works with it as with any memory. Needs no MPI.
 *
 * It is used so by plans and calls that wait for their end, whose method, operation and type do so (one row of more
 * than some columns per rank, allreduce, the library's choice of the schedule), if on every rank row and result are
 * such memory. The first run of a plan still copies, since ranks find out. */
#ifndef STEADFOLD_STEADFOLD_MEMORY_H
#define STEADFOLD_STEADFOLD_MEMORY_H

#include "steadfold/steadfold.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `bytes` of memory, all zero, at the beginning of a page. Where the system shares no memory between processes it is
 * ordinary memory. What a child of fork inherits of it, parent and child share. Local, any thread. Free it with
 * sf_free. */
sf_status sf_allocate(uint64_t bytes, void** memory);

/* Gives it back. No run may be using it, on any rank; NULL is nothing, and so is memory that a child of fork inherited,
 * which its parent gives back. */
void sf_free(void* memory);

#ifdef __cplusplus
}
#endif

#endif
