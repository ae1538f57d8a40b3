// Simulates the network of all ranks in one process. A put and its release share one Transfer, which the first of the
// two makes.
// Rank order: messages are matched in the order of `put` per (source, target, tag). Each of these channels has a queue
// while a put or a release waits.
// Cost: one hash look-up per put or release, and one allocation per message. A poll takes O(completions).
#include "transport/simulated/simulated.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <list>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "transport/landing.hpp"

namespace steadfold::transport {
namespace {

/// A pair of ranks and a tag: messages are matched within one channel.
struct Channel {
  std::uint32_t tag = 0;
  Rank source = 0;
  Rank target = 0;

  friend bool operator==(const Channel&, const Channel&) = default;
};

/// Identifies one `add_words` over all ranks: its tag, and its number under the tag.
struct WordSumId {
  std::uint32_t tag = 0;
  std::uint32_t number = 0;

  friend bool operator==(const WordSumId&, const WordSumId&) = default;
};

/// Mixes the bits of a number, as splitmix64 does; every seed is good.
std::uint64_t mixed(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

struct ChannelHash {
  std::size_t operator()(const Channel& channel) const noexcept {
    const auto source = static_cast<std::uint32_t>(channel.source);
    const auto target = static_cast<std::uint32_t>(channel.target);
    return mixed(mixed(channel.tag) ^ (std::uint64_t{source} << 32 | target));
  }
  std::size_t operator()(const WordSumId& sum) const noexcept {
    return mixed(std::uint64_t{sum.tag} << 32 | sum.number);
  }
};

class SimulatedEndpoint;

/// The ticket to notify when a communication can complete. Its endpoint is null after the endpoint has been destroyed.
struct Waiter {
  SimulatedEndpoint* endpoint = nullptr;
  Ticket ticket = 0;
};

/// One message, for which `put`, `release` or both have been called.
struct Transfer {
  bool put = false;
  bool released = false;
  bool landed = false;
  Waiter putting;
  Waiter releasing;
  SlotNumber put_to = 0;
  SlotNumber released_slot = 0;
  std::span<const std::byte> bytes;  // the caller's bytes until the put completes, then the bytes of `kept`
  std::optional<std::span<const std::byte>> second;
  std::vector<std::byte> kept;
  std::vector<std::byte> second_kept;
  std::span<std::byte> memory;  // the memory where the message may land
  std::optional<std::span<std::byte>> second_memory;
};

struct Total {
  std::vector<std::uint64_t> words;  // unsigned, so that overflow wraps around
  std::vector<Waiter> contributions;
  bool sizes_differ = false;
};

/// Copies a transfer's bytes, since the caller may change them once the put is complete.
void copy_bytes_of(Transfer& transfer) {
  if (transfer.landed) return;
  transfer.kept.assign(transfer.bytes.begin(), transfer.bytes.end());
  transfer.bytes = transfer.kept;
  if (!transfer.second) return;
  transfer.second_kept.assign(transfer.second->begin(), transfer.second->end());
  transfer.second = transfer.second_kept;
}

class RankTransport final : public Transport {
 public:
  RankTransport(SimulatedNetwork::State& network, Rank rank) : network_(&network), rank_(rank) {}

  Rank rank() const noexcept override { return rank_; }
  Rank rank_count() const noexcept override;
  std::unique_ptr<Endpoint> prepare(std::uint32_t tag, std::span<const Bytes> capacities, Ticket tickets,
                                    WordOrder order) override;
  void connect(bool is_prepared) override;
  Connection connected() override;
  void refuse(std::uint32_t after) noexcept { refused_ = after; }
  /// Whether an endpoint is connected. The endpoint was prepared when `connections_before` connections had begun.
  bool is_connected(std::uint32_t connections_before) const noexcept { return connections_ended_ > connections_before; }

  void gather(std::span<const std::byte> bytes) override;
  std::optional<Gathered> gathered() override;

 private:
  SimulatedNetwork::State* network_;
  Rank rank_;
  std::uint32_t connections_ = 0;  // number of connections that have begun
  std::uint32_t connections_ended_ = 0;
  std::uint32_t gathers_ = 0;             // number of gathers that have begun
  std::uint8_t hold_ = 0;                 // number of polls before the last connection ends
  std::uint8_t gather_hold_ = 0;          // number of polls before the last gather ends
  std::optional<std::uint32_t> refused_;  // number of endpoints that are prepared before one is refused
};

/// One `connect` or `gather` over all ranks.
struct Rendezvous {
  std::size_t joined = 0;
  std::size_t left = 0;
  bool all_prepared = true;
  std::vector<std::span<const std::byte>> brought;  // by rank: the bytes to gather, in the caller's memory
  Transport::Gathered gathered;

  /// Joins the bytes of all ranks. Called after all ranks have brought theirs; the callers may change their bytes
  /// afterwards.
  void join_bytes() {
    gathered.first.assign(1, 0);
    for (const std::span<const std::byte> bytes : brought) {
      gathered.bytes.insert(gathered.bytes.end(), bytes.begin(), bytes.end());
      gathered.first.push_back(gathered.bytes.size());
    }
  }
};

}  // namespace

struct SimulatedNetwork::State {
  explicit State(SimulatedOptions given) : options(given), random(mixed(given.seed)) {}

  /// Returns the transfer of the next put (or release) of `channel`.
  std::shared_ptr<Transfer> meet(const Channel& channel, bool Transfer::*own_end) {
    std::list<std::shared_ptr<Transfer>>& queue = waiting[channel];
    if (queue.empty() || *queue.front().*own_end) return queue.emplace_back(std::make_shared<Transfer>());
    std::shared_ptr<Transfer> transfer = std::move(queue.front());
    queue.pop_front();
    if (queue.empty()) waiting.erase(channel);
    return transfer;
  }

  void withdraw(const Channel& channel, const std::shared_ptr<Transfer>& transfer) {
    const auto found = waiting.find(channel);
    if (found == waiting.end()) return;
    found->second.remove(transfer);
    if (found->second.empty()) waiting.erase(found);
  }

  /// Whether a message stays in the network's memory, as in a mailbox, instead of its landing slot.
  bool lands_elsewhere() noexcept {
    if (options.delivery == Delivery::prompt) return false;
    random = mixed(random);
    return random % 2 == 0;
  }

  /// Returns the number of further polls in which a ticket stays open although it can complete.
  std::uint8_t hold() noexcept {
    if (options.delivery == Delivery::prompt) return 0;
    random = mixed(random);
    return static_cast<std::uint8_t>(random % max_polls);
  }

  SimulatedOptions options;
  std::uint64_t random;
  std::vector<RankTransport> ranks;
  Traffic traffic;
  // Transfers that wait for their other end.
  std::unordered_map<Channel, std::list<std::shared_ptr<Transfer>>, ChannelHash> waiting;
  // Additions of words that some ranks have not started yet.
  std::unordered_map<WordSumId, std::shared_ptr<Total>, ChannelHash> totals;
  // Connections by their number.
  std::unordered_map<std::uint32_t, Rendezvous> connections;
  std::unordered_map<std::uint32_t, Rendezvous> gathers;  // gathers by their number
};

namespace {

class SimulatedEndpoint final : public Endpoint {
 public:
  SimulatedEndpoint(SimulatedNetwork::State& network, const RankTransport& own, std::uint32_t connections_before,
                    std::uint32_t tag, std::span<const Bytes> capacities, Ticket tickets)
      : network_(network),
        own_(own),
        connections_before_(connections_before),
        rank_(own.rank()),
        tag_(tag),
        slots_(capacities),
        leases_(capacities.size()),
        communications_(tickets) {}

  ~SimulatedEndpoint() override {
    for (OpenCommunication& communication : communications_) {
      if (communication.transfer) give_up(communication);
      if (!communication.total) continue;
      for (Waiter& each : communication.total->contributions)
        if (each.endpoint == this) each.endpoint = nullptr;
    }
  }

  std::span<std::byte> landing(SlotNumber slot) noexcept override { return slots_[slot]; }

  void put(Ticket ticket, Rank target, SlotNumber slot, std::span<const std::byte> bytes,
           std::optional<std::span<const std::byte>> second) noexcept override {
    for (Traffic* traffic : {&traffic_, &network_.traffic}) {
      traffic->messages += 1;
      traffic->bytes += bytes.size() + (second ? second->size() : 0);
    }
    OpenCommunication& communication = started(ticket, CommunicationKind::put, target);
    if (!is_connected()) return tell({this, ticket});
    communication.transfer = network_.meet({tag_, rank_, target}, &Transfer::put);
    Transfer& transfer = *communication.transfer;
    transfer.put = true;
    transfer.putting = {this, ticket};
    transfer.put_to = slot;
    transfer.bytes = bytes;
    transfer.second = second;
    if (transfer.released) tell(transfer.releasing);
    if (transfer.released || network_.options.sends == Sends::buffered) tell(transfer.putting);
  }

  void release(Ticket ticket, Rank source, SlotNumber slot, const std::optional<SecondRoom>& second) noexcept override {
    OpenCommunication& communication = started(ticket, CommunicationKind::release, source);
    if (!is_connected()) return tell({this, ticket});
    communication.transfer = network_.meet({tag_, source, rank_}, &Transfer::released);
    Transfer& transfer = *communication.transfer;
    transfer.released = true;
    transfer.releasing = {this, ticket};
    transfer.released_slot = slot;
    transfer.memory = second ? slots_[slot].first(second->head) : slots_[slot];
    if (second) transfer.second_memory = second->room;
    leases_[slot].end();
    if (network_.options.delivery == Delivery::shuffled) {
      std::ranges::fill(transfer.memory, std::byte{0xA5});
      if (second) std::ranges::fill(second->room, std::byte{0xA5});
    }
    if (transfer.put) tell(transfer.releasing);
    if (transfer.put && network_.options.sends == Sends::synchronous) tell(transfer.putting);
  }

  void add_words(Ticket ticket, std::span<std::int64_t> words) noexcept override {
    OpenCommunication& communication = started(ticket, CommunicationKind::sum, rank_);
    if (!is_connected()) return tell({this, ticket});
    const WordSumId sum = {tag_, sums_++};
    std::shared_ptr<Total>& found = network_.totals[sum];
    if (!found) {
      found = std::make_shared<Total>();
      found->words.resize(words.size());
    }
    const std::shared_ptr<Total> total = found;
    total->sizes_differ |= total->words.size() != words.size();
    for (std::size_t i = 0; i < std::min(words.size(), total->words.size()); ++i) {
      total->words[i] += static_cast<std::uint64_t>(words[i]);
    }
    communication.total = total;
    communication.words = words;
    total->contributions.push_back({this, ticket});
    if (total->contributions.size() < network_.ranks.size()) return;
    network_.totals.erase(sum);
    for (const Waiter& each : total->contributions) tell(each);
  }

  std::size_t poll(std::span<Completion> completions) noexcept override {
    ++polls_;
    append(ready_, std::exchange(due_[polls_ % due_.size()], {}));
    std::size_t count = 0;
    for (; count < completions.size() && ready_.first != none; ++count) {
      const Ticket ticket = ready_.first;
      completions[count] = ended(ticket);
      ready_.first = communications_[ticket].next;
    }
    return count;
  }

  Traffic traffic() const noexcept override { return traffic_; }

 private:
  static constexpr Ticket none = ~Ticket{0};
  enum class CommunicationKind : std::uint8_t { put, release, sum };
  struct OpenCommunication {
    CommunicationKind kind = CommunicationKind::put;
    std::uint8_t hold = 0;
    Rank peer = 0;
    Ticket next = none;                  // the next ticket in its queue
    std::shared_ptr<Transfer> transfer;  // the transfer, for an open put or release
    std::shared_ptr<Total> total;        // the sum to which an open add_words adds
    std::span<std::int64_t> words;
  };
  /// Memory of the network for a message until its slot is released again. A later reader finds 0xA5, or the address
  /// sanitizer reports it.
  class Lease {
   public:
    std::span<std::byte> begin(Bytes size) {
      end();
      memory_ = LandingSlots(std::span(&size, 1));
      std::ranges::fill((*memory_)[0], std::byte{0xA5});
      return (*memory_)[0];
    }
    void end() noexcept {
      if (memory_) std::ranges::fill((*memory_)[0], std::byte{0xA5});
      memory_.reset();
    }

   private:
    std::optional<LandingSlots> memory_;
  };
  struct DueQueue {
    Ticket first = none;
    Ticket last = none;
  };

  bool is_connected() const noexcept { return own_.is_connected(connections_before_); }

  OpenCommunication& started(Ticket ticket, CommunicationKind kind, Rank peer) noexcept {
    OpenCommunication& communication = communications_[ticket];
    communication.kind = kind;
    communication.hold = network_.hold();
    communication.peer = peer;
    return communication;
  }

  /// Notifies a ticket that its communication can complete; it completes in one of the next polls.
  static void tell(const Waiter& waiting) noexcept {
    if (waiting.endpoint == nullptr) return;
    SimulatedEndpoint& own = *waiting.endpoint;
    own.communications_[waiting.ticket].next = none;
    own.append(own.due_[(own.polls_ + 1 + own.communications_[waiting.ticket].hold) % own.due_.size()],
               {waiting.ticket, waiting.ticket});
  }

  void append(DueQueue& queue, DueQueue more) noexcept {
    if (more.first == none) return;
    (queue.first == none ? queue.first : communications_[queue.last].next) = more.first;
    queue.last = more.last;
  }

  /// Ends all notifications of a communication. A message that was put is still delivered; a release is dropped.
  void give_up(OpenCommunication& communication) noexcept {
    Transfer& transfer = *communication.transfer;
    (communication.kind == CommunicationKind::put ? transfer.putting : transfer.releasing).endpoint = nullptr;
    if (communication.kind == CommunicationKind::put)
      copy_bytes_of(transfer);
    else
      network_.withdraw({tag_, communication.peer, rank_}, communication.transfer);
  }

  Completion ended(Ticket ticket) noexcept {
    OpenCommunication& communication = communications_[ticket];
    Completion completion{.ticket = ticket};
    completion.failed = !communication.transfer && !communication.total;  // it fails if its endpoint was not connected
    if (completion.failed) return completion;
    switch (communication.kind) {
      case CommunicationKind::put: copy_bytes_of(*communication.transfer); break;
      case CommunicationKind::release: land(*communication.transfer, completion); break;
      case CommunicationKind::sum: completion.failed = !take_total(communication); break;
    }
    communication.transfer.reset();
    communication.total.reset();
    return completion;
  }

  void land(Transfer& transfer, Completion& completion) noexcept {
    transfer.landed = true;
    const bool parts_fit = transfer.second.has_value() == transfer.second_memory.has_value() &&
                           (!transfer.second || transfer.second->size() <= transfer.second_memory->size());
    completion.failed =
        transfer.bytes.size() > transfer.memory.size() || !parts_fit || transfer.put_to != transfer.released_slot;
    if (completion.failed) return;
    if (network_.lands_elsewhere()) transfer.memory = leases_[transfer.released_slot].begin(transfer.memory.size());
    std::ranges::copy(transfer.bytes, transfer.memory.begin());
    if (transfer.second) std::ranges::copy(*transfer.second, transfer.second_memory->begin());
    completion.size = transfer.bytes.size() + (transfer.second ? transfer.second->size() : 0);
    completion.data = transfer.memory.data();
  }

  static bool take_total(OpenCommunication& communication) noexcept {
    if (communication.total->sizes_differ) return false;
    std::ranges::transform(communication.total->words, communication.words.begin(),
                           [](std::uint64_t word) { return static_cast<std::int64_t>(word); });
    return true;
  }

  SimulatedNetwork::State& network_;
  const RankTransport& own_;
  std::uint32_t connections_before_;
  Rank rank_;
  std::uint32_t tag_;
  std::uint32_t sums_ = 0;
  LandingSlots slots_;
  std::vector<Lease> leases_;  // memory for messages, by slot
  std::vector<OpenCommunication> communications_;
  std::uint64_t polls_ = 0;
  std::array<DueQueue, SimulatedNetwork::max_polls> due_;  // tickets to complete, by poll modulo the number of queues
  DueQueue ready_;                                         // completions that poll() may return now
  Traffic traffic_;
};

Rank RankTransport::rank_count() const noexcept { return static_cast<Rank>(network_->ranks.size()); }

std::unique_ptr<Endpoint> RankTransport::prepare(std::uint32_t tag, std::span<const Bytes> capacities, Ticket tickets,
                                                 WordOrder /*order*/) {
  if (refused_ && (*refused_)-- == 0) {
    refused_.reset();
    throw std::runtime_error("no memory for messages (the test refuses the allocation), ignore this error");
  }
  return std::make_unique<SimulatedEndpoint>(*network_, *this, connections_, tag, capacities, tickets);
}

void RankTransport::connect(bool is_prepared) {
  Rendezvous& rendezvous = network_->connections[connections_++];
  rendezvous.joined += 1;
  rendezvous.all_prepared = rendezvous.all_prepared && is_prepared;
  hold_ = network_->hold();
}

Connection RankTransport::connected() {
  const auto found = network_->connections.find(connections_ended_);
  Rendezvous& rendezvous = found->second;
  if (rendezvous.joined < network_->ranks.size()) return Connection::pending;
  if (hold_ > 0) {
    --hold_;
    return Connection::pending;
  }
  const bool all_prepared = rendezvous.all_prepared;
  if (++rendezvous.left == network_->ranks.size()) network_->connections.erase(found);
  ++connections_ended_;
  return all_prepared ? Connection::connected : Connection::failed;
}

void RankTransport::gather(std::span<const std::byte> bytes) {
  Rendezvous& rendezvous = network_->gathers[gathers_++];
  rendezvous.brought.resize(network_->ranks.size());
  rendezvous.brought[static_cast<std::size_t>(rank_)] = bytes;
  if (++rendezvous.joined == network_->ranks.size()) rendezvous.join_bytes();
  gather_hold_ = network_->hold();
}

std::optional<Transport::Gathered> RankTransport::gathered() {
  const auto found = network_->gathers.find(gathers_ - 1);
  Rendezvous& rendezvous = found->second;
  if (rendezvous.joined < network_->ranks.size()) return std::nullopt;
  if (gather_hold_ > 0) {
    --gather_hold_;
    return std::nullopt;
  }
  const bool is_last = ++rendezvous.left == network_->ranks.size();
  Gathered all = is_last ? std::move(rendezvous.gathered) : rendezvous.gathered;
  if (is_last) network_->gathers.erase(found);
  return all;
}

}  // namespace

SimulatedNetwork::SimulatedNetwork(Rank rank_count, SimulatedOptions options)
    : state_(std::make_unique<State>(options)) {
  state_->ranks.reserve(static_cast<std::size_t>(rank_count));
  for (Rank rank = 0; rank < rank_count; ++rank) state_->ranks.emplace_back(*state_, rank);
}

SimulatedNetwork::~SimulatedNetwork() = default;

Transport& SimulatedNetwork::rank(Rank rank) noexcept { return state_->ranks[static_cast<std::size_t>(rank)]; }

void SimulatedNetwork::connect() {
  for (RankTransport& each : state_->ranks) each.connect(true);
  for (RankTransport& each : state_->ranks)
    while (each.connected() == Connection::pending) {
    }
}

void SimulatedNetwork::refuse(Rank rank, std::uint32_t after) {
  state_->ranks[static_cast<std::size_t>(rank)].refuse(after);
}

Traffic SimulatedNetwork::traffic() const noexcept { return state_->traffic; }

}  // namespace steadfold::transport
