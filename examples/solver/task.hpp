// The options of a run of the solver.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "problem.hpp"

namespace solver {

/// How scalar products are added up.
enum class Dot { plain, exact, binned, tree };
inline constexpr std::array<Dot, 4> all_dots = {Dot::plain, Dot::exact, Dot::binned, Dot::tree};
const char* name_of(Dot dot);

/// cg: Hestenes and Stiefel 1952, two reductions per iteration, each waited for. pipelined: Ghysels and Vanroose 2014,
/// one reduction per iteration, under way during the matrix-vector product, for three vectors more.
enum class Algorithm { cg, pipelined };
const char* name_of(Algorithm algorithm);

struct Goal {
  double tolerance = 1e-8;  // of the residual's norm, relative to that of the right-hand side
  std::uint64_t most_iterations = 10'000;
};

struct Task {
  Problem problem;
  Goal goal;
  Algorithm algorithm = Algorithm::cg;
  std::vector<Dot> dots = {all_dots.begin(), all_dots.end()};
  std::vector<std::uint64_t> planes;  // per rank; empty: equal shares
  unsigned threads = 1;
  unsigned repetitions = 1;
};

}  // namespace solver
