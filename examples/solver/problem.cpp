// Formulas of the problem; see problem.hpp.
#include "problem.hpp"

namespace solver {
namespace {

constexpr std::uint64_t block = 5;  // points along an edge

/// A charge at the given parts of the box's edges: 1 / (1 + d^2)^3 at distance d.
double charge(const Problem& problem, std::array<std::uint64_t, 3> at, std::array<double, 3> parts) {
  double squared = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double distance = static_cast<double>(at[axis] + 1) - parts[axis] * static_cast<double>(problem.points[axis]);
    squared += distance * distance;
  }
  return 1 / (squared * squared * squared);
}

}  // namespace

double conductivity(const Problem& problem, std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  return (x / block + y / block + z / block) % 2 == 0 ? 1 : problem.contrast;
}

double source(const Problem& problem, std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  return charge(problem, {x, y, z}, {0.3, 0.4, 0.2}) - 0.7 * charge(problem, {x, y, z}, {0.6, 0.5, 0.9});
}

}  // namespace solver
