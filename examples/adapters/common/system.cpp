// The linear system as an assembled matrix: -div(k grad u) by a 7-point stencil; see library.hpp.
#include "adapters/common/library.hpp"

namespace adapters {
namespace {

std::array<std::uint64_t, 3> place_of(const solver::Problem& problem, std::uint64_t index) {
  const auto& [nx, ny, nz] = problem.points;
  return {index % nx, index / nx % ny, index / problem.plane()};
}

double conductivity(const solver::Problem& problem, const std::array<std::uint64_t, 3>& at) {
  return solver::conductivity(problem, at[0], at[1], at[2]);
}

}  // namespace

Row row_of(const solver::Problem& problem, std::uint64_t index) {
  const std::array<std::uint64_t, 3> at = place_of(problem, index), steps = {1, problem.points[0], problem.plane()};
  const double k = conductivity(problem, at);
  Row row;
  double diagonal = 0;
  const auto append = [&](std::uint64_t column, double value) {
    row.columns[static_cast<std::size_t>(row.count)] = static_cast<int>(column);
    row.values[static_cast<std::size_t>(row.count++)] = value;
  };
  const auto flow_to = [&](std::size_t axis, bool up) {
    auto beside = at;
    const bool wall = up ? at[axis] + 1 == problem.points[axis] : at[axis] == 0;
    if (!wall) beside[axis] += up ? 1 : std::uint64_t(-1);
    const double flow = 0.5 * (k + conductivity(problem, beside));
    diagonal += flow;
    if (!wall) append(up ? index + steps[axis] : index - steps[axis], -flow);
  };
  for (const std::size_t axis : {2, 1, 0}) flow_to(axis, false);
  const int middle = row.count;
  append(index, 0);
  for (const std::size_t axis : {0, 1, 2}) flow_to(axis, true);
  row.values[static_cast<std::size_t>(middle)] = diagonal;
  return row;
}

double source_of(const solver::Problem& problem, std::uint64_t index) {
  const auto [x, y, z] = place_of(problem, index);
  return solver::source(problem, x, y, z);
}

}  // namespace adapters
