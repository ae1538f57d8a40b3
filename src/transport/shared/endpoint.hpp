// One rank's endpoint of a plan over common memory: between threads, or between ranks of a node. Messages that are too
// large for the common memory of a node, and messages to ranks that do not see this memory, go through an inner
// endpoint.
// Rank order: letters (messages through common memory) between two ranks arrive in the order of `put`, and so do
// messages of the inner endpoint; but a letter may overtake an inner message, and vice versa.
// Cost: a message in one part of at most `Letter::most` bytes moves one or two cache lines. Between threads, any other
// message is copied once, from the sender's memory to its landing slot. Between processes, messages of up to
// `largest_letter` bytes are copied twice. Source: Lapillonne & Peltekov 2013, sender-driven exchange.
//
// Whether a message is a letter follows from its target, its slot and its number of parts, which both of its ranks
// know.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "transport/landing.hpp"
#include "transport/shared/common_memory.hpp"
#include "transport/shared/mail.hpp"
#include "transport/shared/waiting.hpp"
#include "transport/transport.hpp"

namespace steadfold::transport {

/// The largest capacity, in bytes, of a slot that receives messages through common memory between processes.
inline constexpr Bytes largest_letter = 4096;

class SharedEndpoint final : public Endpoint {
 public:
  /// Prepares the endpoint. `inner` carries the messages that do not go through common memory; it is null if all
  /// messages do. The constructor adds the endpoint to `waiting`, the list of endpoints to connect, which must outlive
  /// it. Throws std::runtime_error if memory runs out. If only the node's memory runs out, all messages go through
  /// `inner`.
  SharedEndpoint(std::uint32_t tag, const Neighbourhood& among, std::unique_ptr<Endpoint> inner, Rank rank_count,
                 std::span<const Bytes> capacities, Ticket tickets, std::vector<SharedEndpoint*>& waiting);
  ~SharedEndpoint() override;
  SharedEndpoint(const SharedEndpoint&) = delete;
  SharedEndpoint& operator=(const SharedEndpoint&) = delete;

  std::uint32_t tag() const noexcept { return tag_; }
  CommonMemory::BlockId block() const noexcept { return blocks_.block(); }
  /// Connects the endpoint. `blocks` has the block of every neighbour's mailboxes. If a neighbour has none, the
  /// function is not called, and all messages go through the inner endpoint.
  void connect(std::span<const CommonMemory::BlockId> blocks) noexcept;

  std::span<std::byte> landing(SlotNumber slot) noexcept override {
    return inner_ ? inner_->landing(slot) : (*slots_)[slot];
  }
  void put(Ticket ticket, Rank target, SlotNumber slot, std::span<const std::byte> bytes,
           std::optional<std::span<const std::byte>> second) noexcept override;
  void release(Ticket ticket, Rank source, SlotNumber slot, const std::optional<SecondRoom>& second) noexcept override;
  void add_words(Ticket ticket, std::span<std::int64_t> words) noexcept override;
  std::size_t poll(std::span<Completion> completions) noexcept override;
  bool asks_to_leave() const noexcept override { return inner_ && (is_one_process() || inner_->asks_to_leave()); }
  bool may_leave() noexcept override;
  bool moves_others() const noexcept override { return moves_others_; }
  Traffic traffic() const noexcept override;

 private:
  using Sender = LaneSender<MachineMemory, Letter, Mail::depth>;
  using Receiver = LaneReceiver<MachineMemory, Letter, Mail::depth>;
  static constexpr Ticket none = ~Ticket{0};

  struct QueuedTransfer {
    SlotNumber slot = 0;
    std::span<const std::byte> bytes;
    std::optional<std::span<const std::byte>> second;
    std::optional<SecondRoom> room;
    std::uint64_t number = 0;  // number of the small message (letter) in its lane, after it is sent
    Ticket next = none;        // the next ticket in its queue
  };
  /// A queue of tickets in the order of their calls, linked through their transfers.
  struct TicketQueue {
    Ticket first = none;
    Ticket last = none;
    bool is_empty() const noexcept { return first == none; }
  };
  struct Peer {
    std::size_t number = 0;
    Mail* mail = nullptr;  // mailboxes of the peer, into which this rank writes small messages
    std::optional<Sender> sender;
    std::optional<Receiver> receiver;
    TicketQueue unsent;    // small messages that wait for a free box of the lane
    TicketQueue untaken;   // messages that point to the sender's bytes and that the receiver has not taken yet
    TicketQueue expected;  // releases of slots whose messages have not arrived yet
    bool is_busy = false;
    bool is_idle() const noexcept { return unsent.is_empty() && untaken.is_empty() && expected.is_empty(); }
  };
  struct Adding {
    Ticket ticket = 0;
    std::span<std::int64_t> words;
  };
  enum class AddState : std::uint8_t { idle, posted, added };

  bool is_one_process() const noexcept { return blocks_.memory().is_one_process(); }
  Peer* peer_for(Rank rank, bool has_second) noexcept;
  void make_busy(Peer& peer) noexcept;
  void append(TicketQueue& queue, Ticket ticket) noexcept;
  Ticket remove_first(TicketQueue& queue) noexcept;
  void write(Peer& peer, QueuedTransfer& transfer) noexcept;
  void complete(const Completion& completion) noexcept { completed_.push_back(completion); }
  void send_unsent(Peer& peer) noexcept;
  void end_taken(Peer& peer) noexcept;
  void receive(Peer& peer) noexcept;
  Completion land(Ticket ticket, const QueuedTransfer& transfer, const Peer& peer, const Letter& letter) noexcept;
  void move_letters() noexcept;
  void begin_adding() noexcept;
  void go_on_adding() noexcept;
  void add_own_share() noexcept;

  std::uint32_t tag_;
  std::vector<SharedEndpoint*>* among_waiting_;
  std::unique_ptr<Endpoint> inner_;
  bool moves_others_;
  std::size_t open_inside_ = 0;  // number of open communications of the inner endpoint
  std::uint64_t runs_ended_ = 0;
  bool is_leaving_ = false;
  CommonBlocks blocks_;
  std::size_t neighbour_;
  std::optional<LandingSlots> slots_;  // landing slots; only without an inner endpoint
  Mail* own_ = nullptr;
  std::vector<Peer> peers_;                // state of the exchange with each neighbour
  std::vector<Peer*> by_rank_;             // by rank: the peer; null for ranks that are not neighbours
  std::vector<QueuedTransfer> transfers_;  // by ticket: the state of the transfer
  std::vector<Peer*> busy_;                // peers with open communications
  std::vector<Completion> completed_;      // communications that have completed and that poll() has not returned yet
  std::optional<BoardEnd<MachineMemory, std::span<std::int64_t>>> words_;
  std::optional<BoardEnd<MachineMemory, bool>> added_;
  std::vector<Adding> to_add_;  // additions of words, in the order of the calls
  AddState adding_ = AddState::idle;
  std::size_t seen_ = 0;  // number of neighbours that have reached the current state of the first addition
  Waiting waiting_;
  Traffic traffic_;
};

}  // namespace steadfold::transport
