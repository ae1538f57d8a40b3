// What one `mpirun` job does: simulate, compute the per-site log-likelihoods, add them up in three ways, search a tree.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <nlohmann/json.hpp>

namespace likelihood {

struct Size {
  std::uint64_t sites = 504'850;        // of the alignment
  std::uint64_t search_sites = 20'000;  // of these, the ones that the search looks at
};

/// Collective. Every rank gets the record that --json prints; its times are the slowest rank's.
nlohmann::ordered_json run_job(const Size& size, MPI_Comm comm);

}  // namespace likelihood
