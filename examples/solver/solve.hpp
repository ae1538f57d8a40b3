// Conjugate gradients, in two forms.
#pragma once

#include <cstdint>
#include <string>

#include "products.hpp"
#include "stencil.hpp"

namespace solver {

/// cg: Hestenes and Stiefel 1952, two reductions per iteration, each waited for. pipelined: Ghysels and Vanroose 2014,
/// one reduction per iteration, under way during the matrix-vector product, for three vectors more.
enum class Algorithm { cg, pipelined };

struct Goal {
  double tolerance = 1e-8;  // of the residual's norm, relative to that of the right-hand side
  std::uint64_t most_iterations = 10'000;
};

struct Solution {
  std::uint64_t iterations = 0;
  bool converged = false;
  double residual = 0;    // |f - A u| / |f|, of the u that was found
  std::string residuals;  // a digest of (r, r) of all iterations, as the recurrence has r
  double seconds = 0;     // on this rank, without the matrix and the last residual
};

/// Solves A u = f from u = 0. `threads` go through a rank's vectors. Collective.
Solution solve(Algorithm algorithm, const Stencil& matrix, const Field& f, const Goal& goal, const Dots& dots);

}  // namespace solver
