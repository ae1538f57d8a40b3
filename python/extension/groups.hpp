// Groups of ranks: the groups of mpi4py's communicators, and of the workers of teams.
#pragma once

#include "errors.hpp"
#include "steadfold/steadfold_team.h"

namespace steadfold::python {

/// A member of a team, or a communicator. The group of a communicator is looked up each time, since the communicator
/// may be freed.
struct Group {
  sf_group* member;  // handle of the group of a member; null for a communicator
  nb::object owner;

  [[nodiscard]] sf_group* handle() const;
};

/// Returns the group of a communicator of mpi4py, or of a Group; null for None. The first call for a communicator is
/// collective.
sf_group* group_of(nb::handle comm);

/// Adds classes and functions to the module.
void add_groups(nb::module_& module);

}  // namespace steadfold::python
