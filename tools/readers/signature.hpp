// Files that hold something else than numbers in one of our formats: compressed files, archives, text in UTF-16.
#pragma once

#include "file.hpp"

namespace steadfold::readers {

/// Throws Error, which says what the file is, unless its beginning fits the format that the options or its name ask
/// for.
void refuse_foreign(const File& file, Format format, bool is_forced);

}  // namespace steadfold::readers
