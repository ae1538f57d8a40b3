// Numbers whose sums depend on the order, and the bits of results.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace steadfold::test {

/// Numbers whose sum depends on the order of the additions.
inline std::vector<double> hostile(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> x(count);
  for (double& each : x)
    each = std::ldexp(static_cast<double>(random() % 2001) - 1000.5, static_cast<int>(random() % 61) - 30);
  return x;
}

inline std::uint64_t bits(double x) {
  std::uint64_t word = 0;
  std::memcpy(&word, &x, sizeof word);
  return word;
}
inline std::vector<std::uint64_t> bits(const std::vector<double>& x) {
  std::vector<std::uint64_t> words;
  for (const double each : x) words.push_back(bits(each));
  return words;
}

}  // namespace steadfold::test
