// What C++20 says of the same numbers, for tests in Fortran.
#include <cfenv>
#include <complex>
#include <cstddef>
#include <cstring>
#include <span>

#include "steadfold/steadfold.hpp"

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

namespace {
std::span<const double> numbers(const double* x, std::int64_t n) { return {x, static_cast<std::size_t>(n)}; }
}  // namespace

extern "C" {

/// Rounds to nearest (0), upwards, downwards or to zero (3) from now on, and flushes subnormals or not: what programs
/// do that are linked with -ffast-math. Returns whether arithmetic follows; that of valgrind does not.
int set_environment(int rounding, int flushes) {
  constexpr int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  std::fesetround(modes[rounding]);
#if defined(__SSE2__)
  _mm_setcsr((_mm_getcsr() & ~0x8040u) | (flushes != 0 ? 0x8040u : 0));
#elif defined(__aarch64__)
  std::uint64_t control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  asm volatile("msr fpcr, %0" : : "r"((control & ~(1ull << 24)) | (flushes != 0 ? 1ull << 24 : 0)));
#endif
  volatile double one = 1;
  volatile double little = 0x1p-60;
  volatile double subnormal = 0x1p-1070;
  volatile double up = one + little;
  volatile double down = one - little;
  const bool is_rounded = (up > 1) == (rounding == 1) && (down < 1) == (rounding >= 2);
  volatile double flushed = subnormal * one;
  return is_rounded && (flushed == 0) == (flushes != 0) ? 1 : 0;
}

double reference_sum(const double* x, std::int64_t n) { return sf::sum(numbers(x, n), {.method = sf::exact()}); }
double reference_tree(const double* x, std::int64_t n) { return sf::sum(numbers(x, n), {.method = sf::tree()}); }
double reference_dot(const double* x, const double* y, std::int64_t n) { return sf::dot(numbers(x, n), numbers(y, n)); }
double reference_norm2(const double* x, std::int64_t n) { return sf::norm2(numbers(x, n)); }
double reference_mean(const double* x, std::int64_t n) { return sf::mean(numbers(x, n)); }
double reference_norm1(const double* x, std::int64_t n) { return sf::norm1(numbers(x, n)); }
double reference_norminf(const double* x, std::int64_t n) { return sf::norminf(numbers(x, n)); }
double reference_sum_squares(const double* x, std::int64_t n) { return sf::sum_squares(numbers(x, n)); }
double reference_product(const double* x, std::int64_t n) { return sf::reduce(numbers(x, n), sf::times); }
double reference_weighted_mean(const double* x, const double* weights, std::int64_t n) {
  return sf::weighted_mean(numbers(x, n), numbers(weights, n));
}
double reference_covariance(const double* x, const double* y, std::int64_t n, int ddof) {
  return ddof == 0 ? sf::covariance(numbers(x, n), numbers(y, n)) : sf::sample_covariance(numbers(x, n), numbers(y, n));
}
double reference_correlation(const double* x, const double* y, std::int64_t n) {
  return sf::correlation(numbers(x, n), numbers(y, n));
}
void reference_statistics(const double* x, std::int64_t n, sf_statistics* result) {
  const sf::Statistics found = sf::statistics(numbers(x, n));
  static_assert(sizeof found == sizeof *result);
  std::memcpy(result, &found, sizeof found);
}
void reference_dotu(const std::complex<double>* x, const std::complex<double>* y, std::int64_t n,
                    std::complex<double>* result) {
  const auto count = static_cast<std::size_t>(n);
  *result = sf::dot(std::span(x, count), std::span(y, count));
}
}
