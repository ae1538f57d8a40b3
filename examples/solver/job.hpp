// One `mpirun` job: solves the problem with every requested kind of scalar products.
#pragma once

#include "common/launch.hpp"
#include "common/run.hpp"
#include "task.hpp"

namespace solver {

/// Collective. Every rank gets the record that --json prints; its times are medians of the slowest rank's. Throws
/// std::invalid_argument, on all ranks, if planes cannot be dealt as asked for.
example::Record run_job(const Task& task, const example::Ranks& ranks);

}  // namespace solver
