// The wrappers of Fortran's functions. Open MPI's Fortran functions do not call C's, so all are wrapped. MPICH's do,
// except functions of the module mpi_f08 that take no buffer. Arguments are addresses of handles and numbers. Named
// buffers such as MPI_IN_PLACE have other addresses than in C. So have ignored statuses; they are passed on unchanged.
#pragma once

#include "wrappers.hpp"

namespace steadfold::interpose {

void set_fortran(Wrappers& all);

}  // namespace steadfold::interpose
