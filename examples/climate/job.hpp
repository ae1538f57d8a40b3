// One `mpirun` job: a number of steps of the ocean, from its beginning or from the saved state of another job.
#pragma once

#include "common/launch.hpp"
#include "common/run.hpp"
#include "task.hpp"

namespace climate {

/// Collective. Every rank gets the record that --json prints. Throws std::invalid_argument or sf::Error, on all ranks.
example::Record run_job(const Task& task, const example::Ranks& ranks);

}  // namespace climate
