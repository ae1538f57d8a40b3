// libsteadfold_interpose, where this command finds it and what it is told.
#pragma once

#include <string>

namespace steadfold::command {

/// Programs that are started from now on get the interposer, with sums by `method`. Throws Failure where there is none.
void preload_interposer(const std::string& method);
/// Whether this process has it.
bool is_interposed();

}  // namespace steadfold::command
