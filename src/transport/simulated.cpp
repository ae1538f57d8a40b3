// All ranks in one process. A put and the release that it meets share one Transfer, made by whichever comes first.
// Rank order: matched in the order put per (source, target, tag), by one queue each while either side waits.
// Cost: one hash look-up per put or release, one allocation per message. Source: ours.
#include "transport/simulated.hpp"

#include <algorithm>
#include <cstring>
#include <list>
#include <optional>
#include <stdexcept>
#include <unordered_map>
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

/// One `add_words` over all ranks: number n under its tag.
struct Sum {
  std::uint32_t tag = 0;
  std::uint32_t number = 0;

  friend bool operator==(const Sum&, const Sum&) = default;
};

/// splitmix64: mixes well, and every seed is good.
std::uint64_t mixed(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

struct Hash {
  std::size_t operator()(const Channel& channel) const noexcept {
    const auto source = static_cast<std::uint32_t>(channel.source);
    const auto target = static_cast<std::uint32_t>(channel.target);
    return mixed(mixed(channel.tag) ^ (std::uint64_t{source} << 32 | target));
  }
  std::size_t operator()(const Sum& sum) const noexcept { return mixed(std::uint64_t{sum.tag} << 32 | sum.number); }
};

/// One message: put, released, or both.
struct Transfer {
  bool put = false;
  bool released = false;
  bool landed = false;
  SlotNumber put_to = 0;
  SlotNumber released_slot = 0;
  std::span<const std::byte> bytes;  // the caller's until its put completes, then those of `kept`
  std::optional<std::span<const std::byte>> second;
  std::vector<std::byte> kept;
  std::vector<std::byte> second_kept;
  std::span<std::byte> memory;  // where it lands
  std::optional<std::span<std::byte>> second_memory;
};

struct Total {
  std::vector<std::uint64_t> words;  // unsigned, so that overflow wraps around
  Rank contributions = 0;
  bool sizes_differ = false;
};

/// Copies a transfer's bytes, since the caller may change them once the put is complete.
void keep(Transfer& transfer) {
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
  std::unique_ptr<Endpoint> bind(std::uint32_t tag, std::span<const Bytes> capacities, Ticket tickets) override;

  Gathered gather_all(std::span<const std::byte>) override {
    throw std::logic_error(
        "nothing gathered (the simulated ranks share one thread, none can block for the others), set up all ranks "
        "from one place");
  }

 private:
  SimulatedNetwork::State* network_;
  Rank rank_;
};

}  // namespace

struct SimulatedNetwork::State {
  explicit State(SimulatedOptions given) : options(given), random(mixed(given.seed)) {}

  /// The transfer that the next put (or release) of `channel` belongs to.
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

  /// How many more tests a ticket stays pending although it can complete.
  std::uint8_t hold() noexcept {
    if (options.delivery == Delivery::prompt) return 0;
    random = mixed(random);
    return static_cast<std::uint8_t>(random % max_tests);
  }

  SimulatedOptions options;
  std::uint64_t random;
  std::vector<RankTransport> ranks;
  Traffic traffic;
  std::unordered_map<Channel, std::list<std::shared_ptr<Transfer>>, Hash> waiting;  // for the other end
  std::unordered_map<Sum, std::shared_ptr<Total>, Hash> totals;                     // lacking contributions
};

namespace {

class SimulatedEndpoint final : public Endpoint {
 public:
  SimulatedEndpoint(SimulatedNetwork::State& network, Rank rank, std::uint32_t tag, std::span<const Bytes> capacities,
                    Ticket tickets)
      : network_(network), rank_(rank), tag_(tag), slots_(capacities), operations_(tickets) {}

  ~SimulatedEndpoint() override {
    for (Operation& operation : operations_) {
      if (operation.progress != Progress::pending || !operation.transfer) continue;
      if (operation.kind == Kind::put) {
        keep(*operation.transfer);
      } else {
        network_.withdraw({tag_, operation.peer, rank_}, operation.transfer);
      }
    }
  }

  std::span<std::byte> landing(SlotNumber slot) noexcept override { return slots_[slot]; }

  void put(Ticket ticket, Rank target, SlotNumber slot, std::span<const std::byte> bytes,
           std::optional<std::span<const std::byte>> second) noexcept override {
    for (Traffic* traffic : {&traffic_, &network_.traffic}) {
      traffic->messages += 1;
      traffic->bytes += bytes.size() + (second ? second->size() : 0);
    }
    Operation& operation = started(ticket, Kind::put, target);
    operation.transfer = network_.meet({tag_, rank_, target}, &Transfer::put);
    operation.transfer->put = true;
    operation.transfer->put_to = slot;
    operation.transfer->bytes = bytes;
    operation.transfer->second = second;
  }

  void release(Ticket ticket, Rank source, SlotNumber slot, const std::optional<SecondRoom>& second) noexcept override {
    Operation& operation = started(ticket, Kind::release, source);
    operation.transfer = network_.meet({tag_, source, rank_}, &Transfer::released);
    operation.transfer->released = true;
    operation.transfer->released_slot = slot;
    operation.transfer->memory = second ? slots_[slot].first(second->head) : slots_[slot];
    if (second) operation.transfer->second_memory = second->room;
    if (network_.options.delivery == Delivery::shuffled) {
      std::ranges::fill(operation.transfer->memory, std::byte{0xA5});
      if (second) std::ranges::fill(second->room, std::byte{0xA5});
    }
  }

  void add_words(Ticket ticket, std::span<std::int64_t> words) noexcept override {
    Operation& operation = started(ticket, Kind::sum, rank_);
    const Sum sum = {tag_, sums_++};
    std::shared_ptr<Total>& total = network_.totals[sum];
    if (!total) {
      total = std::make_shared<Total>();
      total->words.resize(words.size());
    }
    total->sizes_differ |= total->words.size() != words.size();
    for (std::size_t i = 0; i < std::min(words.size(), total->words.size()); ++i) {
      total->words[i] += static_cast<std::uint64_t>(words[i]);
    }
    operation.total = total;
    operation.words = words;
    if (++total->contributions == static_cast<Rank>(network_.ranks.size())) network_.totals.erase(sum);
  }

  Progress test(Ticket ticket, Bytes& arrived) noexcept override {
    Operation& operation = operations_[ticket];
    if (operation.progress == Progress::pending && can_complete(operation)) {
      if (operation.hold > 0) {
        --operation.hold;
      } else {
        complete(operation);
      }
    }
    arrived = operation.arrived;
    return operation.progress;
  }

  Traffic traffic() const noexcept override { return traffic_; }

 private:
  enum class Kind : std::uint8_t { put, release, sum };
  struct Operation {
    Kind kind = Kind::put;
    Progress progress = Progress::complete;
    std::uint8_t hold = 0;
    Rank peer = 0;
    Bytes arrived = 0;
    std::shared_ptr<Transfer> transfer;  // for put and release
    std::shared_ptr<Total> total;        // for add_words
    std::span<std::int64_t> words;
  };

  Operation& started(Ticket ticket, Kind kind, Rank peer) noexcept {
    Operation& operation = operations_[ticket];
    operation.kind = kind;
    operation.progress = Progress::pending;
    operation.hold = network_.hold();
    operation.peer = peer;
    operation.arrived = 0;
    return operation;
  }

  bool can_complete(const Operation& operation) const noexcept {
    switch (operation.kind) {
      case Kind::put: return network_.options.sends == Sends::buffered || operation.transfer->released;
      case Kind::release: return operation.transfer->put;
      case Kind::sum: return operation.total->contributions == static_cast<Rank>(network_.ranks.size());
    }
    return false;
  }

  static void complete(Operation& operation) noexcept {
    operation.progress = Progress::complete;
    switch (operation.kind) {
      case Kind::put: keep(*operation.transfer); break;
      case Kind::release: land(operation); break;
      case Kind::sum: take_total(operation); break;
    }
    operation.transfer.reset();
    operation.total.reset();
  }

  static void land(Operation& operation) noexcept {
    Transfer& transfer = *operation.transfer;
    transfer.landed = true;
    const bool parts_fit = transfer.second.has_value() == transfer.second_memory.has_value() &&
                           (!transfer.second || transfer.second->size() <= transfer.second_memory->size());
    if (transfer.bytes.size() > transfer.memory.size() || !parts_fit || transfer.put_to != transfer.released_slot) {
      operation.progress = Progress::failed;
      return;
    }
    std::ranges::copy(transfer.bytes, transfer.memory.begin());
    if (transfer.second) std::ranges::copy(*transfer.second, transfer.second_memory->begin());
    operation.arrived = transfer.bytes.size() + (transfer.second ? transfer.second->size() : 0);
  }

  static void take_total(Operation& operation) noexcept {
    if (operation.total->sizes_differ) {
      operation.progress = Progress::failed;
      return;
    }
    std::ranges::transform(operation.total->words, operation.words.begin(),
                           [](std::uint64_t word) { return static_cast<std::int64_t>(word); });
  }

  SimulatedNetwork::State& network_;
  Rank rank_;
  std::uint32_t tag_;
  std::uint32_t sums_ = 0;
  LandingSlots slots_;
  std::vector<Operation> operations_;
  Traffic traffic_;
};

Rank RankTransport::rank_count() const noexcept { return static_cast<Rank>(network_->ranks.size()); }

std::unique_ptr<Endpoint> RankTransport::bind(std::uint32_t tag, std::span<const Bytes> capacities, Ticket tickets) {
  return std::make_unique<SimulatedEndpoint>(*network_, rank_, tag, capacities, tickets);
}

}  // namespace

SimulatedNetwork::SimulatedNetwork(Rank rank_count, SimulatedOptions options)
    : state_(std::make_unique<State>(options)) {
  state_->ranks.reserve(static_cast<std::size_t>(rank_count));
  for (Rank rank = 0; rank < rank_count; ++rank) state_->ranks.emplace_back(*state_, rank);
}

SimulatedNetwork::~SimulatedNetwork() = default;

Transport& SimulatedNetwork::rank(Rank rank) noexcept { return state_->ranks[static_cast<std::size_t>(rank)]; }

Traffic SimulatedNetwork::traffic() const noexcept { return state_->traffic; }

}  // namespace steadfold::transport
