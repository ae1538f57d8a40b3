// Describes the installation, for `info` and `doctor`.
#pragma once

#include "command.hpp"

namespace steadfold::command {

/// Describes the installation: versions, the MPI library, instruction sets, the rounding environment, the machine.
Json installation();

/// Writes the description as text: one line per value, also for the values of nested objects.
std::string table_of(const Json& json);

}  // namespace steadfold::command
