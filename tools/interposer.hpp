// Starts programs with the interposer (libsteadfold_interpose) preloaded.
#pragma once

#include <string>

namespace steadfold::command {

/// Sets the environment so that programs started from now on get the interposer, which uses `method` for sums. Throws
/// Failure if there is no interposer.
void preload_interposer(const std::string& method);
/// Whether the interposer is loaded in this process.
bool is_interposed();

}  // namespace steadfold::command
