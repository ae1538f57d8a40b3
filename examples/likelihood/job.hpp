// One `mpirun` job: simulates, computes the per-site log-likelihoods, adds them up in three ways, and searches a tree.
#pragma once

#include <cstdint>

#include "common/launch.hpp"
#include "common/run.hpp"

namespace likelihood {

struct Size {
  std::uint64_t sites = 504'850;        // of the alignment
  std::uint64_t search_sites = 20'000;  // of these, the ones that the search looks at
};

/// Collective. Every rank gets the record that --json prints; its times are the slowest rank's.
example::Record run_job(const Size& size, const example::Ranks& ranks);

}  // namespace likelihood
