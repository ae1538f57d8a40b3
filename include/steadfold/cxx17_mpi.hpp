// Steadfold for C++17 over MPI: the functions of cxx17.hpp for MPI's communicators.
//
//   double s = sf17::sum(x, MPI_COMM_WORLD);                   // correctly rounded, whoever holds which elements
//   sf17::Plan<double> plan(sf17::dot, x.size(), comm);
//   sf17::Team team(comm, threads);                            // one team of the threads of all ranks
//   sf17::merge_ranks(accumulator, comm);                      // or MPI's own functions, by sf17::MpiAccumulators
//
// Header-only over the C functions of steadfold_mpi.h; link the library built for your MPI.
#pragma once

#include "steadfold/common_mpi.hpp"
#include "steadfold/cxx17.hpp"

#if __cplusplus >= 201703L

namespace steadfold::cxx17 {

using steadfold::MpiAccumulators;

}  // namespace steadfold::cxx17

#endif
