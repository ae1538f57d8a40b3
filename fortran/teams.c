/* Teams of threads that steadfold.f90 declares: their workers stand where communicators do.
 * Rank order: that of the workers, those of a rank after those of the ranks below. Cost: that of the team in C. Source:
 * ours. */
#include "request.h"
#include "steadfold/steadfold_team.h"

void sf_fortran_team_create(sf_team** team, const int* workers, Argument comm, int* ierr) {
  sf_status status = SF_OK;
  if (*team != NULL) status = wrong("a team that is made again (it has workers), call sf_free first");
  if (status == SF_OK && comm != NULL && !is_communicator(comm))
    status =
        wrong("a team over what is no communicator (it is an integer, or type(MPI_Comm)), pass MPI_COMM_WORLD, say");
  if (status == SF_OK)
    status =
        comm == NULL ? sf_team_create(*workers, team) : sf_team_create_over_fortran(communicator(comm), *workers, team);
  settle(status, comm, ierr);
}

void sf_fortran_team_member(sf_team* const* team, const int* worker, sf_group** group, int* ierr) {
  settle(sf_team_group(*team, *worker, group), NULL, ierr);
}

void sf_fortran_team_bind(sf_team* const* team, const int* worker, int* ierr) {
  settle(sf_team_bind(*team, *worker), NULL, ierr);
}

void sf_fortran_team_set_timeout(sf_team* const* team, const double* seconds, int* ierr) {
  const int is_known = *seconds >= 0; /* a NaN is not */
  settle(is_known
             ? sf_team_set_timeout(*team, nanoseconds(seconds))
             : refuse(SF_INVALID_ARGUMENT, "a timeout of %g seconds (it is at least 0), give 0 for none", *seconds),
         NULL, ierr);
}

int sf_fortran_team_size(sf_team* const* team) { return sf_team_size(*team); }

void sf_fortran_free_team(sf_team** team) {
  sf_team_free(*team);
  *team = NULL;
}
