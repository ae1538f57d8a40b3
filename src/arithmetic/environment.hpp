// The floating-point environment in which bits are promised, put in force for as long as an object lives.
// Rank order: not concerned. Cost: reading the control words, some 5 ns where nothing has to change.
// Source: IEEE 754-2019; DESIGN, the fine print.
#pragma once

#if defined(__SSE2__) && defined(__GNUC__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace steadfold::arithmetic {

/// Rounds to nearest even, keeps subnormals, masks traps; the caller's environment comes back with the flags that were
/// raised. Of the thread that makes it; user operators run in it too.
#if defined(__SSE2__) && defined(__GNUC__)
class PromisedEnvironment {
 public:
  PromisedEnvironment() noexcept : vector_(_mm_getcsr()), x87_(x87_control()) {
    if ((vector_ & ~flags) != vector_default) _mm_setcsr(vector_default | (vector_ & flags));
    if (x87_ != x87_default) set_x87_control(x87_default);
  }
  /// A user operator may have changed it inside.
  ~PromisedEnvironment() {
    const unsigned now = _mm_getcsr();
    if ((now & ~flags) != (vector_ & ~flags)) _mm_setcsr((vector_ & ~flags) | (now & flags));
    if (x87_control() != x87_) set_x87_control(x87_);
  }
  PromisedEnvironment(const PromisedEnvironment&) = delete;
  PromisedEnvironment& operator=(const PromisedEnvironment&) = delete;

 private:
  static constexpr unsigned flags = 0x3F;
  static constexpr unsigned vector_default = 0x1F80;     // nearest, traps masked, subnormals kept
  static constexpr unsigned short x87_default = 0x037F;  // nearest, traps masked, 64 bits of significand

  static unsigned short x87_control() noexcept {
    unsigned short word = 0;
    asm volatile("fnstcw %0" : "=m"(word));
    return word;
  }
  static void set_x87_control(unsigned short word) noexcept { asm volatile("fldcw %0" : : "m"(word)); }

  unsigned vector_;
  unsigned short x87_;
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
