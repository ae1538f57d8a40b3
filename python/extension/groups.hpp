// Groups of ranks: of mpi4py's communicators, and of the workers of teams.
#pragma once

#include "errors.hpp"
#include "steadfold/steadfold_team.h"

namespace steadfold::python {

/// A member of a team, or a communicator, whose group is looked up each time, since communicators may be freed.
struct Group {
  sf_group* member;  // null: of a communicator
  nb::object owner;

  [[nodiscard]] sf_group* handle() const;
};

/// The group of a communicator of mpi4py, or a Group itself; null for None. Collective the first time.
sf_group* group_of(nb::handle comm);

/// Adds classes and functions to the module.
void add_groups(nb::module_& module);

}  // namespace steadfold::python
