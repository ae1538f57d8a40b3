// The floating-point environment in which bits are promised, put in force for as long as an object lives.
// Rank order: not concerned. Cost: reading one control word, some 5 ns where nothing has to change.
// Source: IEEE 754-2019; DESIGN, the fine print.
#pragma once

#if defined(__SSE2__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace steadfold::arithmetic {

/// Rounds to nearest even, keeps subnormals, masks traps; the caller's environment comes back with the flags that were
/// raised. Of the thread that makes it; user operators run in it too.
#if defined(__SSE2__)
class PromisedEnvironment {
 public:
  PromisedEnvironment() noexcept : caller_(_mm_getcsr()) {
    if ((caller_ & ~flags) != masked_default) _mm_setcsr(masked_default | (caller_ & flags));
  }
  ~PromisedEnvironment() {
    if ((caller_ & ~flags) != masked_default) _mm_setcsr((caller_ & ~flags) | (_mm_getcsr() & flags));
  }
  PromisedEnvironment(const PromisedEnvironment&) = delete;
  PromisedEnvironment& operator=(const PromisedEnvironment&) = delete;

 private:
  static constexpr unsigned flags = 0x3F;
  static constexpr unsigned masked_default = 0x1F80;
  unsigned caller_;
};
#else
class PromisedEnvironment {
 public:
  PromisedEnvironment() noexcept {
    std::fegetenv(&caller_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~PromisedEnvironment() {
    std::fexcept_t raised;
    const int which = std::fetestexcept(FE_ALL_EXCEPT);
    std::fegetexceptflag(&raised, which);
    std::fesetenv(&caller_);
    std::fesetexceptflag(&raised, which);  // never std::feupdateenv: that traps where the caller has traps on
  }
  PromisedEnvironment(const PromisedEnvironment&) = delete;
  PromisedEnvironment& operator=(const PromisedEnvironment&) = delete;

 private:
  std::fenv_t caller_;
};
#endif

}  // namespace steadfold::arithmetic
