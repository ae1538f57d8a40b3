// What libsteadfold gives the libraries that bring it ranks, such as libsteadfold_openmpi: how to make a group of a
// transport, and a team of several processes. Private: both must be of one version, since C++ objects pass between
// them.
#pragma once

#include <memory>

#include "steadfold/steadfold_team.h"
#include "transport/outside.hpp"
#include "transport/shared/common_memory.hpp"
#include "transport/transport.hpp"

namespace steadfold::capi {

struct LayerTable {
  /// Collective. `node`: the ranks that share memory with this one; null: no ranks of the group do. The error text says
  /// what went wrong, as for functions of the C interface: no exception leaves.
  sf_status (*make_group)(std::unique_ptr<transport::Transport> transport, const transport::Neighbourhood* node,
                          sf_group** group);
  /// Collective over the processes. The text is that of the same process everywhere.
  sf_status (*make_team)(std::shared_ptr<transport::Outside> outside, std::int32_t workers, sf_team** team);
  /// Local. Plans may outlive their group.
  void (*free_group)(sf_group* group) noexcept;
};

/// See LayerTable.
sf_status make_team(std::shared_ptr<transport::Outside> outside, std::int32_t workers, sf_team** team);

}  // namespace steadfold::capi

/// The LayerTable for a layer of this version of Steadfold; null if libsteadfold is of another.
extern "C" const void* sf_layer_table(const char* version);
