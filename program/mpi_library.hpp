// All differences between the MPI libraries for which the command is built, so that only this file is compiled per
// library.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace steadfold::command {

using Environment = std::vector<std::pair<std::string, std::string>>;

struct MpiLibrary {
  std::string name;     // "Open MPI", "MPICH", or another library's own name
  std::string version;  // version of the library, as it reports it
  // Path of the launcher when the command was built; the file may no longer exist.
  std::string launcher;
  std::vector<std::string> launcher_names;  // names of launchers, the best first
  // Option with which the launcher passes a variable on to other nodes; empty if it always does so.
  std::string handing_on;
  /// The environment in which the launcher accepts more ranks than cores, and the user root.
  Environment launcher_environment;
  std::vector<std::string> binding;           // the launcher's options that put each rank on a separate core
  std::vector<std::string> binding_settings;  // environment variables with which users choose a binding
  /// An algorithm of MPI_Allreduce, and the environment that selects it.
  struct Algorithm {
    std::string name;
    Environment environment;
  };
  std::vector<Algorithm> allreduce_algorithms;  // algorithms of MPI_Allreduce; empty if they are unknown
};

const MpiLibrary& mpi_library();

}  // namespace steadfold::command
