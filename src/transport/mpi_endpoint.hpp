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

/// A communicator that is freed with its last user.
struct OwnComm {
  OwnComm() = default;
  ~OwnComm() {
    if (comm != MPI_COMM_NULL && !finalized()) PMPI_Comm_free(&comm);
  }
  OwnComm(const OwnComm&) = delete;
  OwnComm& operator=(const OwnComm&) = delete;

  MPI_Comm comm = MPI_COMM_NULL;
};

/// Over which communicators an endpoint sends messages and adds words.
struct EndpointComms {
  MPI_Comm messages;
  MPI_Comm words;
  std::shared_ptr<const OwnComm> owns = nullptr;  // what it keeps alive, if anything
};

/// Communicators that it does not own must outlive it. `shares_cores`: with other ranks, so that it yields while it
/// waits.
std::unique_ptr<Endpoint> make_mpi_endpoint(const EndpointComms& comms, HeldTag tag, std::span<const Bytes> capacities,
                                            Ticket tickets, bool shares_cores);

}  // namespace steadfold::transport
