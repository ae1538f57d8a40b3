// One rank's end of a plan over MPI messages.
// Rank order: messages between two ranks of one endpoint arrive in the order put, as MPI promises per tag.
// Cost: one Isend and one Irecv per message, one Testsome per poll; a few nanoseconds of our own.
#pragma once

#include <mpi.h>

#include <limits>
#include <memory>
#include <span>

#include "transport/outside.hpp"
#include "transport/tags.hpp"
#include "transport/transport.hpp"

namespace steadfold::transport {

inline constexpr Bytes int_max = std::numeric_limits<int>::max();  // what one call of MPI counts

/// Whether this process was made by fork after the library had used MPI. MPI belongs to the parent process then.
bool is_forked_child() noexcept;

/// Whether this process may call MPI no more.
inline bool finalized() noexcept {
  if (is_forked_child()) return true;
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
  std::shared_ptr<const void> owns = nullptr;  // what it keeps alive, if anything
};

/// Whom an endpoint's ranks are: those of the communicator, or workers of its processes.
struct Addresses {
  struct Address {
    int process;
    int tag;
  };
  std::shared_ptr<const Workers> workers = nullptr;
  Rank own = 0;  // this end's rank among the workers

  /// For messages to a rank under an endpoint's tag.
  Address of_target(Rank rank, int tag) const noexcept {
    if (workers == nullptr) return {rank, tag};
    const Workers::WorkerAddress to = workers->place(rank);
    return {to.process, tag_of(tag, workers->place(own).worker, to.worker)};
  }
  Address of_source(Rank rank, int tag) const noexcept {
    if (workers == nullptr) return {rank, tag};
    const Workers::WorkerAddress from = workers->place(rank);
    return {from.process, tag_of(tag, from.worker, workers->place(own).worker)};
  }

 private:
  int tag_of(int tag, Rank from, Rank to) const noexcept {
    return (tag * workers->most() + from) * workers->most() + to;
  }
};

/// Communicators that it does not own must outlive it. `shares_cores`: with other ranks, so that it yields while it
/// waits.
std::unique_ptr<Endpoint> make_mpi_endpoint(const EndpointComms& comms, const Addresses& addresses, HeldTag tag,
                                            std::span<const Bytes> capacities, Ticket tickets, bool shares_cores);

}  // namespace steadfold::transport
