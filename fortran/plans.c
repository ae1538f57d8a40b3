/* Plans that steadfold.f90 declares: reductions agreed on once and run often, on the arrays that they were made with.
 * Rank order: Fortran's order of elements. Cost: that of the plan in C. Source: ours. */
#include "call.h"

/* What a type(sf_plan) points to. */
typedef struct Plan {
  sf_plan* plan;
  Translated to;
  char* room; /* for results that do not stand one after the other; else NULL */
  void* place;
  int is_started;
  CFI_CDESC_T(SF_MOST_AXES) result;
} Plan;

static void free_plan(Plan* own) {
  if (own == NULL) return;
  sf_plan_free(own->plan);
  free(own->room);
  free(own);
}

/* Keeps what says where the result is: the caller's descriptor ends with the call. */
static void keep_result(Plan* own, Argument result) {
  memcpy(&own->result, result, sizeof(CFI_cdesc_t) + (size_t)result->rank * sizeof(CFI_dim_t));
  own->place = own->room == NULL ? result->base_addr : own->room;
}

static void bind(Plan** plan, const Arguments* from, Argument result, int* ierr) {
  sf_group* group;
  Plan* own = NULL;
  const sf_status found = find_group(from->comm, &group);
  sf_status status = found;
  if (status == SF_OK && *plan != NULL) status = wrong("a plan that is made again (it holds one), call sf_free first");
  if (status == SF_OK && (own = calloc(1, sizeof *own)) == NULL)
    status = refuse(SF_INTERNAL, "no memory for a plan (out of memory), free some");
  if (status == SF_OK) status = translate(from, result, &own->to);
  if (status == SF_OK) status = require_number(result, "results", &own->to.call.result_type);
  if (status == SF_OK) status = require_shape(&own->to, result);
  if (status == SF_OK) status = find_room(&own->to, result, &own->room);
  if (status == SF_OK) {
    keep_result(own, result);
    status = sf_group_bind(&own->to.call, 1, group, &own->plan);
  } else if (found == SF_OK) {
    status = sf_group_refuse(group, status, sf_error_text());
  }
  if (status == SF_OK)
    *plan = own;
  else
    free_plan(own);
  settle(status, from->comm, ierr);
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
  bind(plan, &from, result, ierr);
}

void sf_fortran_plan_dot(Plan** plan, Argument x, Argument y, Argument result, Argument comm, Argument where,
                         Argument options, int* ierr) {
  const Arguments from = {
      .operation = SF_DOTC, .array = x, .factors = y, .where = where, .options = options, .comm = comm};
  bind(plan, &from, result, ierr);
}

void sf_fortran_plan_norm2(Plan** plan, Argument array, Argument result, Argument comm, Argument where,
                           Argument options, int* ierr) {
  const Arguments from = {.operation = SF_NORM2, .array = array, .where = where, .options = options, .comm = comm};
  bind(plan, &from, result, ierr);
}

/* Errors of runs have no communicator at hand: without `ierr` they end this process, and MPI the others. */
static sf_status require_plan(const Plan* own) {
  return own == NULL ? wrong("no plan (it has not been made, or was freed), call sf_plan_sum, say") : SF_OK;
}

static void deliver(Plan* own) {
  own->is_started = 0;
  if (own->room != NULL) scatter(own->room, (Argument)&own->result);
}

void sf_fortran_run(Plan** plan, int* ierr) {
  sf_status status = require_plan(*plan);
  if (status == SF_OK) status = sf_plan_run((*plan)->plan, (*plan)->to.first, (*plan)->to.second, (*plan)->place);
  if (status == SF_OK) deliver(*plan);
  settle(status, NULL, ierr);
}

void sf_fortran_start(Plan** plan, int* ierr) {
  sf_status status = require_plan(*plan);
  if (status == SF_OK) status = sf_plan_start((*plan)->plan, (*plan)->to.first, (*plan)->to.second, (*plan)->place);
  if (status == SF_OK) (*plan)->is_started = 1;
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
