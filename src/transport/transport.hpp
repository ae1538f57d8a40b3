// The interface that moves bytes. The interface is one-sided in style. MPI messages, windows, shared cache lines and a
// simulator implement it.
// Rank order: messages between two ranks of one endpoint arrive in the order of `put`. Cost: see each transport.
// Source: Lapillonne & Peltekov 2013 (flags beside data), End et al. (one-sided messages with notification), MPI.
//
// For a plan, each rank prepares an Endpoint once, locally. Then all ranks connect their endpoints, or all learn that a
// rank could not prepare its endpoint. The endpoint owns the landing slots, so a window or a mailbox can hold them.
// `release` tells a peer that it may write a slot (a credit; in MPI, a posted receive). `put` writes into the peer's
// slot once the peer has released it (in MPI, a started send). `put` and `release` return at once. `poll` tells which
// tickets have completed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "order/index.hpp"

namespace steadfold::transport {

using order::Bytes;
using order::Rank;

class Arenas;
class Board;

using Ticket = std::uint32_t;      // number of an open communication; the caller chooses it below the ticket count
using SlotNumber = std::uint32_t;  // number of a landing slot of an endpoint

/// The outcome of a communication. A failed communication is complete too: its message was lost or did not fit its
/// slot.
struct Completion {
  Ticket ticket = 0;
  bool failed = false;
  Bytes size = 0;  // bytes of a message that has landed, both parts together
  // Address of the first part of the message: in its slot, or in memory that stays valid until the slot's next release.
  std::byte* data = nullptr;
};

/// The number of messages that this rank has started on an endpoint since it was prepared, and their payload in bytes.
struct Traffic {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};

/// The memory to which a message in two parts is written: its first `head` bytes go to its slot, the rest to `room`.
/// Sender and receiver agree on which messages have two parts.
struct SecondRoom {
  Bytes head = 0;
  std::span<std::byte> room;
};

/// One rank's end of a plan. One thread at a time may use an endpoint, after it is connected. No function throws or
/// allocates.
class Endpoint {
 public:
  virtual ~Endpoint() = default;

  /// Returns the memory of a landing slot; valid as long as the endpoint.
  virtual std::span<std::byte> landing(SlotNumber slot) noexcept = 0;

  /// Starts to move `bytes` to landing slot `slot` of `target`. The bytes must not change until the ticket completes.
  /// `second` holds further bytes of the message; they need not be adjacent to the first bytes.
  virtual void put(Ticket ticket, Rank target, SlotNumber slot, std::span<const std::byte> bytes,
                   std::optional<std::span<const std::byte>> second = {}) noexcept = 0;
  /// Lets the next message of `source` land in `slot`. A message in two parts lands in the first `second.head` bytes of
  /// `slot` and in `second.room`. This room may be the caller's memory; the transport may write to it until the ticket
  /// completes.
  virtual void release(Ticket ticket, Rank source, SlotNumber slot,
                       const std::optional<SecondRoom>& second = {}) noexcept = 0;
  /// Starts to add the `words` of all ranks, in place, modulo 2^64. Every rank of the endpoint must call this function.
  virtual void add_words(Ticket ticket, std::span<std::int64_t> words) noexcept = 0;

  /// Makes progress, and reports communications that have completed since the last call. Each is reported once, in any
  /// order, at most `completions.size()` per call. Returns their number.
  virtual std::size_t poll(std::span<Completion> completions) noexcept = 0;

  /// Whether ranks must ask before they leave a run, because a rank moves messages of other ranks.
  virtual bool asks_to_leave() const noexcept { return false; }
  /// If asks_to_leave() is true: returns whether this rank may leave a run whose communications are complete. Call this
  /// function until it returns true, and then not again in this run. A rank that moves messages of other ranks stays
  /// until they have finished the run.
  virtual bool may_leave() noexcept { return true; }
  /// Whether every poll of this endpoint also moves messages of other ranks.
  virtual bool moves_others() const noexcept { return false; }

  virtual Traffic traffic() const noexcept = 0;
};

/// The state of a connection. Its final state is the same on every rank.
enum class Connection : std::uint8_t { pending, connected, failed };

/// The operations with which an endpoint's `add_words` must be in the same order on all ranks: `of_endpoints`: with
/// `add_words` of all endpoints. `in_turn`: with connections and gathers. `apart`: with no operation of other
/// endpoints, because the words use the channel that open_apart() opened last.
enum class WordOrder : std::uint8_t { of_endpoints, in_turn, apart };

/// A group of ranks that can connect endpoints. Every rank makes the same calls in the same order.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual Rank rank() const noexcept = 0;
  virtual Rank rank_count() const noexcept = 0;
  virtual const char* name() const noexcept { return "simulated"; }
  /// Returns the name and version of the library that carries messages between processes; empty if all ranks share
  /// memory.
  virtual std::string library() const { return {}; }
  /// Returns one label per rank: ranks with equal labels share a node. The labels are the same on every rank. Empty if
  /// all ranks share a node, or if the nodes are unknown.
  virtual std::span<const Rank> node_labels() const noexcept { return {}; }
  /// Whether all ranks are known to share a node. The result is the same on every rank.
  virtual bool are_on_one_node() const noexcept { return false; }
  /// Whether a message to another node costs many times as much as a message within a node. If so, the ranks of every
  /// node are contiguous.
  virtual bool nodes_are_far() const noexcept { return false; }

  /// Returns the first of `count` contiguous tags under which no rank has an endpoint. The result is the same on every
  /// rank. Returns nothing while ranks exchange their tags; then call the function again with the same count.
  /// Collective; never blocks. Throws std::runtime_error on every rank if the tags run out.
  virtual std::optional<std::uint32_t> new_tags(std::uint32_t count) {
    return std::exchange(next_tag_, next_tag_ + count);
  }

  /// Prepares an endpoint with landing slots of these capacities, for at most `tickets` open communications. `tag`
  /// distinguishes the endpoints of a group and is equal on all ranks. Local. Throws std::runtime_error on this rank
  /// alone when memory or tags run out.
  virtual std::unique_ptr<Endpoint> prepare(std::uint32_t tag, std::span<const Bytes> capacities, Ticket tickets,
                                            WordOrder order) = 0;
  /// Starts to open a channel for endpoints that are prepared with WordOrder::apart. The endpoints of one plan add
  /// words over this channel. Collective; never blocks. Throws std::runtime_error on a transport error.
  virtual void open_apart() {}
  /// Whether the channel of open_apart() is open. Call this function until it returns true. Throws std::runtime_error
  /// on a transport error.
  virtual bool opened_apart() { return true; }

  /// Whether the endpoints of this transport can add words.
  virtual bool adds_words() const noexcept { return true; }

  /// Whether all ranks see some common memory, and whether they see all of each other's memory.
  virtual bool has_boards() const noexcept { return false; }
  virtual bool sees_all_memory() const noexcept { return false; }
  /// If has_boards() is true: prepares a board for posts of at most `longest` bytes. connect() connects the board
  /// together with the endpoints, if all ranks have memory for it. Local. Throws std::runtime_error when memory runs
  /// out.
  virtual std::shared_ptr<Board> prepare_board(std::uint32_t /*tag*/, Bytes /*longest*/) { return nullptr; }

  /// Returns this rank's view of all ranks' arenas. All plans share this object, which may outlive them. Throws
  /// std::bad_alloc. Local.
  std::shared_ptr<Arenas> arenas();

  /// Starts to connect everything that was prepared since the last connection. `is_prepared` says that this rank has
  /// prepared all of its parts. If one rank has not, the connection fails on all ranks. Collective; never blocks.
  /// Throws std::runtime_error on a transport error.
  virtual void connect(bool is_prepared) = 0;
  /// Returns the state of the connection. Call this function until the state is not `pending`.
  virtual Connection connected() = 0;

  /// The bytes of all ranks, concatenated in rank order.
  struct Gathered {
    std::vector<std::byte> bytes;
    std::vector<Bytes> first;  // by rank: where the rank's bytes begin; then the end of all bytes
    std::span<const std::byte> of(Rank rank) const {
      const auto i = static_cast<std::size_t>(rank);
      return std::span(bytes).subspan(first[i], first[i + 1] - first[i]);
    }
  };
  /// Starts to gather every rank's bytes, which must not change until gathered() returns them. Only one gather may be
  /// under way; new_tags() may gather too. Collective; never blocks. Gathering allocates, so use it only for set-up. If
  /// a rank has no memory for its bytes, it may give none. Throws std::runtime_error on a transport error.
  virtual void gather(std::span<const std::byte> bytes) = 0;
  /// Returns the gathered bytes, or nothing if they are not complete; then call the function again. Throws
  /// std::runtime_error on a transport error.
  virtual std::optional<Gathered> gathered() = 0;
  /// Gathers every rank's bytes, and waits for the result.
  Gathered gather_all(std::span<const std::byte> bytes) {
    gather(bytes);
    for (;;)
      if (auto all = gathered()) return std::move(*all);
  }

  /// Throws std::runtime_error, with the reason, if no further message can be sent.
  virtual void require_usable() const {}
  /// Throws std::runtime_error, with the reason, if a progress thread and the caller's threads may not use the
  /// transport in turn.
  virtual void require_threads() const {}

 private:
  std::uint32_t next_tag_ = 0;
  std::shared_ptr<Arenas> arenas_;  // null until the first call of arenas()
};

}  // namespace steadfold::transport
