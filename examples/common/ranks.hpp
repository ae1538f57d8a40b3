// The ranks of a job: who they are, how work is dealt to them, and how a program runs on all of them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <steadfold/mpi.hpp>
#include <string>

namespace example {

inline constexpr int usage_error = 2;  // an exit status

struct Ranks {
  MPI_Comm comm;
  std::uint64_t rank, count;

  explicit Ranks(MPI_Comm communicator);

  /// A rank's part of 0..total-1: equal shares in rank order, the last ranks take the remainder.
  sf::Interval share(std::uint64_t total, std::uint64_t of_rank) const;
  sf::Interval share(std::uint64_t total) const { return share(total, rank); }
};

/// Runs `job` on every rank, from MPI's beginning to its end, and returns the exit status. A `complaint` about the
/// command line, the same on all ranks, takes the job's place. `job` throws sf::Error or std::invalid_argument on all
/// ranks or on none; anything else ends the job, with `advice` on what to try.
int run_on_ranks(std::string complaint, const std::string& advice, const std::function<void(const Ranks&)>& job);

}  // namespace example
