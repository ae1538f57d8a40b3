/* What steadfold.f90 needs of the libraries over MPI. Communicators are the integers that Fortran has for them. The
 * headers for C++ take sf_group_start_refuse from here. Programs in C have no need of it. */
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

/* As sf_group_refuse, for a call that is started: what a rank does in place of sf_group_start_reduce or
 * sf_group_start_bind. Whoever ends the request hears the status and the text, which is copied. */
sf_status sf_group_start_refuse(sf_group* group, sf_status status, const char* text, sf_request** request);

/* Calls the communicator's error handler (MPI_ERR_OTHER), which as a rule ends the program. */
void sf_fail_fortran(int32_t comm);

#ifdef __cplusplus
}
#endif

#endif
