// Usual loops, compiled with -ffast-math. Their bits may change with the compiler.
#pragma once

#include <cstddef>

namespace steadfold::bench {

double fast_sum(const double* x, std::size_t count);
float fast_sum(const float* x, std::size_t count);
double fast_dot(const double* x, const double* y, std::size_t count);
float fast_dot(const float* x, const float* y, std::size_t count);

}  // namespace steadfold::bench
