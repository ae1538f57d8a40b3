// Conjugate gradients, in two forms.
#pragma once

#include <cstdint>
#include <string>

#include "products.hpp"
#include "stencil.hpp"
#include "task.hpp"

namespace solver {

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
