// What C++20 says of the same numbers, for tests in Fortran.
#include <complex>
#include <cstddef>
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
}
