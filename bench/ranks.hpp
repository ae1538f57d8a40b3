// How the ranks of MPI_COMM_WORLD measure together.
#pragma once

#include <mpi.h>

#include "bench.hpp"

namespace steadfold::bench {

inline Together all_ranks_together() {
  return {.barrier = [] { MPI_Barrier(MPI_COMM_WORLD); },
          .slowest =
              [](double seconds) {
                MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
                return seconds;
              }};
}

}  // namespace steadfold::bench
