// The loop that people write, compiled as by people who care for speed alone: its bits may be any.
#pragma once

#include <cstddef>

namespace steadfold::bench {

double fast_sum(const double* x, std::size_t count);
float fast_sum(const float* x, std::size_t count);

}  // namespace steadfold::bench
