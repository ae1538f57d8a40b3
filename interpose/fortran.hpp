// The wrappers of Fortran's functions. Open MPI's do not call C's, so all are wrapped; MPICH's do, but for those of the
// module mpi_f08 that take no buffer. Arguments are addresses of handles and numbers; the names of buffers that MPI
// has, as MPI_IN_PLACE, are other addresses than C's, and so are those of statuses, which are handed on as they are.
#pragma once

#include "wrappers.hpp"

namespace steadfold::interpose {

void set_fortran(Wrappers& all);

}  // namespace steadfold::interpose
