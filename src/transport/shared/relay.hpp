// Ends of workers whose messages worker 0 of their process moves, where no other thread may call what carries them, as
// under MPI_THREAD_FUNNELED.
// Rank order: the other end's. Cost: a lock when something is sent or received and one when it is done; worker 0 locks
// in polls while others have something under way. [S2] leaves messages to one thread, too.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "transport/transport.hpp"

namespace steadfold::transport {

class RelayedEndpoint;

/// What the ends of one process share.
class Relay {
 public:
  /// Moves the messages of all other workers. For worker 0.
  void drive() noexcept;

 private:
  friend class RelayedEndpoint;
  std::mutex mutex_;  // guards what follows; taken before that of an end
  std::size_t ends_ = 0;
  std::vector<RelayedEndpoint*> busy_;  // ends with something under way
  std::atomic<bool> is_idle_ = true;    // there are none
};

/// Worker 0's end: whenever it is polled, it drives the others'.
std::unique_ptr<Endpoint> make_driving_endpoint(std::shared_ptr<Relay> relay, std::unique_ptr<Endpoint> inner);

/// Any other worker's end; worker 0 alone sends and receives over `inner`, which has so many tickets.
std::unique_ptr<Endpoint> make_relayed_endpoint(std::shared_ptr<Relay> relay, std::unique_ptr<Endpoint> inner,
                                                Ticket tickets, bool shares_cores);

}  // namespace steadfold::transport
