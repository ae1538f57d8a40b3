/* What steadfold.f90 needs of the libraries over MPI. Communicators are the integers that Fortran has for them.
 * Programs in C have no need of it. */
#ifndef STEADFOLD_STEADFOLD_FORTRAN_H
#define STEADFOLD_STEADFOLD_FORTRAN_H

#include "steadfold/steadfold_team.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As sf_group_of, for a communicator of Fortran. */
sf_status sf_group_of_fortran(int32_t comm, sf_group** group);

/* As sf_team_create_over. */
sf_status sf_team_create_over_fortran(int32_t comm, int32_t workers, sf_team** team);

/* Calls the communicator's error handler (MPI_ERR_OTHER), which as a rule ends the program. */
void sf_fail_fortran(int32_t comm);

#ifdef __cplusplus
}
#endif

#endif
