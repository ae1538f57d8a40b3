// What one `mpirun` job does: solve the problem with every kind of scalar products that was asked for.
#pragma once

#include <vector>

#include "common/launch.hpp"
#include "solve.hpp"

namespace solver {

struct Task {
  Problem problem;
  Goal goal;
  Algorithm algorithm = Algorithm::cg;
  std::vector<Dot> dots = {all_dots.begin(), all_dots.end()};
  std::vector<std::uint64_t> planes;  // per rank; empty: equal shares
  unsigned threads = 1;
  unsigned repetitions = 1;
};

const char* name_of(Algorithm algorithm);

/// Collective. Every rank gets the record that --json prints; its times are medians of the slowest rank's. Throws
/// std::invalid_argument, on all ranks, if planes cannot be dealt as asked for.
example::Record run_job(const Task& task, const example::Ranks& ranks);

}  // namespace solver
