// What was done with the calls of this process: a table on standard error, or JSON in a file.
// Cost: nothing unless asked for; then a lock and a search in a short list per call.
#pragma once

#include <mpi.h>

#include "diagnosis.hpp"
#include "functions.h"
#include "movement.hpp"
#include "rows.hpp"

namespace steadfold::interpose {

/// A call that is over, or, if it was started, has come back. `seconds` it took the program.
void note(const Call& call, Treatment treatment, double seconds, const Difference& difference);

/// `rank` and `size` are those of MPI_COMM_WORLD. `file` is empty: the table on standard error.
void write_report(const steadfold_interpose_shim& shim, Treatment method, int rank, int size, const std::string& file);

}  // namespace steadfold::interpose
