/* The teams of threads of steadfold.f90. Their workers are used in place of communicators. Rank order: the order of the
 * workers; the workers of a rank follow the workers of the lower ranks. Cost: that of the team in C, and a handle per
 * worker. */
#include "request.h"
#include "steadfold/steadfold_team.h"

/* The object of a type(sf_team), with the handles of its workers' groups. The handles end with the team. */
typedef struct Team {
  sf_team* team;
  int32_t size;
  Handle groups[];
} Team;

static void free_team(Team* own) {
  int32_t worker;
  if (own == NULL) return;
  for (worker = 0; worker < own->size; ++worker) end_handle(&own->groups[worker], kind_group);
  sf_team_free(own->team);
  free(own);
}

/* Takes the ownership of the team, also after a failure. */
static sf_status keep_team(sf_team* team, Handle* handle) {
  const int32_t size = sf_team_size(team);
  Team* const own = calloc(1, sizeof *own + (size_t)size * sizeof own->groups[0]);
  sf_status status = SF_OK;
  if (own == NULL) {
    sf_team_free(team);
    return refuse(SF_INTERNAL, "no memory for a team of %d workers (out of memory), free memory", (int)size);
  }
  own->team = team;
  own->size = size;
  for (int32_t worker = 0; status == SF_OK && worker < size; ++worker) {
    sf_group* group = NULL;
    status = sf_team_group(team, worker, &group);
    if (status == SF_OK && (own->groups[worker] = make_handle(kind_group, group)) == 0) status = SF_INTERNAL;
  }
  if (status == SF_OK && (*handle = make_handle(kind_team, own)) == 0) status = SF_INTERNAL;
  if (status != SF_OK) free_team(own);
  return status;
}

static sf_status find_team(Handle handle, Team** team) {
  *team = object_of(handle, kind_team);
  return *team == NULL
             ? no_object(handle, kind_team, "no team (the variable was not made, or was freed), call sf_team_create")
             : SF_OK;
}

/* Makes the call fail on the other ranks, too, so that they do not wait. */
static sf_status refuse_again(Argument comm) {
  sf_team* none = NULL;
  if (comm != NULL && is_communicator(comm)) sf_team_create_over_fortran(communicator(comm), 0, &none);
  return wrong("the team exists already (it has workers), call sf_free before you make this object again");
}

void sf_fortran_team_create(Handle* team, const int* workers, Argument comm, int* ierr) {
  sf_team* made = NULL;
  sf_status status = SF_OK;
  if (object_of(*team, kind_team) != NULL) status = refuse_again(comm);
  if (status == SF_OK && comm != NULL && !is_communicator(comm))
    status = wrong(
        "a team over an argument that is not a communicator (a communicator is an integer or type(MPI_Comm)), pass "
        "MPI_COMM_WORLD, for example");
  if (status == SF_OK)
    status = comm == NULL ? sf_team_create(*workers, &made)
                          : sf_team_create_over_fortran(communicator(comm), *workers, &made);
  if (status == SF_OK) status = keep_team(made, team);
  settle(status, comm, ierr);
}

void sf_fortran_team_member(const Handle* team, const int* worker, Handle* group, int* ierr) {
  Team* own;
  sf_group* asked; /* this call sets the error if the number of the worker is wrong */
  sf_status status = find_team(*team, &own);
  if (status == SF_OK) status = sf_team_group(own->team, *worker, &asked);
  if (status == SF_OK) *group = own->groups[*worker];
  settle(status, NULL, ierr);
}

void sf_fortran_team_bind(const Handle* team, const int* worker, int* ierr) {
  Team* own;
  const sf_status status = find_team(*team, &own);
  settle(status == SF_OK ? sf_team_bind(own->team, *worker) : status, NULL, ierr);
}

void sf_fortran_team_set_timeout(const Handle* team, const double* seconds, int* ierr) {
  Team* own;
  sf_status status = find_team(*team, &own);
  if (status == SF_OK && !(*seconds >= 0)) /* !(x >= 0) also refuses a NaN */
    status =
        refuse(SF_INVALID_ARGUMENT, "a timeout of %g seconds (a timeout is at least 0), give 0 for no limit", *seconds);
  settle(status == SF_OK ? sf_team_set_timeout(own->team, nanoseconds(seconds)) : status, NULL, ierr);
}

int sf_fortran_team_size(const Handle* team) {
  Team* own;
  return find_team(*team, &own) == SF_OK ? own->size : -1;
}

void sf_fortran_free_team(Handle* team) { free_team(end_handle(team, kind_team)); }
