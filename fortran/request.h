/* Calls that are started. */
#ifndef STEADFOLD_FORTRAN_REQUEST_H
#define STEADFOLD_FORTRAN_REQUEST_H

#include "work.h"

typedef CFI_CDESC_T(SF_MOST_AXES) Descriptor;

static inline Argument copy_descriptor(Argument from, Descriptor* copy) {
  memcpy(copy, from, sizeof(CFI_cdesc_t) + (size_t)from->rank * sizeof(CFI_dim_t));
  return (Argument)copy;
}

/* The object of a type(sf_request), while its call is under way. */
typedef struct Request {
  sf_request* request;
  sf_group* group; /* while the call is started; later it may be gone */
  int32_t rank;
  void (*finish)(struct Request* own, sf_status status); /* after the end of the call, before this is freed */
  Work work;                                             /* of a reduction, with descriptors of its own */
  Descriptor result, index;
  sf_interval mine; /* of a search for the rank order, and where it goes */
  uint64_t element_count;
  int64_t *first, *last, *count;
  void* bundle; /* that is being bound, and its plan */
  sf_plan* plan;
  struct Request* next; /* that nobody waits for */
} Request;

/* A request for a call, where the variable has none under way; NULL and an error where it cannot be. The other ranks of
 * the group, which start theirs, are told. */
Request* open_request(Handle handle, sf_group* group, sf_status* status);

/* Starts a call that fails on all ranks, by the error text that is set. */
sf_status start_refused(sf_group* group, sf_status status, sf_request** request);

/* Gives the opened request to the program if its call was started, else frees it. */
sf_status keep_request(sf_status started, Request* own, Handle* handle);

/* The whole of a reduction that is started. */
void start_work(const Arguments* from, Prepare prepare, Handle* handle, int* ierr);

/* A timeout of Fortran in nanoseconds: absent, it has no end; below zero, or a NaN, it is over at once. */
static inline uint64_t nanoseconds(const double* seconds) {
  if (seconds == NULL || *seconds > 1e9) return SF_FOREVER;
  return *seconds > 0 ? (uint64_t)(*seconds * 1e9) : 0;
}

#endif
