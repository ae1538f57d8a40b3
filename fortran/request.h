/* Started calls of Fortran programs. */
#ifndef STEADFOLD_FORTRAN_REQUEST_H
#define STEADFOLD_FORTRAN_REQUEST_H

#include "work.h"

typedef CFI_CDESC_T(SF_MOST_AXES) Descriptor;

static inline Argument copy_descriptor(Argument from, Descriptor* copy) {
  memcpy(copy, from, sizeof(CFI_cdesc_t) + (size_t)from->rank * sizeof(CFI_dim_t));
  return (Argument)copy;
}

/* The object of a type(sf_request) while its call is under way. */
typedef struct Request {
  sf_request* request;
  sf_group* group; /* group of the call; valid while the call is started, because the group may end later */
  int32_t rank;
  void (*finish)(struct Request* own, sf_status status); /* called after the end of the call, before the request is
                                                            freed */
  Work work;                                             /* the work of a reduction, with copies of the descriptors */
  Descriptor result, index;
  sf_interval mine; /* results of a search for the rank order, with the variables that receive them */
  uint64_t element_count;
  int64_t *first, *last, *count;
  void* bundle; /* the bundle of a bind under way, and its plan */
  sf_plan* plan;
  struct Request* next; /* the next abandoned request in the list */
} Request;

/* Makes a request for a call, if the variable has no call under way; otherwise returns NULL and sets an error, and
 * tells the other ranks of the group, which start their calls. */
Request* open_request(Handle handle, sf_group* group, sf_status* status);

/* Starts a call that fails on all ranks with the current error text. */
sf_status start_refused(sf_group* group, sf_status status, sf_request** request);

/* Gives the opened request to the program if its call was started, else frees it. */
sf_status keep_request(sf_status started, Request* own, Handle* handle);

/* Starts a reduction, from the arguments to the request. */
void start_work(const Arguments* from, Prepare prepare, Handle* handle, int* ierr);

/* Converts a timeout to nanoseconds. A missing timeout is unlimited; a negative timeout, or a NaN, is 0. */
static inline uint64_t nanoseconds(const double* seconds) {
  if (seconds == NULL || *seconds > 1e9) return SF_FOREVER;
  return *seconds > 0 ? (uint64_t)(*seconds * 1e9) : 0;
}

#endif
