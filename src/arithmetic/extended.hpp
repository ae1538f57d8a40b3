// Operators on numbers without kernels: long double and, if the compiler has it, binary128.
// Rank order: kept. Cost: one operation per element, in software for binary128. Source: IEEE 754-2019.
#pragma once

#include <array>

#include "arithmetic/operator.hpp"

namespace steadfold::arithmetic {

/// Returns the sum, product, min and max of long_double or f128; `apply` is null if the compiler lacks the type.
std::array<Operator, 4> extended_operators(Type type) noexcept;

}  // namespace steadfold::arithmetic
