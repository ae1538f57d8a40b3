// Starts programs with libsteadfold_interpose, the interposer, preloaded.
#pragma once

#include <string>

namespace steadfold::command {

/// Sets the environment so that programs started from now on get the interposer, which uses `method` for sums. Throws
/// Failure if there is no interposer.
void preload_interposer(const std::string& method);
/// Whether this process has the interposer.
bool is_interposed();

}  // namespace steadfold::command
