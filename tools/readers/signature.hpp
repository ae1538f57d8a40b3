// Recognises files that have no numbers in a supported format: compressed files, archives, text in UTF-16.
#pragma once

#include "file.hpp"

namespace steadfold::readers {

/// Whether the file is compressed by gzip. The options or the file's name say `format`. Bytes that are
/// forced to be numbers are not compressed.
bool is_gzip(const File& file, Format format, bool is_forced);

/// Throws Error, which names the kind of the file, if the file's beginning does not fit the format that the options or
/// the file's name say.
void refuse_foreign(const File& file, Format format, bool is_forced);

}  // namespace steadfold::readers
