// Floating-point environments in which a caller may be: rounding modes, flushing of subnormal numbers (as a library
// linked with -ffast-math sets it), and traps. Compiles as C++17, too.
#pragma once

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include <array>
#include <cfenv>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace steadfold::test {

struct Environment {
  const char* name;
  int rounding;
  unsigned flushing;  // bits of x86's MXCSR
  int traps = 0;      // the floating-point exceptions that trap
};

#if defined(__SSE2__)
inline constexpr std::array<Environment, 9> environments = {
    {{"the usual one", FE_TONEAREST, 0},
     {"upward", FE_UPWARD, 0},
     {"downward", FE_DOWNWARD, 0},
     {"toward zero", FE_TOWARDZERO, 0},
     {"flush to zero", FE_TONEAREST, 0x8000},
     {"denormals are zero", FE_TONEAREST, 0x0040},
     {"fast-math", FE_TONEAREST, 0x8040},
     {"fast-math, upward", FE_UPWARD, 0x8040},
     {"traps", FE_TONEAREST, 0, FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW}}};
#else
inline constexpr std::array<Environment, 4> environments = {{{"the usual one", FE_TONEAREST, 0},
                                                             {"upward", FE_UPWARD, 0},
                                                             {"downward", FE_DOWNWARD, 0},
                                                             {"toward zero", FE_TOWARDZERO, 0}}};
#endif

/// Sets an environment on this thread while the object lives.
class InEnvironment {
 public:
  explicit InEnvironment(const Environment& wanted = environments.front()) {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
    std::fesetround(wanted.rounding);
#if defined(__SSE2__)
    _mm_setcsr(_mm_getcsr() | wanted.flushing);
#endif
#if defined(__GLIBC__)
    feenableexcept(wanted.traps);
#endif
  }
  ~InEnvironment() { std::fesetenv(&before_); }
  InEnvironment(const InEnvironment&) = delete;
  InEnvironment& operator=(const InEnvironment&) = delete;

 private:
  std::fenv_t before_ = {};
};

/// The results of some arithmetic in the current environment, as bits, and its traps. They are different in each of
/// `environments`.
inline std::array<std::uint64_t, 6> arithmetic_in_force() {
  const volatile double one = 1, three = 3, five = 5, least = 0x1p-1074, large = 0x1p100, normal = 0x1p-1022,
                        half = 0.5;
  const volatile double results[] = {one / three, one / five, -one / three, least * large, normal * half};
  std::array<std::uint64_t, 6> bits{};
  for (std::size_t i = 0; i < 5; ++i) {
    const double result = results[i];
    std::memcpy(&bits[i], &result, sizeof result);
  }
#if defined(__GLIBC__)
  bits[5] = static_cast<std::uint64_t>(fegetexcept());
#endif
  return bits;
}

}  // namespace steadfold::test
