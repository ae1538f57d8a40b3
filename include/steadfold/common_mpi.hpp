// What the APIs for C++20 and C++17 share of MPI: the groups of its communicators. Included by mpi.hpp and
// cxx17_mpi.hpp, which are the headers to include.
#pragma once

#include "steadfold/common_group.hpp"

#if __cplusplus >= 201703L

#include <mpi.h>

#include "steadfold/steadfold_mpi.h"

namespace steadfold::detail {

/// MPI communicators, and types that convert to one.
template <class C>
struct GroupOf<C, std::enable_if_t<std::is_convertible_v<C, MPI_Comm> > > : HasGroup {
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
