/* A reduction from the arguments to the results: it is prepared, then run or started (requests.c, plans.c), then
 * delivered. Cost: about 20 ns. */
#ifndef STEADFOLD_FORTRAN_WORK_H
#define STEADFOLD_FORTRAN_WORK_H

#include "call.h"

/* A call and the variables for its results. Results that cannot be written in place, such as results for a section, are
 * written to `room` and copied from there. */
typedef struct Work {
  Argument result, index; /* variables for the results; `index` is for sf_minloc and sf_maxloc, else NULL */
  char* room;             /* memory for results that cannot be written in place, else NULL */
  char* gathered;         /* a contiguous copy of a section, if the call needs one; else NULL */
  uint64_t* blocks;
  size_t skipped; /* bytes at the beginning of `room` for the first group, which is not a result */
  int is_statistics;
  Translated to;
} Work;

/* Makes a call from the arguments. Local; `group` is NULL if the call involves only this process. The memory that it
 * allocates is freed by free_work, also after a failure. */
typedef sf_status (*Prepare)(const Arguments* from, const sf_group* group, Work* work);

static inline void init_work(const Arguments* from, Work* work) {
  work->result = from->result;
  work->index = from->index;
  work->room = work->gathered = NULL;
  work->blocks = NULL;
  work->skipped = 0;
  work->is_statistics = 0;
}

static inline void free_work(Work* work) {
  free(work->room);
  free(work->gathered);
  free(work->blocks);
}

static inline void* place_of(const Work* work) { return work->room == NULL ? work->result->base_addr : work->room; }

static inline int is_location(const sf_call* call) {
  return call->operation == SF_MIN_LOCATION || call->operation == SF_MAX_LOCATION;
}

/* Allocates memory for results that cannot be written in place, or that have an additional group. */
static inline sf_status find_room(Work* work) {
  const uint64_t groups = work->to.arrays.groups;
  const int32_t axes = work->to.rank - (groups > 0 ? 1 : 0);
  size_t bytes = work->index == NULL ? work->result->elem_len : sizeof(sf_located_f64);
  int i;
  if (groups == 0 && work->index == NULL && is_contiguous(work->result)) return SF_OK;
  for (i = 0; i < axes; ++i) bytes *= work->to.shape[i];
  work->skipped = groups == 0 ? 0 : bytes;
  work->room = groups > 1 && bytes > SIZE_MAX / groups ? NULL : malloc(bytes * (groups == 0 ? 1 : groups) + 1);
  return work->room == NULL
             ? refuse(SF_INTERNAL,
                      "no memory for the results of %llu groups (out of memory), check the number of groups",
                      (unsigned long long)groups)
             : SF_OK;
}

static inline sf_status require_statistics(Work* work) {
  work->is_statistics = 1;
  work->to.call.result_type = SF_F64;
  return type_of(work->result) == type_derived && work->result->elem_len == sizeof(sf_statistics)
             ? SF_OK
             : wrong(
                   "statistics in a variable of another type (statistics have type(sf_statistics)), pass a variable of "
                   "this type to sf_describe");
}

static inline sf_status require_index(const Work* work) {
  if (work->index == NULL)
    return wrong(
        "no variable for the index of the value (the result is a value and its index), call sf_minloc or sf_maxloc");
  return require_shape(&work->to, work->index);
}

/* Prepares a reduction of arrays, whose results go to an array with the shape of the kept dimensions. */
static inline sf_status prepare_array(const Arguments* from, const sf_group* group, Work* work) {
  sf_status status = translate(from, &work->to);
  const int is_statistics = status == SF_OK && work->to.call.operation == SF_STATISTICS;
  (void)group;
  if (status == SF_OK)
    status =
        is_statistics ? require_statistics(work) : require_number(work->result, "results", &work->to.call.result_type);
  if (status == SF_OK) status = require_shape(&work->to, work->result);
  if (status == SF_OK && is_location(&work->to.call)) status = require_index(work);
  return status == SF_OK ? find_room(work) : status;
}

/* Whether this rank gets results; `rank` is -1 if the call involves only this process. The group may have ended. */
static inline int is_written(const sf_call* call, int32_t rank) {
  if (rank < 0) return 1;
  if (call->collective == SF_EXSCAN && rank == 0) return 0;
  return call->root == SF_ALL_RANKS || call->root == rank || call->collective != SF_REDUCE;
}

/* Writes the locations. Indices count from 1; 0 means that there is no element. */
static inline void deliver_locations(const Work* work) {
  const uint64_t count = count_of(work->result);
  uint64_t i;
  for (i = 0; i < count; ++i) {
    const char* const located = work->room + work->skipped + i * sizeof(sf_located_f64);
    uint64_t index;
    memcpy(&index, located + offsetof(sf_located_f64, index), sizeof index);
    ++index;
    memcpy(element_of(work->result, i), located, work->result->elem_len);
    memcpy(element_of(work->index, i), &index, sizeof index);
  }
}
static inline void count_from_one(Argument statistics) {
  const uint64_t count = count_of(statistics);
  uint64_t i;
  for (i = 0; i < count; ++i) {
    sf_statistics* const one = (sf_statistics*)element_of(statistics, i);
    ++one->min_index;
    ++one->max_index;
  }
}

/* Copies the results to their variables, after a success. */
static inline void deliver(const Work* work, int32_t rank) {
  if (work->room == NULL && !work->is_statistics) return;
  if (!is_written(&work->to.call, rank)) return;
  if (work->index != NULL)
    deliver_locations(work);
  else if (work->room != NULL)
    scatter(work->room + work->skipped, work->result);
  if (work->is_statistics) count_from_one(work->result);
}

/* Makes a blocking call, from the arguments to the results. */
static inline void reduce_now(const Arguments* from, Prepare prepare, int* ierr) {
  Work work;
  sf_group* group;
  const sf_status found = find_group(from->comm, &group);
  sf_status status = found;
  init_work(from, &work);
  if (status == SF_OK) status = prepare(from, group, &work);
  if (found == SF_OK) status = run(status, &work.to, status == SF_OK ? place_of(&work) : NULL, group);
  if (status == SF_OK) deliver(&work, sf_group_rank(group));
  free_work(&work);
  settle(status, from->comm, ierr);
}

#endif
