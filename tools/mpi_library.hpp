// What differs between the MPI libraries that the command is built for, so that nothing else is compiled for each.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace steadfold::command {

struct MpiLibrary {
  std::string name;                         // "Open MPI", "MPICH", or words for any other
  std::string version;                      // in its own words
  std::string launcher;                     // its path where the command was built; may be gone
  std::vector<std::string> launcher_names;  // best first
  /// Environment in which its launcher takes more ranks than cores, and root.
  std::vector<std::pair<std::string, std::string>> launcher_environment;
  std::vector<std::string> binding;           // the launcher's words that put each rank on a core of its own
  std::vector<std::string> binding_settings;  // environment by which users say so themselves
};

const MpiLibrary& mpi_library();

}  // namespace steadfold::command
