// The wrappers of Fortran's functions. Open MPI's Fortran functions do not call its C functions, so all Fortran
// functions are wrapped. MPICH's Fortran functions call its C functions, except functions of the module mpi_f08 that
// take no buffer. Arguments are addresses of handles and numbers. Named buffers such as MPI_IN_PLACE have other
// addresses than in C. MPI_STATUS_IGNORE also has another address; it is passed on unchanged.
#pragma once

#include "wrappers.hpp"

namespace steadfold::interpose {

void set_fortran(Wrappers& all);

}  // namespace steadfold::interpose
