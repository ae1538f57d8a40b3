#include "reproblas.hpp"

#include <dlfcn.h>

#include "program/job.hpp"

namespace steadfold::bench {
namespace {

command::Failure unusable(const std::string& file, const std::string& why) {
  return command::Failure("--reproblas cannot be used (" + file + why +
                          "), build this library from libreproblas.a of ReproBLAS 2.1");
}

/// Returns the library's function of this name. Throws Failure if there is none.
template <class Function>
void find(void* library, const std::string& file, const std::string& name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name.c_str()));
  if (function == nullptr) throw unusable(file, " has no " + name);
}

}  // namespace

ReproBlas::ReproBlas(const std::string& prefix) {
  const std::string file = prefix + "/lib/libreproblas.so";
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);  // the library stays loaded until the program ends
  if (library == nullptr)
    throw command::Failure("--reproblas cannot be used (" + std::string(dlerror()) +
                           "), name a folder whose lib/libreproblas.so holds ReproBLAS");
  int (*size_of)(int) = nullptr;
  find(library, file, "binned_dbnum", size_of);
  find(library, file, "binned_dbsetzero", set_zero_);
  find(library, file, "binnedBLAS_dbdsum", add_all_);
  find(library, file, "binned_dbdbadd", merge_);
  find(library, file, "binned_ddbconv", value_of_);
  partial_size_ = size_of(fold);
  if (partial_size_ < 1) throw unusable(file, " has partial sums of " + std::to_string(partial_size_) + " doubles");
}

}  // namespace steadfold::bench
