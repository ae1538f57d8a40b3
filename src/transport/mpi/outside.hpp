// Messages over MPI between workers (threads) of several processes. The tag says which worker sends and which receives.
// Rank order: messages between two workers arrive in the order of `put`. Cost: see endpoint.hpp.
#pragma once

#include <mpi.h>

#include <memory>

#include "transport/outside.hpp"

namespace steadfold::transport {

/// Connects the processes of `comm`, over private duplicates of `comm`. Collective. Throws std::runtime_error, with the
/// reason, if `comm` cannot be used.
std::shared_ptr<Outside> make_mpi_outside(MPI_Comm comm);

}  // namespace steadfold::transport
