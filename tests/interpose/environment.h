/* The floating-point environments that a program may be in: rounding modes, what a library linked with -ffast-math does
 * to subnormal numbers, long doubles rounded to the 53 bits of doubles, and traps. Needs _GNU_SOURCE for traps. */
#ifndef STEADFOLD_TESTS_ENVIRONMENT_H
#define STEADFOLD_TESTS_ENVIRONMENT_H

#include <fenv.h>
#include <string.h>
#if defined(__SSE2__) && defined(__GLIBC__)
#include <xmmintrin.h>
enum { environment_count = 18 };
#else
enum { environment_count = 4 }; /* nothing is flushed */
#endif

/* Puts one of them in force on the calling thread: a rounding mode, and which subnormal numbers are taken for zeros.
 * Number 0 is the usual one; 17 has traps, and rounds upward. */
static void set_environment(int which) {
  static const int rounding[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  fesetround(rounding[which % 4]);
#if defined(__SSE2__) && defined(__GLIBC__)
  static const unsigned flushed[] = {0, 0x8000, 0x0040, 0x8040}; /* none, results, operands, both */
  unsigned short x87;
  _mm_setcsr((_mm_getcsr() & ~0x8040u) | flushed[which / 4 % 4]);
  __asm__ volatile("fnstcw %0" : "=m"(x87));
  x87 = (unsigned short)((x87 & ~0x300) | (which == 16 ? 0x200 : 0x300));
  __asm__ volatile("fldcw %0" : : "m"(x87));
  feclearexcept(FE_ALL_EXCEPT); /* a raised one would trap */
  fedisableexcept(FE_ALL_EXCEPT);
  if (which == 17) feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
#endif
}

/* The number of the one in force, by what additions and products come to. */
static int environment_in_force(void) {
  const volatile double one = 1, tiny = 0x1p-60, least = 0x1p-1074, large = 0x1p100, normal = 0x1p-1022, half = 0.5;
  const double above = one + tiny, below = -one - tiny, from_above = one - tiny;
  const double zeros[] = {0, normal * half, least * large};
  const int rounding = above > one ? 1 : below < -one ? 2 : from_above < one ? 3 : 0;
#if defined(__SSE2__) && defined(__GLIBC__)
  const volatile long double wide = 1;
  if (rounding == 0 && wide + tiny == wide) return 16;
  if (fegetexcept() != 0) return 17;
#endif
  return rounding + (memcmp(zeros, zeros + 1, 8) == 0 ? 4 : 0) + (memcmp(zeros, zeros + 2, 8) == 0 ? 8 : 0);
}

#endif
