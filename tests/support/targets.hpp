// Runs a test once for every instruction set of the machine, and shows its name.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "kernels/target.hpp"

namespace steadfold::kernels {

/// For GoogleTest, which looks for PrintTo in the type's namespace.
inline void PrintTo(Target target, std::ostream* out) { *out << name_of(target); }

}  // namespace steadfold::kernels

namespace steadfold::test {

/// A test that runs once per available target: TEST_P(NAME, ...) with GetParam(), and STEADFOLD_EVERY_TARGET(NAME).
class EveryTarget : public testing::TestWithParam<kernels::Target> {};

#define STEADFOLD_EVERY_TARGET(name)                                                                                   \
  INSTANTIATE_TEST_SUITE_P(Targets, name, testing::ValuesIn(kernels::available().begin(), kernels::available().end()), \
                           [](const auto& instance) { return std::string(kernels::name_of(instance.param)); })

}  // namespace steadfold::test
