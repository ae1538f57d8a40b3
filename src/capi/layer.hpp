// The functions with which libraries that provide ranks, such as libsteadfold_openmpi, use libsteadfold: they make a
// group from a transport, and a team of several processes. These functions are private: both libraries must have the
// same version, because they exchange C++ objects.
#pragma once

#include <memory>

#include "steadfold/steadfold_team.h"
#include "transport/outside.hpp"
#include "transport/shared/common_memory.hpp"
#include "transport/transport.hpp"

namespace steadfold::capi {

struct LayerTable {
  /// Makes a group. Collective. `node` has the ranks that share memory with this rank; null: there are none in the
  /// group. Sets the error text as functions of the C interface do. Throws no exception.
  sf_status (*make_group)(std::unique_ptr<transport::Transport> transport, const transport::Neighbourhood* node,
                          sf_group** group);
  /// Makes a team of the workers of several processes. Collective over the processes. If it fails, all processes set
  /// the error text of the same process.
  sf_status (*make_team)(std::shared_ptr<transport::Outside> outside, std::int32_t workers, sf_team** team);
  /// Frees a group. Local. Plans may outlive their group.
  void (*free_group)(sf_group* group) noexcept;
};

/// Makes a team; see LayerTable.
sf_status make_team(std::shared_ptr<transport::Outside> outside, std::int32_t workers, sf_team** team);

}  // namespace steadfold::capi

/// Returns the LayerTable for a layer of this version of Steadfold, or null if libsteadfold has a different version.
extern "C" const void* sf_layer_table(const char* version);
