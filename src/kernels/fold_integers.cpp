// Kernels of fold.hpp for integers. This is a separate file, so that it compiles in parallel with fold.cpp.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fold_integers.cpp"
#include "kernels/fold_kernels.hpp"

#if !STEADFOLD_HIGHWAY || HWY_ONCE
namespace steadfold::kernels {

STEADFOLD_FOLDS(std::int32_t)
STEADFOLD_FOLDS(std::int64_t)
STEADFOLD_FOLDS(std::uint32_t)
STEADFOLD_FOLDS(std::uint64_t)

}  // namespace steadfold::kernels
#endif
