// Files as a whole: what a subcommand was told to write, and what it reads besides the numbers.
#pragma once

#include <string>
#include <vector>

#include "command.hpp"

namespace steadfold::command {

/// Throws Failure, before any work, if a file cannot be written at `path`, which the option names, or if it is one of
/// the inputs, by whatever name. A pipe that has a name in a folder is refused, too: who opens it waits for a reader.
void require_writable(const std::string& option, const std::string& path, const std::vector<std::string>& inputs);

/// Writes the file that the option names. It is complete or as it was before, unless it is a pipe or a device. Throws
/// Failure.
void write_whole(const std::string& option, const std::string& path, const std::string& text);

/// The document for standard output, if `path` is empty; else it is written to that file, the option --output's, and
/// nothing is printed. Throws Failure, also if the file is one of the inputs.
Result delivered(const std::string& document, const std::string& path, const std::vector<std::string>& inputs);

/// Throws Failure if there is no file or pipe at `path`; `suggestion` says what to name.
void require_readable(const std::string& path, const std::string& suggestion);

/// What a file or a pipe holds, at most 64 MiB. Throws Failure; `suggestion` says what to name.
std::string contents_of(const std::string& path, const std::string& suggestion);

}  // namespace steadfold::command
