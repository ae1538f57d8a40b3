// The loop that people write, compiled as people do who care for speed alone: its bits are anybody's guess.
#pragma once

#include <cstddef>

namespace steadfold::bench {

double fast_sum(const double* x, std::size_t count);
float fast_sum(const float* x, std::size_t count);

}  // namespace steadfold::bench
