// All ranks in one process: the caller drives each rank's end in turn, and messages land when it polls.
// Rank order: matched as in MPI, in the order put per (source, target, tag); which of several matched messages lands
// first is free, as in MPI. Cost: O(1) per message, memory for what is under way only: fit for 2^17 ranks.
// Free of MPI and of threads.
#pragma once

#include <cstdint>
#include <memory>

#include "transport/transport.hpp"

namespace steadfold::transport {

enum class Delivery : std::uint8_t {
  prompt,    // a ticket completes in the first poll in which it can
  shuffled,  // after a random number of further polls, below SimulatedNetwork::max_polls
};

enum class Sends : std::uint8_t {
  buffered,     // a put completes whether or not its message was released
  synchronous,  // a put completes only once the target has released the slot
};

struct SimulatedOptions {
  std::uint64_t seed = 1;
  Delivery delivery = Delivery::shuffled;
  Sends sends = Sends::buffered;
};

/// The network and every rank's transport, as hostile as the contract allows: a put's bytes are read as late as its
/// ticket allows, a shuffled release fills its slot with 0xA5, and a message put to another slot than the one released
/// for it fails at the receiver, like one that does not fit. Every other shuffled message stands in memory of the
/// network's own, which is gone when its slot is released again. What is started before its endpoint is connected
/// fails; connections and gathers take a random number of questions.
class SimulatedNetwork {
 public:
  /// A ticket that can complete does so within this many polls: if no ticket completed while every rank polled this
  /// often, the job is stuck.
  static constexpr int max_polls = 8;

  explicit SimulatedNetwork(Rank rank_count, SimulatedOptions options = {});
  ~SimulatedNetwork();
  SimulatedNetwork(const SimulatedNetwork&) = delete;
  SimulatedNetwork& operator=(const SimulatedNetwork&) = delete;

  /// The transport of one rank; valid as long as the network, which must outlive its endpoints. `gather_all` waits for
  /// ever unless other threads or fibers drive the other ranks.
  Transport& rank(Rank rank) noexcept;

  /// Connects what was prepared, for all ranks at once: for who drives them from one place.
  void connect();
  /// The next but `after` of this rank's endpoints cannot be prepared.
  void refuse(Rank rank, std::uint32_t after = 0);

  /// All messages put so far, on all endpoints of all ranks.
  Traffic traffic() const noexcept;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace steadfold::transport
