/* The started calls of steadfold.f90. Until the call has ended, a request holds the data that the call uses besides the
 * program's arrays. Rank order: that of the call. Cost: that of the call in C, and an allocation. */
#include "request.h"

#include <stdatomic.h>

/* The requests that the program abandoned. Their calls continue and use their memory, which stays reachable for leak
 * detectors. */
static _Atomic(Request*) given_up;

static void give_up(Request* own) {
  Request* first = atomic_load(&given_up);
  do own->next = first;
  while (!atomic_compare_exchange_weak(&given_up, &first, own));
}

static void free_request(Request* own) {
  sf_request_free(own->request);
  free_work(&own->work);
  free(own);
}

/* Abandons a request: the call continues, and its end is not reported. */
static void abandon(Request* own) {
  if (own == NULL) return;
  sf_request_free(own->request);
  own->request = NULL;
  give_up(own);
}

sf_status start_refused(sf_group* group, sf_status status, sf_request** request) {
  char text[600];
  snprintf(text, sizeof text, "%s", sf_error_text());
  return sf_group_start_refuse(group, status, text, request);
}

/* Tells the other ranks, which start a call, that this rank has no request for it. */
static sf_status refuse_opening(sf_group* group, sf_status status) {
  char text[600];
  sf_request* unheard = NULL;
  snprintf(text, sizeof text, "%s", sf_error_text());
  if (sf_group_start_refuse(group, status, text, &unheard) == SF_OK) sf_request_free(unheard);
  sf_set_error_text(text);
  return status;
}

Request* open_request(Handle handle, sf_group* group, sf_status* status) {
  Request* own = NULL;
  if (object_of(handle, kind_request) != NULL)
    *status =
        wrong("the request is already in use (its call is under way), call sf_wait first, or use another request");
  else if ((own = calloc(1, sizeof *own)) == NULL)
    *status = refuse(SF_INTERNAL, "%s", "no memory for a request (out of memory), free memory");
  if (own == NULL) {
    *status = refuse_opening(group, *status);
  } else {
    own->group = group;
    own->rank = sf_group_rank(group);
  }
  return own;
}

sf_status keep_request(sf_status started, Request* own, Handle* handle) {
  if (started == SF_OK && (*handle = make_handle(kind_request, own)) == 0) {
    abandon(own);
    return SF_INTERNAL;
  }
  if (started != SF_OK) free_request(own);
  return started;
}

static void finish_reduction(Request* own, sf_status status) {
  if (status == SF_OK) deliver(&own->work, own->rank);
}

static sf_status start(const Arguments* from, Prepare prepare, Request* own) {
  Work* const work = &own->work;
  sf_status status;
  init_work(from, work);
  status = prepare(from, own->group, work);
  if (status != SF_OK) return start_refused(own->group, status, &own->request);
  work->result = copy_descriptor(from->result, &own->result);
  if (from->index != NULL) work->index = copy_descriptor(from->index, &own->index);
  own->finish = finish_reduction;
  return sf_group_start_reduce(&work->to.call, work->to.first, work->to.second, place_of(work), own->group,
                               &own->request);
}

void start_work(const Arguments* from, Prepare prepare, Handle* handle, int* ierr) {
  sf_group* group;
  sf_status status = find_group(from->comm, &group);
  Request* const own = status == SF_OK ? open_request(*handle, group, &status) : NULL;
  if (own != NULL) status = keep_request(start(from, prepare, own), own, handle);
  settle(status, from->comm, ierr);
}

void sf_fortran_free_request(Handle* handle) { abandon(end_handle(handle, kind_request)); }

/* Waits at most `timeout` nanoseconds. A request whose call has ended, or can never end, is emptied; an empty request
 * counts as ended. A request that is refused for another reason, for instance since another thread uses the
 * communicator, stays: its call continues. A copy of an ended request is emptied, too, after an error. */
static void await(Handle* handle, uint64_t timeout, int* done, int* ierr) {
  Request* const own = object_of(*handle, kind_request);
  int ended = own == NULL;
  sf_status status = SF_OK;
  if (own != NULL) {
    status = sf_request_wait_for(own->request, timeout, &ended);
    if (!ended && status == SF_TRANSPORT_FAILED) { /* the transport failed, so the call never ends */
      sf_fortran_free_request(handle);
      ended = 1;
    } else if (ended) {
      if (own->finish != NULL) own->finish(own, status);
      end_handle(handle, kind_request);
      free_request(own);
    }
  } else if (*handle != 0) {
    status = no_object(*handle, kind_request, "");
    *handle = 0;
  }
  if (done != NULL) *done = ended;
  settle(status, NULL, ierr);
}

void sf_fortran_wait_request(Handle* handle, const double* seconds, int* done, int* ierr) {
  await(handle, nanoseconds(seconds), done, ierr);
}

void sf_fortran_test_request(Handle* handle, int* done, int* ierr) { await(handle, 0, done, ierr); }

/* --- groups ----------------------------------------------------------------------------------------------------- */

void sf_fortran_start_barrier(Argument comm, Handle* handle, int* ierr) {
  sf_group* group;
  sf_status status = find_group(comm, &group);
  Request* const own = status == SF_OK ? open_request(*handle, group, &status) : NULL;
  if (own != NULL) status = keep_request(sf_group_start_barrier(group, &own->request), own, handle);
  settle(status, comm, ierr);
}

static void finish_rank_order(Request* own, sf_status status) {
  if (status != SF_OK) return;
  *own->first = (int64_t)own->mine.begin + 1;
  *own->last = (int64_t)own->mine.end;
  if (own->count != NULL) *own->count = (int64_t)own->element_count;
}

void sf_fortran_start_rank_order(const int64_t* rows, Argument comm, int64_t* first, int64_t* last, Handle* handle,
                                 int64_t* element_count, int* ierr) {
  sf_group* group;
  sf_status status = find_group(comm, &group);
  Request* const own = status == SF_OK ? open_request(*handle, group, &status) : NULL;
  if (own != NULL) {
    own->finish = finish_rank_order;
    own->first = first;
    own->last = last;
    own->count = element_count;
    status = require_rows(*rows);
    status = status == SF_OK
                 ? sf_group_start_rank_order((uint64_t)*rows, group, &own->mine, &own->element_count, &own->request)
                 : start_refused(group, status, &own->request);
    status = keep_request(status, own, handle);
  }
  settle(status, comm, ierr);
}
