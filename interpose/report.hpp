// What was done with the calls of this process, for STEADFOLD_INTERPOSE_REPORT=1.
// Cost: nothing unless asked for; then a lock and a search in a short list per call.
#pragma once

#include <mpi.h>

#include "functions.h"
#include "rows.hpp"

namespace steadfold::interpose {

void note(steadfold_interpose_index function, MPI_Op op, MPI_Datatype type, std::size_t bytes, Treatment treatment);

/// The table on standard error. `rank` and `size` are those of MPI_COMM_WORLD.
void print_report(const steadfold_interpose_shim& shim, Treatment method, int rank, int size);

}  // namespace steadfold::interpose
