// Kernels of fold.hpp for floats and doubles.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fold.cpp"
#include "kernels/fold_kernels.hpp"

#if !STEADFOLD_HIGHWAY || HWY_ONCE
namespace steadfold::kernels {

STEADFOLD_FOLDS(double)
STEADFOLD_FOLDS(float)
template Canonicalise canonicalise<double>(Target) noexcept;
template Canonicalise canonicalise<float>(Target) noexcept;

}  // namespace steadfold::kernels
#endif
