// Recognises files that hold no numbers in our formats: compressed files, archives, text in UTF-16.
#pragma once

#include "file.hpp"

namespace steadfold::readers {

/// Throws Error, which names the kind of the file, unless its beginning fits the format of the options or of its name.
void refuse_foreign(const File& file, Format format, bool is_forced);

}  // namespace steadfold::readers
