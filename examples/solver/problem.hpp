// The problem: -div(k grad u) = f inside a box, u = 0 on its walls. Points stand one unit apart, x fastest, z slowest.
// All numbers come from +, -, * and /, so they are the same on every machine.
#pragma once

#include <array>
#include <cstdint>

namespace solver {

struct Problem {
  std::array<std::uint64_t, 3> points = {32, 32, 32};  // in x, y and z, without the walls
  double contrast = 10'000;                            // of the greatest k to the least; 1: Poisson's equation

  std::uint64_t plane() const { return points[0] * points[1]; }
  std::uint64_t count() const { return plane() * points[2]; }
};

/// k at a point: blocks of two materials, as on a chessboard.
double conductivity(const Problem& problem, std::uint64_t x, std::uint64_t y, std::uint64_t z);

/// f at a point: the field of two charges, which falls off by twenty orders of magnitude and more.
double source(const Problem& problem, std::uint64_t x, std::uint64_t y, std::uint64_t z);

}  // namespace solver
