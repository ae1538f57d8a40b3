/* The plans of steadfold.f90: reductions that are agreed on once and run often on the same arrays; a single reduction,
 * or several in a bundle, which share every message. Rank order: Fortran's order of elements. Cost: that of the plan in
 * C. */
#include "request.h"

/* A reduction of a plan. */
typedef struct Member {
  Work work;
  Descriptor result, index;
  Layout* layout;
} Member;

/* The object of a type(sf_plan). The plan is not bound yet if `plan` is NULL. */
typedef struct Plan {
  sf_plan* plan;
  Member** members;
  sf_data* data; /* the data of runs, one entry for each member */
  size_t count;
  int32_t rank;
  int is_started;
  int is_being_bound, is_dropped; /* is_dropped: whether the program has freed the plan while it was being bound */
} Plan;

static void free_member(Member* member) {
  if (member == NULL) return;
  free_work(&member->work);
  leave_layout(member->layout);
  free(member);
}

static void free_plan(Plan* own) {
  size_t i;
  if (own == NULL) return;
  sf_plan_free(own->plan);
  for (i = 0; i < own->count; ++i) free_member(own->members[i]);
  free(own->members);
  free(own->data);
  free(own);
}

static sf_status no_memory(void) {
  return refuse(SF_INTERNAL, "%s", "no memory for a plan (out of memory), free memory");
}

/* Makes a member. The member has a copy of the result's descriptor, since the caller's descriptor ends with the
 * call. */
static sf_status make_member(const Arguments* from, Member** member) {
  Member* const own = calloc(1, sizeof *own);
  sf_status status;
  *member = own;
  if (own == NULL) return no_memory();
  init_work(from, &own->work);
  status = prepare_array(from, NULL, &own->work);
  own->layout = use_layout(from->layout);
  own->work.result = copy_descriptor(from->result, &own->result);
  if (from->index != NULL) own->work.index = copy_descriptor(from->index, &own->index);
  return status;
}

static sf_status append(Plan* own, Member* member) {
  Member** const members = realloc(own->members, (own->count + 1) * sizeof *members);
  sf_data* data;
  if (members == NULL) return no_memory();
  own->members = members;
  data = realloc(own->data, (own->count + 1) * sizeof *data);
  if (data == NULL) return no_memory();
  own->data = data;
  memset(&data[own->count], 0, sizeof *data);
  data[own->count].first = member->work.to.first;
  data[own->count].second = member->work.to.second;
  data[own->count].result = place_of(&member->work);
  members[own->count++] = member;
  return SF_OK;
}

/* Adds a reduction to a plan. Local. */
static sf_status add(Plan* own, const Arguments* from) {
  Member* member = NULL;
  sf_status status = make_member(from, &member);
  if (status == SF_OK) status = append(own, member);
  if (status != SF_OK) free_member(member);
  return status;
}

/* Makes a plan of one reduction, not bound. The caller frees it, also after a failure. */
static sf_status new_plan(const Arguments* from, Plan** made) {
  *made = calloc(1, sizeof **made);
  return *made == NULL ? no_memory() : add(*made, from);
}

/* Gives the plan to the program, or frees it after a failure. */
static sf_status keep_plan(sf_status status, Plan* made, Handle* plan) {
  Handle handle = 0;
  if (status == SF_OK && (handle = make_handle(kind_plan, made)) == 0) status = SF_INTERNAL;
  if (status == SF_OK)
    *plan = handle;
  else
    free_plan(made);
  return status;
}

/* Adds a reduction to a plan that is not bound, or that does not exist yet. Local. */
static sf_status add_to(Handle* plan, const Arguments* from) {
  Plan* own = object_of(*plan, kind_plan);
  sf_status status;
  if (own != NULL && (own->plan != NULL || own->is_being_bound))
    return wrong("the plan exists already (it is bound), call sf_free before you make this object again");
  if (own != NULL) return add(own, from);
  status = new_plan(from, &own);
  return keep_plan(status, own, plan);
}

/* Returns the calls of a plan's reductions; NULL and an error if there is no memory. */
static sf_call* take_calls(const Plan* own) {
  sf_call* const calls = malloc(own->count * sizeof *calls);
  size_t i;
  if (calls == NULL) no_memory();
  for (i = 0; calls != NULL && i < own->count; ++i) calls[i] = own->members[i]->work.to.call;
  return calls;
}

/* Binds a plan: all ranks agree on its reductions, or on the error of one rank. Collective. */
static sf_status bind_to(sf_group* group, Plan* own) {
  sf_call* const calls = take_calls(own);
  sf_status status;
  if (calls == NULL) return tell(group, SF_INTERNAL);
  own->rank = sf_group_rank(group);
  status = sf_group_bind(calls, own->count, group, &own->plan);
  free(calls);
  return status;
}

static sf_status make_plan(Handle* plan, const Arguments* from) {
  sf_group* group;
  Plan* made = NULL;
  sf_status status = find_group(from->comm, &group);
  if (status != SF_OK) return status;
  if (object_of(*plan, kind_plan) != NULL)
    status = wrong("the plan exists already (it has a state), call sf_free before you make this object again");
  if (status == SF_OK) status = new_plan(from, &made);
  status = status == SF_OK ? bind_to(group, made) : tell(group, status);
  return keep_plan(status, made, plan);
}

/* Makes a plan of one reduction if there is a communicator; otherwise adds the reduction to a bundle. */
static void plan_for(Handle* plan, const Arguments* from, int* ierr) {
  settle(from->comm != NULL ? make_plan(plan, from) : add_to(plan, from), from->comm, ierr);
}

#define PLAN(name, operands, optional, given)                                                                    \
  void sf_fortran_plan_##name(Handle* plan, operands, Argument comm, optional, Argument where, Argument options, \
                              int* ierr, const Handle* layout) {                                                 \
    const Arguments from = {given, .where = where, .options = options, .comm = comm, .layout = layout};          \
    plan_for(plan, &from, ierr);                                                                                 \
  }

PLAN(sum, LIST(Argument array, Argument result), LIST(Argument keep, Argument weight),
     LIST(.operation = SF_SUM, .array = array, .result = result, .keep = keep, .factors = weight))
PLAN(combine, LIST(Argument array, Argument operation, Argument result), LIST(Argument keep, Argument weight),
     LIST(.name = operation, .array = array, .result = result, .keep = keep, .factors = weight))
PLAN(minloc, LIST(Argument array, Argument value, Argument index), Argument keep,
     LIST(.operation = SF_MIN_LOCATION, .array = array, .result = value, .index = index, .keep = keep))
PLAN(maxloc, LIST(Argument array, Argument value, Argument index), Argument keep,
     LIST(.operation = SF_MAX_LOCATION, .array = array, .result = value, .index = index, .keep = keep))
PLAN(describe, LIST(Argument array, Argument statistics), Argument keep,
     LIST(.operation = SF_STATISTICS, .array = array, .result = statistics, .keep = keep))

void sf_fortran_plan_dot(Handle* plan, Argument x, Argument y, Argument result, Argument comm, Argument where,
                         Argument options, int* ierr, const Handle* layout) {
  const Arguments from = {.operation = SF_DOTC,
                          .array = x,
                          .factors = y,
                          .result = result,
                          .where = where,
                          .options = options,
                          .comm = comm,
                          .layout = layout};
  plan_for(plan, &from, ierr);
}

void sf_fortran_plan_norm2(Handle* plan, Argument array, Argument result, Argument comm, Argument where,
                           Argument options, int* ierr, const Handle* layout) {
  const Arguments from = {.operation = SF_NORM2,
                          .array = array,
                          .result = result,
                          .where = where,
                          .options = options,
                          .comm = comm,
                          .layout = layout};
  plan_for(plan, &from, ierr);
}

/* Finds a bundle that has reductions and is not bound. */
static sf_status find_bundle(Handle handle, Plan** bundle) {
  static const char* const text =
      "the bundle cannot be bound (it is empty, or already bound), add reductions to an empty plan, for example with "
      "sf_plan_sum without a communicator";
  Plan* const own = object_of(handle, kind_plan);
  *bundle = own;
  if (own == NULL) return no_object(handle, kind_plan, text);
  return own->plan != NULL || own->is_being_bound ? wrong(text) : SF_OK;
}

void sf_fortran_bind(const Handle* plan, Argument comm, int* ierr) {
  sf_group* group;
  Plan* own;
  sf_status status = find_group(comm, &group);
  if (status == SF_OK) {
    status = find_bundle(*plan, &own);
    status = status == SF_OK ? bind_to(group, own) : tell(group, status);
  }
  settle(status, comm, ierr);
}

static void finish_binding(Request* request, sf_status status) {
  Plan* const own = request->bundle;
  own->is_being_bound = 0;
  if (status == SF_OK) own->plan = request->plan;
  if (own->is_dropped) free_plan(own);
}

static sf_status start_binding(Handle plan, Request* request) {
  Plan* own;
  sf_status status = find_bundle(plan, &own);
  sf_call* const calls = status == SF_OK ? take_calls(own) : NULL;
  if (calls == NULL) return start_refused(request->group, status == SF_OK ? SF_INTERNAL : status, &request->request);
  status = sf_group_start_bind(calls, own->count, request->group, &request->plan, &request->request);
  if (status == SF_OK) {
    own->rank = request->rank;
    own->is_being_bound = 1;
    request->bundle = own;
    request->finish = finish_binding;
  }
  free(calls);
  return status;
}

void sf_fortran_start_bind(const Handle* plan, Argument comm, Handle* handle, int* ierr) {
  sf_group* group;
  sf_status status = find_group(comm, &group);
  Request* const own = status == SF_OK ? open_request(*handle, group, &status) : NULL;
  if (own != NULL) status = keep_request(start_binding(*plan, own), own, handle);
  settle(status, comm, ierr);
}

/* Finds a bound plan. An error of a run is not connected with a communicator: without `ierr` it ends this process, and
 * MPI ends the others. */
static sf_status find_plan(Handle handle, Plan** plan) {
  static const char* const text =
      "no plan (the variable was not made or not bound, or was freed), call sf_plan_sum with a communicator, or "
      "sf_bind";
  Plan* const own = object_of(handle, kind_plan);
  *plan = own;
  if (own == NULL) return no_object(handle, kind_plan, text);
  return own->plan == NULL ? wrong(text) : SF_OK;
}

/* Delivers the results of a run. If some reductions of a bundle had no elements, the results of the others are
 * valid. */
static void deliver_run(Plan* own, sf_status status) {
  size_t i;
  own->is_started = 0;
  if (status != SF_OK && (status != SF_EMPTY || own->count == 1)) return;
  for (i = 0; i < own->count; ++i)
    if (status == SF_OK || sf_bundle_status(own->plan, i) == SF_OK) deliver(&own->members[i]->work, own->rank);
}

void sf_fortran_run(const Handle* plan, int* ierr) {
  Plan* own;
  sf_status status = find_plan(*plan, &own);
  if (status == SF_OK) {
    status = own->count == 1 ? sf_plan_run(own->plan, own->data->first, own->data->second, own->data->result)
                             : sf_bundle_run(own->plan, own->data, own->count);
    if (!own->is_started) /* If the run has not ended, the call was refused, and the run continues. */
      deliver_run(own, status);
  }
  settle(status, NULL, ierr);
}

void sf_fortran_start(const Handle* plan, int* ierr) {
  Plan* own;
  sf_status status = find_plan(*plan, &own);
  if (status == SF_OK) {
    status = own->count == 1 ? sf_plan_start(own->plan, own->data->first, own->data->second, own->data->result)
                             : sf_bundle_start(own->plan, own->data, own->count);
    if (status == SF_OK) own->is_started = 1;
  }
  settle(status, NULL, ierr);
}

/* Waits at most `timeout` nanoseconds for the end of a run. */
static void await(Handle plan, uint64_t timeout, int* done, int* ierr) {
  Plan* own;
  int ended = 0;
  sf_status status = find_plan(plan, &own);
  if (status == SF_OK) {
    status = sf_plan_wait_for(own->plan, timeout, &ended);
    /* A run that failed in this way never ends: the group cannot be used any more. */
    ended = ended || status == SF_TRANSPORT_FAILED;
    /* If the run has not ended, the wait was refused or timed out, and the run continues. */
    if (ended && own->is_started) deliver_run(own, status);
  }
  if (done != NULL) *done = ended;
  settle(status, NULL, ierr);
}

void sf_fortran_wait(const Handle* plan, const double* seconds, int* done, int* ierr) {
  await(*plan, nanoseconds(seconds), done, ierr);
}

void sf_fortran_test(const Handle* plan, int* done, int* ierr) { await(*plan, 0, done, ierr); }

/* Returns the status of a reduction of a bundle. Reductions count from 1. */
void sf_fortran_bundle_status(const Handle* plan, const int* reduction, int* ierr) {
  Plan* own;
  sf_status status = find_plan(*plan, &own);
  if (status == SF_OK && (*reduction < 1 || (size_t)*reduction > own->count))
    status = refuse(SF_INVALID_ARGUMENT,
                    "reduction %d of a plan of %zu (reductions are counted from 1), give another number", *reduction,
                    own->count);
  if (status == SF_OK) status = sf_bundle_status(own->plan, (size_t)*reduction - 1);
  settle(status, NULL, ierr);
}

void sf_fortran_plan_trace(const Handle* plan, const int* on, int* ierr) {
  Plan* own;
  const sf_status status = find_plan(*plan, &own);
  settle(status == SF_OK ? sf_plan_trace(own->plan, *on) : status, NULL, ierr);
}

void sf_fortran_plan_figures(const Handle* plan, int64_t* messages, int64_t* bytes, int* rounds, int* ierr) {
  sf_figures figures = {0, 0, 0};
  Plan* own;
  sf_status status = find_plan(*plan, &own);
  if (status == SF_OK) status = sf_plan_figures(own->plan, &figures);
  *messages = (int64_t)figures.messages;
  *bytes = (int64_t)figures.bytes;
  *rounds = (int)figures.rounds;
  settle(status, NULL, ierr);
}

/* Returns the description of a plan; no text without a plan. */
const char* sf_fortran_plan_text(const Handle* plan) {
  Plan* own;
  return find_plan(*plan, &own) == SF_OK ? sf_plan_describe(own->plan) : "";
}
const char* sf_fortran_plan_schedule(const Handle* plan) {
  Plan* own;
  return find_plan(*plan, &own) == SF_OK ? sf_plan_schedule(own->plan) : "";
}

void sf_fortran_free_plan(Handle* plan) {
  Plan* const own = end_handle(plan, kind_plan);
  if (own != NULL && own->is_being_bound)
    own->is_dropped = 1;
  else
    free_plan(own);
}
