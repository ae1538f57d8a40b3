// The folder of the files that tests read.
#pragma once

#include <string>

namespace steadfold::tests {

/// The folder `tests`, without a slash at the end. It is compiled into one file, so no other file depends on the path
/// of the checkout.
std::string directory();

}  // namespace steadfold::tests
