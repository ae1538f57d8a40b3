// What C++20 says of the same numbers, for tests in Fortran.
#include <complex>
#include <cstddef>
#include <cstring>
#include <span>

#include "steadfold/steadfold.hpp"

namespace {
std::span<const double> numbers(const double* x, std::int64_t n) { return {x, static_cast<std::size_t>(n)}; }
}  // namespace

extern "C" {

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
