// How bytes move: one interface, one-sided in style, that MPI messages, windows, shared cache lines and a simulator can
// implement.
// Rank order: messages between two ranks of one endpoint arrive in the order put. Cost: see each transport.
// Source: [S2] (flags beside data), [S4] (one-sided, notified), MPI.
//
// A plan prepares an Endpoint once, each rank for itself; then all ranks connect theirs, or learn that one could not
// prepare its own. The endpoint owns the landing slots, so that a window or a mailbox can hold them.
// `release` tells a peer that it may write a slot (a credit; in MPI a receive posted); `put` writes into the peer's
// slot as soon as it may (in MPI a send started). Both return at once; `poll` tells which tickets have completed.
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

using Ticket = std::uint32_t;      // a communication under way: chosen by the caller, below the endpoint's ticket count
using SlotNumber = std::uint32_t;  // a landing slot of an endpoint

/// What became of a communication. One that failed is complete too: the message is lost or did not fit.
struct Completion {
  Ticket ticket = 0;
  bool failed = false;
  Bytes size = 0;             // of a message that landed, both parts together
  std::byte* data = nullptr;  // where it stands, or its first part: in its slot, or leased until that is released again
};

/// Messages started by this rank on one endpoint, and their payload, since it was prepared.
struct Traffic {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};

/// Where a message in two parts lands. Sender and receiver agree on which messages have two.
struct SecondRoom {
  Bytes head = 0;
  std::span<std::byte> room;
};

/// One rank's end of a plan. One thread at a time. To be used once it is connected. Nothing here throws or allocates.
class Endpoint {
 public:
  virtual ~Endpoint() = default;

  /// The memory of a landing slot; valid as long as the endpoint.
  virtual std::span<std::byte> landing(SlotNumber slot) noexcept = 0;

  /// Starts moving `bytes` (which must stay as they are until complete) to landing slot `slot` of `target`.
  /// `second` are further bytes of the message, which need not stand behind the first.
  virtual void put(Ticket ticket, Rank target, SlotNumber slot, std::span<const std::byte> bytes,
                   std::optional<std::span<const std::byte>> second = {}) noexcept = 0;
  /// Lets the next message of `source` land in `slot`. A message in two parts lands in the first `second.head` bytes of
  /// it and in `second.room`, which may be the caller's and is written until the ticket completes.
  virtual void release(Ticket ticket, Rank source, SlotNumber slot,
                       const std::optional<SecondRoom>& second = {}) noexcept = 0;
  /// Starts adding `words` over all ranks, in place, modulo 2^64. Every rank of the endpoint takes part.
  virtual void add_words(Ticket ticket, std::span<std::int64_t> words) noexcept = 0;

  /// Makes progress, and writes which tickets have completed since the last call, in any order and each once, as many
  /// as there is room for. Returns how many.
  virtual std::size_t poll(std::span<Completion> completions) noexcept = 0;

  /// Whether ranks have to ask when they leave a run, since one of them moves messages of others.
  virtual bool asks_to_leave() const noexcept { return false; }
  /// There: whether this rank may leave a run whose communications are complete; to be asked until it may, and then no
  /// more in this run. Who moves messages of others stays until they have come to the end of theirs.
  virtual bool may_leave() noexcept { return true; }
  /// Whether it moves messages of other ranks whenever it is polled.
  virtual bool moves_others() const noexcept { return false; }

  virtual Traffic traffic() const noexcept = 0;
};

/// How a connection stands, on the way to the same end on every rank.
enum class Connection : std::uint8_t { pending, connected, failed };

/// The order that an endpoint's `add_words` keep: that of all endpoints' ones; that of what is connected and gathered;
/// or none with those of other endpoints, since they go over what was opened last.
enum class WordOrder : std::uint8_t { of_endpoints, in_turn, apart };

/// A group of ranks that can connect endpoints. Calls are made in the same order on every rank.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual Rank rank() const noexcept = 0;
  virtual Rank rank_count() const noexcept = 0;
  virtual const char* name() const noexcept { return "simulated"; }
  /// What carries messages between its processes, by name and version; empty if all ranks share memory.
  virtual std::string library() const { return {}; }
  /// By rank, which node of the machine it is on: those with equal labels share one. The same on every rank; nothing if
  /// all do, or nobody knows.
  virtual std::span<const Rank> node_labels() const noexcept { return {}; }
  /// Whether it is known that all ranks share a node. The same on every rank.
  virtual bool are_on_one_node() const noexcept { return false; }
  /// Whether a message to another node costs many times as much as one inside. There nodes are runs of ranks.
  virtual bool nodes_are_far() const noexcept { return false; }

  /// The first of `count` tags in a row under which no rank has an endpoint; the same on every rank. Nothing while
  /// ranks have to ask each other first: then to be asked again, for as many. Collective, never blocks. Throws
  /// std::runtime_error on every rank when tags run out.
  virtual std::optional<std::uint32_t> new_tags(std::uint32_t count) {
    return std::exchange(next_tag_, next_tag_ + count);
  }

  /// Prepares an endpoint with landing slots of these capacities and room for `tickets` communications. `tag` tells
  /// endpoints of one group apart and is equal on all ranks. Local: throws std::runtime_error, on this rank alone, when
  /// memory or tags run out.
  virtual std::unique_ptr<Endpoint> prepare(std::uint32_t tag, std::span<const Bytes> capacities, Ticket tickets,
                                            WordOrder order) = 0;
  /// Starts to open what the endpoints of one plan that are prepared apart add words over. Collective, never blocks.
  /// Throws std::runtime_error on a transport error.
  virtual void open_apart() {}
  /// Whether it is open; to be asked until it is. Throws std::runtime_error on a transport error.
  virtual bool opened_apart() { return true; }

  /// Whether its endpoints can add words.
  virtual bool adds_words() const noexcept { return true; }

  /// Whether the ranks see memory in common, all of them; and whether that is all of their memory.
  virtual bool has_boards() const noexcept { return false; }
  virtual bool sees_all_memory() const noexcept { return false; }
  /// There: a board for posts of at most `longest` bytes, connected with the endpoints that are prepared beside it, if
  /// all ranks have room for it. Local: throws std::runtime_error when memory runs out.
  virtual std::shared_ptr<Board> prepare_board(std::uint32_t /*tag*/, Bytes /*longest*/) { return nullptr; }

  /// What its ranks see of each other's arenas: one for all plans, which may outlive it. Local: throws std::bad_alloc.
  std::shared_ptr<Arenas> arenas();

  /// Starts to connect what was prepared since the last time. `is_prepared`: this rank has prepared all that is its
  /// own; if one rank has not, the connection fails on all. Collective, never blocks. Throws std::runtime_error on a
  /// transport error.
  virtual void connect(bool is_prepared) = 0;
  /// How that stands; to be asked until it has come to its end.
  virtual Connection connected() = 0;

  /// Every rank's bytes, concatenated in rank order.
  struct Gathered {
    std::vector<std::byte> bytes;
    std::vector<Bytes> first;  // where rank i's bytes begin, and the end
    std::span<const std::byte> of(Rank rank) const {
      const auto i = static_cast<std::size_t>(rank);
      return std::span(bytes).subspan(first[i], first[i + 1] - first[i]);
    }
  };
  /// Starts to gather every rank's bytes, which stay as they are until all are there. One at a time; new_tags may need
  /// it, too. Collective, never blocks, allocates: for set-up only. Without memory for its bytes a rank may give none.
  /// Throws std::runtime_error on a transport error.
  virtual void gather(std::span<const std::byte> bytes) = 0;
  /// What was gathered, once it is there; to be asked until then. Throws std::runtime_error on a transport error.
  virtual std::optional<Gathered> gathered() = 0;
  /// Both, and waits.
  Gathered gather_all(std::span<const std::byte> bytes) {
    gather(bytes);
    for (;;)
      if (auto all = gathered()) return std::move(*all);
  }

  /// Throws std::runtime_error, with the reason, if nothing can be sent any more.
  virtual void require_usable() const {}
  /// Throws std::runtime_error, with the reason, if threads may not take turns that the caller does not order.
  virtual void require_threads() const {}

 private:
  std::uint32_t next_tag_ = 0;
  std::shared_ptr<Arenas> arenas_;  // null until somebody has asked
};

}  // namespace steadfold::transport
