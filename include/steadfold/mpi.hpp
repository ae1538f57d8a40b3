// Steadfold for C++20 over MPI: the functions of group.hpp for MPI's communicators.
//
//   double s = sf::sum(x, MPI_COMM_WORLD);              // correctly rounded, whoever holds which elements
//   sf::allreduce(buffer, sf::plus, MPI_COMM_WORLD);    // MPI's shape
//
// Header-only over the C functions of steadfold_mpi.h; link the library built for your MPI.
#pragma once

#include "steadfold/group.hpp"

#if __cplusplus >= 202002L

#include <mpi.h>

#include <concepts>

#include "steadfold/steadfold_mpi.h"

namespace steadfold::detail {

/// MPI communicators, and types that convert to one.
template <std::convertible_to<MPI_Comm> C>
struct Over<C> : OverGroup {
  static Group group(MPI_Comm comm) {
    sf_group* group = nullptr;
    check(sf_group_of(comm, &group));
    return Group(group);
  }
  static sf_team* team(MPI_Comm comm, int workers) {
    sf_team* team = nullptr;
    check(sf_team_create_over(comm, workers, &team));
    return team;
  }
};

}  // namespace steadfold::detail

#endif
