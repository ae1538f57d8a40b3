#include "support/directory.hpp"

std::string steadfold::tests::directory() { return STEADFOLD_TESTS_DIR; }
