// All differences between the MPI libraries for which the command is built, so that only this file is compiled per
// library.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace steadfold::command {

using Environment = std::vector<std::pair<std::string, std::string>>;

struct MpiLibrary {
  std::string name;                         // "Open MPI", "MPICH", or another library's own name
  std::string version;                      // as the library reports it
  std::string launcher;                     // its path when the command was built; may no longer exist
  std::vector<std::string> launcher_names;  // best first
  std::string handing_on;                   // option to pass a variable on to other nodes; empty if it does so always
  /// Environment in which its launcher accepts more ranks than cores, and root.
  Environment launcher_environment;
  std::vector<std::string> binding;           // the launcher's options that put each rank on a separate core
  std::vector<std::string> binding_settings;  // environment variables with which users choose a binding
  /// An algorithm of MPI_Allreduce, and the environment that selects it.
  struct Algorithm {
    std::string name;
    Environment environment;
  };
  std::vector<Algorithm> allreduce_algorithms;  // empty if unknown
};

const MpiLibrary& mpi_library();

}  // namespace steadfold::command
