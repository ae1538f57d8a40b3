// Where a document goes: to standard output, or to a file.
#pragma once

#include <string>

#include "command.hpp"

namespace steadfold::command {

/// The document for standard output, if `path` is empty; else it is written to that file, and nothing is printed. The
/// file is complete or as it was before. Throws Failure.
Result delivered(const std::string& document, const std::string& path);

}  // namespace steadfold::command
