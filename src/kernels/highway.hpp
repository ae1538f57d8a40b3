// Selects the instruction sets of Highway that are built, and gives them the library's names. Without Highway, only the
// scalar reference is built.
//
// A file with kernels reads:
//
//   #include "kernels/highway.hpp"
//   #if STEADFOLD_HIGHWAY
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "kernels/FILE.cpp"
//   #include <hwy/foreach_target.h>   // includes the file once more for every instruction set but one
//   #include <hwy/highway.h>
//   HWY_BEFORE_NAMESPACE();
//   namespace steadfold::kernels::HWY_NAMESPACE { ... }
//   HWY_AFTER_NAMESPACE();
//   #endif
//   #if !STEADFOLD_HIGHWAY || HWY_ONCE
//   ... the reference, and pick<Function>(target, STEADFOLD_EACH(function))
//   #endif
//
// Highway's own run-time dispatch is not used, because it would make Highway's library a dependency. A switch over our
// targets does the same.
#pragma once

#include "kernels/target.hpp"

#if __has_include(<hwy/highway.h>) && (defined(__x86_64__) || defined(__aarch64__))
#define STEADFOLD_HIGHWAY 1
// Targets that are not built, because they have no advantage over another target for these kernels.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#include <hwy/base.h>
#include <hwy/detect_targets.h>
#else
#define STEADFOLD_HIGHWAY 0
#endif

// Lists pointers to the function of this name in the namespace of each target; null if a target is not built. `pick`
// chooses one of them. The name may have template arguments.
#define STEADFOLD_EACH(...)                                                                \
  STEADFOLD_SSE4(__VA_ARGS__), STEADFOLD_AVX2(__VA_ARGS__), STEADFOLD_AVX512(__VA_ARGS__), \
      STEADFOLD_NEON(__VA_ARGS__), STEADFOLD_SVE(__VA_ARGS__)

#if STEADFOLD_HIGHWAY && (HWY_TARGETS & HWY_AVX3)
#define STEADFOLD_AVX512(...) &N_AVX3::__VA_ARGS__
#else
#define STEADFOLD_AVX512(...) nullptr
#endif
#if STEADFOLD_HIGHWAY && (HWY_TARGETS & HWY_AVX2)
#define STEADFOLD_AVX2(...) &N_AVX2::__VA_ARGS__
#else
#define STEADFOLD_AVX2(...) nullptr
#endif
#if STEADFOLD_HIGHWAY && (HWY_TARGETS & HWY_SSE4)
#define STEADFOLD_SSE4(...) &N_SSE4::__VA_ARGS__
#else
#define STEADFOLD_SSE4(...) nullptr
#endif
#if STEADFOLD_HIGHWAY && (HWY_TARGETS & HWY_NEON)
#define STEADFOLD_NEON(...) &N_NEON::__VA_ARGS__
#else
#define STEADFOLD_NEON(...) nullptr
#endif
#if STEADFOLD_HIGHWAY && (HWY_TARGETS & HWY_SVE)
#define STEADFOLD_SVE(...) &N_SVE::__VA_ARGS__
#else
#define STEADFOLD_SVE(...) nullptr
#endif

namespace steadfold::kernels {

constexpr bool is_built(Target target) noexcept {
  switch (target) {
    case Target::scalar: return true;
#if STEADFOLD_HIGHWAY
    case Target::sse4: return (HWY_TARGETS & HWY_SSE4) != 0;
    case Target::avx2: return (HWY_TARGETS & HWY_AVX2) != 0;
    case Target::avx512: return (HWY_TARGETS & HWY_AVX3) != 0;
    case Target::neon: return (HWY_TARGETS & HWY_NEON) != 0;
    case Target::sve: return (HWY_TARGETS & HWY_SVE) != 0;
#endif
    default: return false;
  }
}

/// Returns the target's function: pick<Function>(target, STEADFOLD_EACH(name)). The result is null if the target
/// lacks the function.
template <class Function>
constexpr Function pick(Target target, Function sse4, Function avx2, Function avx512, Function neon,
                        Function sve) noexcept {
  switch (target) {
    case Target::scalar: return nullptr;
    case Target::sse4: return sse4;
    case Target::avx2: return avx2;
    case Target::avx512: return avx512;
    case Target::neon: return neon;
    case Target::sve: return sve;
  }
  return nullptr;
}

}  // namespace steadfold::kernels
