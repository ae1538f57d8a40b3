// One rank's end of a plan over MPI messages.
// Rank order: messages between two ranks of one endpoint arrive in the order of `put`, as MPI guarantees per tag.
// Cost: one Isend and one Irecv per message, one Testsome per poll, and a few nanoseconds of overhead.
#pragma once

#include <mpi.h>

#include <limits>
#include <memory>
#include <span>

#include "transport/outside.hpp"
#include "transport/tags.hpp"
#include "transport/transport.hpp"

namespace steadfold::transport {

inline constexpr Bytes int_max = std::numeric_limits<int>::max();  // the largest count that an MPI call can take

/// Whether fork made this process after the library had used MPI. In this case only the parent process may use MPI.
bool is_forked_child() noexcept;

/// Whether this process may no longer call MPI.
inline bool finalized() noexcept {
  if (is_forked_child()) return true;
  int flag = 0;
  PMPI_Finalized(&flag);
  return flag != 0;
}

/// A communicator that is freed when its last owner is destroyed.
struct OwnComm {
  OwnComm() = default;
  ~OwnComm() {
    if (comm != MPI_COMM_NULL && !finalized()) PMPI_Comm_free(&comm);
  }
  OwnComm(const OwnComm&) = delete;
  OwnComm& operator=(const OwnComm&) = delete;

  MPI_Comm comm = MPI_COMM_NULL;
};

/// The communicators over which an endpoint sends messages and adds words.
struct EndpointComms {
  MPI_Comm messages;
  MPI_Comm words;
  std::shared_ptr<const void> owns = nullptr;  // an object that the endpoint keeps alive, or null
};

/// The MPI ranks and tags of an endpoint's ranks. The ranks are ranks of the communicator, or workers of its processes.
struct Addresses {
  struct Address {
    int process;
    int tag;
  };
  std::shared_ptr<const Workers> workers = nullptr;
  Rank own = 0;  // this endpoint's rank among the workers

  /// Returns the MPI rank and tag of messages to `rank`. `tag` is the endpoint's tag.
  Address of_target(Rank rank, int tag) const noexcept {
    if (workers == nullptr) return {rank, tag};
    const Workers::WorkerAddress to = workers->address(rank);
    return {to.process, tag_of(tag, workers->address(own).worker, to.worker)};
  }
  Address of_source(Rank rank, int tag) const noexcept {
    if (workers == nullptr) return {rank, tag};
    const Workers::WorkerAddress from = workers->address(rank);
    return {from.process, tag_of(tag, from.worker, workers->address(own).worker)};
  }

 private:
  int tag_of(int tag, Rank from, Rank to) const noexcept {
    return (tag * workers->most() + from) * workers->most() + to;
  }
};

/// Communicators outside `comms.owns` must outlive the endpoint. `shares_cores` says that ranks share cores, so the
/// endpoint yields while it waits.
std::unique_ptr<Endpoint> make_mpi_endpoint(const EndpointComms& comms, const Addresses& addresses, HeldTag tag,
                                            std::span<const Bytes> capacities, Ticket tickets, bool shares_cores);

}  // namespace steadfold::transport
