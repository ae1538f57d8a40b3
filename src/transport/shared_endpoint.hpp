// One worker's end of a plan over memory that all workers of a team see.
// Rank order: messages between two workers arrive in the order put. Cost: a message in one part of at most
// `Letter::most` bytes moves one or two cache lines; any other is copied once, from the sender's memory to where it
// lands. Source: [S2], sender-driven exchange.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "transport/flags.hpp"
#include "transport/landing.hpp"
#include "transport/patience.hpp"
#include "transport/transport.hpp"

namespace steadfold::transport {

/// What a message says beside its number: its bytes, or where they stand until the receiver has taken them.
struct Letter {
  static constexpr Bytes most = 112;

  struct Place {
    const std::byte* data;
    Bytes size;
    const std::byte* second;
    Bytes second_size;
  };
  SlotNumber slot = 0;
  std::uint16_t size = 0;  // of the bytes in here
  bool is_elsewhere = false;
  bool has_second = false;
  union {
    Place place;
    std::byte bytes[most] = {};
  };
};

/// What a worker's endpoint shows to the others. It lives as long as any of them may still look at it.
struct Mail {
  static constexpr std::size_t depth = 4;
  using MailLane = Lane<MachineMemory, Letter, depth>;
  using WordNotice = Notice<MachineMemory, std::span<std::int64_t>>;
  using DoneNotice = Notice<MachineMemory, bool>;

  explicit Mail(Rank workers) : from(static_cast<std::size_t>(workers)) {}

  std::vector<MailLane> from;  // by sender
  WordNotice words;            // that this worker wants added to the others'
  DoneNotice added;            // it has added its share of them
};

class SharedEndpoint final : public Endpoint {
 public:
  /// Joins the endpoints that wait to be connected; that list must outlive it. Throws std::runtime_error when memory
  /// runs out.
  SharedEndpoint(std::uint32_t tag, Rank worker, Rank workers, std::span<const Bytes> capacities, Ticket tickets,
                 bool shares_cores, std::vector<SharedEndpoint*>& waiting);
  ~SharedEndpoint() override;
  SharedEndpoint(const SharedEndpoint&) = delete;
  SharedEndpoint& operator=(const SharedEndpoint&) = delete;

  std::uint32_t tag() const noexcept { return tag_; }
  const std::shared_ptr<Mail>& mail() const noexcept { return own_; }
  /// To be called before it is used: every worker's mail, in their order.
  void connect(std::vector<std::shared_ptr<Mail>> all);

  std::span<std::byte> landing(SlotNumber slot) noexcept override { return slots_[slot]; }
  void put(Ticket ticket, Rank target, SlotNumber slot, std::span<const std::byte> bytes,
           std::optional<std::span<const std::byte>> second) noexcept override;
  void release(Ticket ticket, Rank source, SlotNumber slot, const std::optional<SecondRoom>& second) noexcept override;
  void add_words(Ticket ticket, std::span<std::int64_t> words) noexcept override;
  std::size_t poll(std::span<Completion> completions) noexcept override;
  Traffic traffic() const noexcept override { return traffic_; }

 private:
  using Sender = LaneSender<MachineMemory, Letter, Mail::depth>;
  using Receiver = LaneReceiver<MachineMemory, Letter, Mail::depth>;
  static constexpr Ticket none = ~Ticket{0};

  struct Operation {
    SlotNumber slot = 0;
    std::span<const std::byte> bytes;
    std::optional<std::span<const std::byte>> second;
    std::optional<SecondRoom> room;
    std::uint64_t number = 0;  // of its letter, once it is sent
    Ticket next = none;        // of its queue
  };
  /// Tickets in the order in which they came, linked through their operations.
  struct Queue {
    Ticket first = none;
    Ticket last = none;
    bool is_empty() const noexcept { return first == none; }
  };
  struct Peer {
    std::optional<Sender> sender;
    std::optional<Receiver> receiver;
    Queue unsent;    // letters that wait for room in the lane
    Queue untaken;   // letters whose bytes are the sender's, until they are taken
    Queue expected;  // slots released
    bool is_busy = false;
    bool is_idle() const noexcept { return unsent.is_empty() && untaken.is_empty() && expected.is_empty(); }
  };
  struct Adding {
    Ticket ticket = 0;
    std::span<std::int64_t> words;
  };
  enum class AddState : std::uint8_t { idle, posted, added };

  Peer& busy(Rank rank) noexcept;
  void append(Queue& queue, Ticket ticket) noexcept;
  Ticket remove_first(Queue& queue) noexcept;
  void write(Sender& sender, Operation& operation) noexcept;
  bool needs_taking(const Operation& operation) const noexcept;
  void complete(const Completion& completion) noexcept;
  void send_unsent(Peer& peer) noexcept;
  void end_taken(Peer& peer) noexcept;
  void receive(Peer& peer) noexcept;
  Completion land(Ticket ticket, const Operation& operation, const Letter& letter) noexcept;
  void begin_adding() noexcept;
  void go_on_adding() noexcept;
  void add_own_share() noexcept;

  std::uint32_t tag_;
  Rank worker_;
  std::vector<SharedEndpoint*>* waiting_;
  LandingSlots slots_;
  std::shared_ptr<Mail> own_;
  std::vector<std::shared_ptr<Mail>> all_;
  std::vector<Peer> peers_;
  std::vector<Operation> operations_;  // by ticket
  std::vector<Peer*> busy_;            // those with communications under way
  std::vector<Completion> completed_;  // and not yet told
  BoardPlace<MachineMemory, std::span<std::int64_t>> words_;
  BoardPlace<MachineMemory, bool> added_;
  std::vector<Adding> to_add_;  // in the order asked for
  AddState adding_ = AddState::idle;
  std::size_t seen_ = 0;  // workers, in this state
  Patience patience_;
  Traffic traffic_;
};

}  // namespace steadfold::transport
