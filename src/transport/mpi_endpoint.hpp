// One rank's end of a plan over MPI messages.
// Rank order: messages between two ranks of one endpoint arrive in the order put, as MPI promises per tag.
// Cost: one Isend and one Irecv per message, one Testsome per poll; a few nanoseconds of our own. Source: ours.
#pragma once

#include <mpi.h>

#include <memory>
#include <span>

#include "transport/tags.hpp"
#include "transport/transport.hpp"

namespace steadfold::transport {

inline bool finalized() noexcept {
  int flag = 0;
  PMPI_Finalized(&flag);
  return flag != 0;
}

/// Over which communicators an endpoint sends messages and adds words.
struct EndpointComms {
  MPI_Comm messages;
  MPI_Comm words;
};

/// The communicators must outlive it. `shares_cores`: with other ranks, so that it yields while it waits.
std::unique_ptr<Endpoint> make_mpi_endpoint(const EndpointComms& comms, HeldTag tag, std::span<const Bytes> capacities,
                                            Ticket tickets, bool shares_cores);

}  // namespace steadfold::transport
