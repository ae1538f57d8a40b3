// All differences between the MPI libraries that the command is built for, so that only this is compiled for each.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace steadfold::command {

using Environment = std::vector<std::pair<std::string, std::string>>;

struct MpiLibrary {
  std::string name;                         // "Open MPI", "MPICH", or another library's own name
  std::string version;                      // as the library gives it
  std::string launcher;                     // its path when the command was built; may be gone
  std::vector<std::string> launcher_names;  // best first
  std::string handing_on;  // its option that hands a variable on to ranks of other nodes; empty: it does so unasked
  /// Environment in which its launcher accepts more ranks than cores, and root.
  Environment launcher_environment;
  std::vector<std::string> binding;           // the launcher's options that put each rank on a core of its own
  std::vector<std::string> binding_settings;  // environment by which users choose a binding themselves
  /// An algorithm of MPI_Allreduce, and the environment in which ranks take it.
  struct Algorithm {
    std::string name;
    Environment environment;
  };
  std::vector<Algorithm> allreduce_algorithms;  // empty: not known
};

const MpiLibrary& mpi_library();

}  // namespace steadfold::command
