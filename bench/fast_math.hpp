// The loops that people write, compiled as by people who care for speed alone: their bits may be any.
#pragma once

#include <cstddef>

namespace steadfold::bench {

double fast_sum(const double* x, std::size_t count);
float fast_sum(const float* x, std::size_t count);
double fast_dot(const double* x, const double* y, std::size_t count);
float fast_dot(const float* x, const float* y, std::size_t count);

}  // namespace steadfold::bench
