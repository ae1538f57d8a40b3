// A simulated network with all ranks in one process: the caller drives each rank's endpoint in turn, and messages land
// when an endpoint polls.
// Rank order: messages are matched as in MPI, in the order of `put` per (source, target, tag). As in MPI, matched
// messages may land in any order. Cost: O(1) per message, and memory only for open messages, so 2^17 ranks can be
// simulated. Uses neither MPI nor threads.
#pragma once

#include <cstdint>
#include <memory>

#include "transport/transport.hpp"

namespace steadfold::transport {

enum class Delivery : std::uint8_t {
  prompt,    // a ticket completes in the first possible poll
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

/// The network and every rank's transport. The network behaves as badly as the contract of Transport allows, so that
/// tests find wrong assumptions. A put reads its bytes as late as its ticket allows. A shuffled release fills its slot
/// with 0xA5. A message to another slot than the released one fails at the receiver, as does a message that does not
/// fit. Every second shuffled message stays in memory of the network, which is destroyed when the slot is released
/// again. A communication fails if it starts before its endpoint is connected. Connections and gathers end after a
/// random number of calls.
class SimulatedNetwork {
 public:
  /// A ticket that can complete does so within this many polls. If no ticket completed while every rank polled this
  /// often, the job is in a deadlock.
  static constexpr int max_polls = 8;

  explicit SimulatedNetwork(Rank rank_count, SimulatedOptions options = {});
  ~SimulatedNetwork();
  SimulatedNetwork(const SimulatedNetwork&) = delete;
  SimulatedNetwork& operator=(const SimulatedNetwork&) = delete;

  /// Returns the transport of one rank. The network must outlive the transport and its endpoints. `gather_all` waits
  /// forever unless other threads or fibers drive the other ranks.
  Transport& rank(Rank rank) noexcept;

  /// Connects the prepared endpoints of all ranks at once, if one caller drives all ranks.
  void connect();
  /// Makes the preparation of one endpoint of this rank fail, after `after` further endpoints have been prepared.
  void refuse(Rank rank, std::uint32_t after = 0);

  /// Returns the number and the bytes of all messages that have been put, on all endpoints of all ranks.
  Traffic traffic() const noexcept;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace steadfold::transport
