// Reads and writes whole files: the output of subcommands, and input files that are not read as numbers.
#pragma once

#include <string>
#include <vector>

#include "command.hpp"

namespace steadfold::command {

/// Checks an output file before any work. Throws Failure if a file cannot be written at `path`, which the option names,
/// or if the file is one of the inputs, under any name. A named pipe is refused, too, because opening it waits for a
/// reader.
void require_writable(const std::string& option, const std::string& path, const std::vector<std::string>& inputs);

/// Writes the file that the option names. After a failure the file is unchanged, unless it is a pipe or a device.
/// Throws Failure.
void write_whole(const std::string& option, const std::string& path, const std::string& text);

/// Returns the document for standard output if `path` is empty. Otherwise writes it to that file, the value of
/// --output, and returns an empty result. Throws Failure, also if the file is one of the inputs.
Result delivered(const std::string& document, const std::string& path, const std::vector<std::string>& inputs);

/// Throws Failure if there is no file or pipe at `path`. `suggestion` ends the message.
void require_readable(const std::string& path, const std::string& suggestion);

/// Returns the bytes of a file or a pipe, at most 64 MiB. Throws Failure; `suggestion` ends the message.
std::string contents_of(const std::string& path, const std::string& suggestion);

}  // namespace steadfold::command
