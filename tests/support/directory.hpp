// Where the files are that tests read.
#pragma once

#include <string>

namespace steadfold::tests {

/// The folder of tests, without a slash at the end. Compiled once, so that nothing else depends on where the checkout
/// is.
std::string directory();

}  // namespace steadfold::tests
