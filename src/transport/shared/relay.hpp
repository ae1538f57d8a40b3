// Endpoints of workers that may not call MPI, as under MPI_THREAD_FUNNELED: worker 0 of the process sends and receives
// their messages.
// Cost: one lock when a communication starts and one when it completes. Worker 0 locks in every poll while other
// workers have open communications. Source: Lapillonne & Peltekov 2013, where one thread sends all messages.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "transport/transport.hpp"

namespace steadfold::transport {

class RelayedEndpoint;

/// The state that the endpoints of one process share.
class Relay {
 public:
  /// Moves the messages of all other workers. Only worker 0 calls it.
  void drive() noexcept;

 private:
  friend class RelayedEndpoint;
  std::mutex mutex_;  // guards the following members; lock it before an endpoint's mutex
  std::size_t ends_ = 0;
  std::vector<RelayedEndpoint*> busy_;  // endpoints with open communications
  std::atomic<bool> is_idle_ = true;    // whether no endpoint has open communications
};

/// Makes worker 0's endpoint. Every poll of it also moves the messages of the other workers' endpoints.
std::unique_ptr<Endpoint> make_driving_endpoint(std::shared_ptr<Relay> relay, std::unique_ptr<Endpoint> inner);

/// Makes another worker's endpoint. Only worker 0 sends and receives over `inner`, which has `tickets` tickets.
std::unique_ptr<Endpoint> make_relayed_endpoint(std::shared_ptr<Relay> relay, std::unique_ptr<Endpoint> inner,
                                                Ticket tickets, bool shares_cores);

}  // namespace steadfold::transport
