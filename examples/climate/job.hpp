// What one `mpirun` job does: so many steps of the ocean, from its beginning or from what another job saved.
#pragma once

#include <string>

#include "common/launch.hpp"
#include "grid.hpp"

namespace climate {

struct Task {
  Grid grid;
  std::uint64_t steps = 40;
  bool plain = false;      // sums by loops and MPI_Allreduce
  std::string load, save;  // directories; empty: neither
};

/// Collective. Every rank gets the record that --json prints. Throws std::invalid_argument or sf::Error, on all ranks.
example::Record run_job(const Task& task, const example::Ranks& ranks);

}  // namespace climate
