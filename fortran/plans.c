/* Plans that steadfold.f90 declares: reductions agreed on once and run often, on the arrays that they were made with;
 * one, or several in a bundle, which share every message. Rank order: Fortran's order of elements. Cost: that of the
 * plan in C. Source: ours. */
#include "call.h"

/* A reduction of a plan. */
typedef struct Member {
  Translated to;
  char* room; /* for results that do not stand one after the other; else NULL */
  CFI_CDESC_T(SF_MOST_AXES) result;
} Member;

/* What a type(sf_plan) points to: without `plan` it is not bound yet. */
typedef struct Plan {
  sf_plan* plan;
  Member** members;
  sf_data* data; /* of runs, one for each member */
  size_t count;
  int is_started;
} Plan;

static void free_member(Member* member) {
  if (member == NULL) return;
  free(member->room);
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
  return refuse(SF_INTERNAL, "%s", "no memory for a plan (out of memory), free some");
}

/* Keeps what says where the result is: the caller's descriptor ends with the call. */
static sf_status make_member(const Arguments* from, Argument result, Member** member) {
  Member* const own = calloc(1, sizeof *own);
  sf_status status;
  *member = own;
  if (own == NULL) return no_memory();
  status = translate_to_array(from, result, &own->to, &own->room);
  if (status == SF_OK) memcpy(&own->result, result, sizeof(CFI_cdesc_t) + (size_t)result->rank * sizeof(CFI_dim_t));
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
  data[own->count].first = member->to.first;
  data[own->count].second = member->to.second;
  data[own->count].result = member->room == NULL ? ((Argument)&member->result)->base_addr : member->room;
  members[own->count++] = member;
  return SF_OK;
}

/* Local: adds a reduction to a plan that is not bound, or is not there yet. */
static sf_status add(Plan** plan, const Arguments* from, Argument result) {
  Member* member = NULL;
  sf_status status = SF_OK;
  if (*plan != NULL && (*plan)->plan != NULL)
    return wrong("a plan that is made again (it is bound), call sf_free first");
  if (*plan == NULL && (*plan = calloc(1, sizeof **plan)) == NULL) status = no_memory();
  if (status == SF_OK) status = make_member(from, result, &member);
  if (status == SF_OK) status = append(*plan, member);
  if (status != SF_OK) free_member(member);
  if (*plan != NULL && (*plan)->count == 0) {
    free_plan(*plan);
    *plan = NULL;
  }
  return status;
}

/* Collective: all ranks agree on the plan's reductions, or on why one of them does not. */
static sf_status bind_to(sf_group* group, Plan* own) {
  sf_call* const calls = malloc(own->count * sizeof *calls);
  sf_status status;
  size_t i;
  if (calls == NULL) return tell(group, no_memory());
  for (i = 0; i < own->count; ++i) calls[i] = own->members[i]->to.call;
  status = sf_group_bind(calls, own->count, group, &own->plan);
  free(calls);
  return status;
}

static void make_plan(Plan** plan, const Arguments* from, Argument result, int* ierr) {
  sf_group* group;
  Plan* made = NULL;
  const sf_status found = find_group(from->comm, &group);
  sf_status status = found;
  if (status == SF_OK && *plan != NULL) status = wrong("a plan that is made again (it holds one), call sf_free first");
  if (status == SF_OK) status = add(&made, from, result);
  if (status == SF_OK)
    status = bind_to(group, made);
  else if (found == SF_OK)
    status = tell(group, status);
  if (status == SF_OK)
    *plan = made;
  else
    free_plan(made);
  settle(status, from->comm, ierr);
}

/* With a communicator a plan of one reduction is made; without, the reduction is added to a bundle. */
static void plan_for(Plan** plan, const Arguments* from, Argument result, int* ierr) {
  if (from->comm != NULL)
    make_plan(plan, from, result, ierr);
  else
    settle(add(plan, from, result), NULL, ierr);
}

void sf_fortran_plan_sum(Plan** plan, Argument array, Argument result, Argument comm, Argument keep, Argument weight,
                         Argument where, Argument options, int* ierr) {
  const Arguments from = {.operation = weight == NULL ? SF_SUM : SF_DOT,
                          .array = array,
                          .factors = weight,
                          .keep = keep,
                          .where = where,
                          .options = options,
                          .comm = comm};
  plan_for(plan, &from, result, ierr);
}

void sf_fortran_plan_dot(Plan** plan, Argument x, Argument y, Argument result, Argument comm, Argument where,
                         Argument options, int* ierr) {
  const Arguments from = {
      .operation = SF_DOTC, .array = x, .factors = y, .where = where, .options = options, .comm = comm};
  plan_for(plan, &from, result, ierr);
}

void sf_fortran_plan_norm2(Plan** plan, Argument array, Argument result, Argument comm, Argument where,
                           Argument options, int* ierr) {
  const Arguments from = {.operation = SF_NORM2, .array = array, .where = where, .options = options, .comm = comm};
  plan_for(plan, &from, result, ierr);
}

void sf_fortran_bind(Plan** plan, Argument comm, int* ierr) {
  sf_group* group;
  sf_status status = find_group(comm, &group);
  if (status == SF_OK) {
    if (*plan == NULL || (*plan)->plan != NULL)
      status = tell(group, wrong("a bundle that cannot be bound (it is empty, or bound), add reductions to an "
                                 "empty plan by sf_plan_sum, say, without a communicator"));
    else
      status = bind_to(group, *plan);
  }
  settle(status, comm, ierr);
}

/* Errors of runs have no communicator at hand: without `ierr` they end this process, and MPI the others. */
static sf_status require_plan(const Plan* own) {
  return own == NULL || own->plan == NULL
             ? wrong(
                   "no plan (it was not made, or not bound, or was freed), call sf_plan_sum "
                   "with a communicator, or sf_bind")
             : SF_OK;
}

static void deliver(Plan* own) {
  size_t i;
  own->is_started = 0;
  for (i = 0; i < own->count; ++i)
    if (own->members[i]->room != NULL) scatter(own->members[i]->room, (Argument)&own->members[i]->result);
}

void sf_fortran_run(Plan** plan, int* ierr) {
  Plan* const own = *plan;
  sf_status status = require_plan(own);
  if (status == SF_OK)
    status = own->count == 1 ? sf_plan_run(own->plan, own->data->first, own->data->second, own->data->result)
                             : sf_bundle_run(own->plan, own->data, own->count);
  if (status == SF_OK) deliver(own);
  settle(status, NULL, ierr);
}

void sf_fortran_start(Plan** plan, int* ierr) {
  Plan* const own = *plan;
  sf_status status = require_plan(own);
  if (status == SF_OK)
    status = own->count == 1 ? sf_plan_start(own->plan, own->data->first, own->data->second, own->data->result)
                             : sf_bundle_start(own->plan, own->data, own->count);
  if (status == SF_OK) own->is_started = 1;
  settle(status, NULL, ierr);
}

/* At most `seconds`; for ever if they are not given. */
void sf_fortran_wait(Plan** plan, const double* seconds, int* done, int* ierr) {
  int ended = 0;
  const double most = seconds == NULL ? -1 : *seconds;
  sf_status status = require_plan(*plan);
  if (status == SF_OK)
    status = sf_plan_wait_for((*plan)->plan, most < 0 || most > 1e9 ? SF_FOREVER : (uint64_t)(most * 1e9), &ended);
  if (status == SF_OK && ended && (*plan)->is_started) deliver(*plan);
  if (done != NULL) *done = ended;
  settle(status, NULL, ierr);
}

void sf_fortran_free_plan(Plan** plan) {
  free_plan(*plan);
  *plan = NULL;
}
