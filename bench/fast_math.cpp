// Compiles the loops of fast_math.hpp. This is the only file compiled with -ffast-math. The file includes no header
// that defines a function, so no function compiled with this flag can be linked into other files.
#include "fast_math.hpp"

#include "widest.hpp"

namespace steadfold::bench {

STEADFOLD_WIDEST double fast_sum(const double* x, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += x[i];
  return sum;
}

STEADFOLD_WIDEST float fast_sum(const float* x, std::size_t count) {
  float sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += x[i];
  return sum;
}

STEADFOLD_WIDEST double fast_dot(const double* x, const double* y, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += x[i] * y[i];
  return sum;
}

STEADFOLD_WIDEST float fast_dot(const float* x, const float* y, std::size_t count) {
  float sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += x[i] * y[i];
  return sum;
}

}  // namespace steadfold::bench
