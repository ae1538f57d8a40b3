// Steadfold for C++20 over MPI: the functions of group.hpp for MPI's communicators.
//
//   double s = sf::sum(x, MPI_COMM_WORLD);              // correctly rounded, whoever holds which elements
//   sf::allreduce(buffer, sf::plus, MPI_COMM_WORLD);    // MPI's shape
//
// Header-only over the C functions of steadfold_mpi.h; link the library built for your MPI.
#pragma once

#include "steadfold/group.hpp"

#if __cplusplus >= 202002L

#include "steadfold/common_mpi.hpp"

#endif
