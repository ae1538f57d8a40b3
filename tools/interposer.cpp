#include "interposer.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "command.hpp"
#include "program/launcher.hpp"

namespace steadfold::command {
namespace {

namespace fs = std::filesystem;

/// Returns the path of the library to preload.
fs::path interposer() {
  std::string places;
  for (const fs::path& folder : library_folders()) {
    places += (places.empty() ? "" : ", ") + folder.string();
    const fs::path library = folder / "libsteadfold_interpose.so";
    if (!fs::exists(library)) continue;
    const fs::path found = fs::canonical(library);
    if (found.string().find_first_of(" :") != std::string::npos)
      throw Failure("'" + found.string() +
                    "' cannot be preloaded (LD_PRELOAD separates names at spaces and colons), install Steadfold in a "
                    "directory without them");
    return found;
  }
  throw Failure("no libsteadfold_interpose.so (it is not in " + places + "), install all files of a release");
}

}  // namespace

void preload_interposer(const std::string& method) {
  const char* const others = std::getenv("LD_PRELOAD");
  const std::string all = interposer().string() + (others == nullptr ? "" : std::string(":") + others);
  setenv("LD_PRELOAD", all.c_str(), 1);
  setenv("STEADFOLD_INTERPOSE_METHOD", method.c_str(), 1);
}

bool is_interposed() {
  Dl_info found{};
  void* const function = dlsym(RTLD_DEFAULT, "MPI_Allreduce");
  return function != nullptr && dladdr(function, &found) != 0 &&
         fs::path(found.dli_fname).filename() == "libsteadfold_interpose.so";
}

}  // namespace steadfold::command
