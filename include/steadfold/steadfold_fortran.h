/* Functions of the libraries over MPI for the Fortran module, steadfold.f90. Communicators are Fortran's integer
 * handles. The C++ headers use sf_group_start_refuse. Programs in C need none of these functions. */
#ifndef STEADFOLD_STEADFOLD_FORTRAN_H
#define STEADFOLD_STEADFOLD_FORTRAN_H

#include "steadfold/steadfold_team.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Does what sf_group_of does, for a Fortran communicator. */
sf_status sf_group_of_fortran(int32_t comm, sf_group** group);

/* Does what sf_team_create_over does, for a Fortran communicator. */
sf_status sf_team_create_over_fortran(int32_t comm, int32_t workers, sf_team** team);

/* Does what sf_group_refuse does, for a started call: a rank calls it in place of sf_group_start_reduce or
 * sf_group_start_bind. The function that ends the request returns the status and the text. The text is copied. */
sf_status sf_group_start_refuse(sf_group* group, sf_status status, const char* text, sf_request** request);

/* Calls the communicator's error handler with MPI_ERR_OTHER. The default handler ends the program. */
void sf_fail_fortran(int32_t comm);

#ifdef __cplusplus
}
#endif

#endif
