// The ranks of a job: who they are, and how work is dealt to them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <steadfold/mpi.hpp>

#include "common/run.hpp"

namespace example {

struct Ranks {
  MPI_Comm comm;
  std::uint64_t rank, count;

  explicit Ranks(MPI_Comm communicator);

  /// A rank's part of 0..total-1: equal shares in rank order, the last ranks take the remainder.
  sf::Interval share(std::uint64_t total, std::uint64_t of_rank) const;
  sf::Interval share(std::uint64_t total) const { return share(total, rank); }
};

}  // namespace example
