#include "transport/mpi/rma_endpoint.hpp"

#include <algorithm>
#include <cstring>

#include "transport/backoff.hpp"
#include "transport/mpi/endpoint.hpp"

namespace steadfold::transport {
namespace {

class RmaEndpoint final : public ForwardingEndpoint {
 public:
  RmaEndpoint(std::unique_ptr<Endpoint> inner, RmaTransport& owner, std::shared_ptr<Window> window,
              std::shared_ptr<Lanes> lanes, Ticket tickets, bool shares_cores)
      : ForwardingEndpoint(std::move(inner)),
        owner_(&owner),
        window_(std::move(window)),
        lanes_(std::move(lanes)),
        transfers_(tickets),
        backoff_(shares_cores) {
    waiting_.reserve(tickets);
    awaited_.reserve(tickets);
    failed_.reserve(tickets);
  }

  ~RmaEndpoint() override {
    const bool is_idle = awaited_.empty() && waiting_.empty() && writing_ == 0;
    owner_->rest(*lanes_, is_idle);
  }

  void put(Ticket ticket, Rank target, SlotNumber slot, std::span<const std::byte> bytes,
           std::optional<std::span<const std::byte>> second) noexcept override {
    if (second || !lanes_->lead_to(target, slot)) {
      open_inside_ += 1;
      return inner().put(ticket, target, slot, bytes, second);
    }
    traffic_.messages += 1;
    traffic_.bytes += bytes.size();
    transfers_[ticket] = {.peer = target, .slot = slot, .bytes = bytes};
    waiting_.push_back(ticket);
    if (waiting_.size() == 1) send_waiting();
  }

  void release(Ticket ticket, Rank source, SlotNumber slot, const std::optional<SecondRoom>& second) noexcept override {
    if (second || !lanes_->lead_from(source, slot)) {
      open_inside_ += 1;
      return inner().release(ticket, source, slot, second);
    }
    transfers_[ticket] = {.peer = source, .slot = slot, .bytes = {}};
    awaited_.push_back(ticket);
  }

  void add_words(Ticket ticket, std::span<std::int64_t> words) noexcept override {
    open_inside_ += 1;
    inner().add_words(ticket, words);
  }

  std::size_t poll(std::span<Completion> completions) noexcept override {
    std::size_t count = 0;
    for (; !failed_.empty() && count < completions.size(); failed_.pop_back())
      completions[count++] = {.ticket = failed_.back(), .failed = true};
    count += take_sent(completions.subspan(count));
    if (!waiting_.empty()) {
      lanes_->look_for_credits();
      send_waiting();
    }
    count += take_arrived(completions.subspan(count));
    if (open_inside_ > 0 && count < completions.size()) {
      const std::size_t inside = inner().poll(completions.subspan(count));
      open_inside_ -= inside;
      return count + inside;
    }
    if (count > 0) {
      backoff_.found_something();
    } else {
      if (++idle_ % polls_per_progress == 0) window_->make_progress();
      backoff_.found_nothing();
    }
    return count;
  }

  Traffic traffic() const noexcept override {
    const Traffic inside = ForwardingEndpoint::traffic();
    return {.messages = inside.messages + traffic_.messages, .bytes = inside.bytes + traffic_.bytes};
  }

 private:
  static constexpr std::size_t most_looks = 16;  // largest number of mailboxes that one poll looks into
  // Number of polls without a result after which the MPI library makes progress.
  static constexpr std::uint32_t polls_per_progress = 4;
  struct LaneTransfer {
    Rank peer = 0;
    SlotNumber slot = 0;
    std::span<const std::byte> bytes;  // bytes of the message to send
  };

  /// Sends messages that need not wait any more. Messages to one target leave in the order of `put`.
  void send_waiting() noexcept {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      const Ticket ticket = waiting_[i];
      const LaneTransfer& transfer = transfers_[ticket];
      const auto has_peer = [&](Ticket other) { return transfers_[other].peer == transfer.peer; };
      const bool is_next = std::ranges::none_of(std::span(waiting_).first(kept), has_peer);
      const Lanes::Sending how = is_next ? lanes_->send(ticket, transfer.peer, transfer.bytes) : Lanes::Sending::waits;
      if (how == Lanes::Sending::started) writing_ += 1;
      if (how == Lanes::Sending::failed) failed_.push_back(ticket);
      if (how == Lanes::Sending::waits) waiting_[kept++] = ticket;
    }
    waiting_.resize(kept);
  }

  std::size_t take_sent(std::span<Completion> completions) noexcept {
    std::size_t count = 0;
    while (writing_ > 0 && count < completions.size()) {
      const auto sent = lanes_->take_sent();
      if (!sent) break;
      writing_ -= 1;
      completions[count++] = {.ticket = sent->ticket, .failed = sent->failed};
    }
    return count;
  }

  /// Looks for awaited messages, in turn if there are many. Only the first awaited message of each source is looked
  /// for.
  std::size_t take_arrived(std::span<Completion> completions) noexcept {
    std::size_t count = 0;
    for (std::size_t look = 0; look < most_looks && count < completions.size() && !awaited_.empty(); ++look) {
      if (next_ >= awaited_.size()) next_ = 0;
      const Ticket ticket = awaited_[next_];
      const LaneTransfer& transfer = transfers_[ticket];
      const auto has_peer = [&](Ticket other) { return transfers_[other].peer == transfer.peer; };
      const bool is_first = std::ranges::none_of(std::span(awaited_).first(next_), has_peer);
      const auto arrival = is_first ? lanes_->look(transfer.peer) : std::nullopt;
      if (!arrival) {
        next_ += 1;
        if (look + 1 >= awaited_.size()) break;
        continue;
      }
      completions[count++] = land(ticket, transfer, *arrival);
      awaited_.erase(awaited_.begin() + static_cast<std::ptrdiff_t>(next_));
    }
    return count;
  }

  /// Copies a message into its slot, and gives the mailbox back to the sender.
  Completion land(Ticket ticket, const LaneTransfer& transfer, const Lanes::Arrival& arrival) noexcept {
    if (arrival.failed) return {.ticket = ticket, .failed = true};
    const std::span<std::byte> slot = landing(transfer.slot);
    const bool fits = arrival.size <= slot.size();
    if (fits) {
      for (Bytes at = 0; at < arrival.size; at += 4) {
        const auto data = static_cast<std::uint32_t>(arrival.words[at / 4]);
        std::memcpy(slot.data() + at, &data, std::min<Bytes>(4, arrival.size - at));
      }
    }
    lanes_->accept(transfer.peer);
    return {.ticket = ticket, .failed = !fits, .size = fits ? arrival.size : 0, .data = slot.data()};
  }

  RmaTransport* owner_;
  std::shared_ptr<Window> window_;
  std::shared_ptr<Lanes> lanes_;
  std::vector<LaneTransfer> transfers_;  // by ticket: the message that is sent or received through a lane
  std::vector<Ticket> waiting_;          // tickets of messages to send, in the order of `put`
  std::vector<Ticket> awaited_;          // tickets of messages that lanes bring, in the order of `release`
  // Tickets of communications that could not start and that poll() has not returned yet.
  std::vector<Ticket> failed_;
  std::size_t writing_ = 0;      // number of messages that are being written
  std::size_t next_ = 0;         // index of the next awaited message to look for
  std::size_t open_inside_ = 0;  // number of open communications of the inner endpoint
  std::uint32_t idle_ = 0;       // number of polls in a row that found nothing
  Backoff backoff_;
  Traffic traffic_;
};

}  // namespace

std::unique_ptr<Endpoint> make_rma_endpoint(std::unique_ptr<Endpoint> inner, RmaTransport& owner,
                                            std::shared_ptr<Window> window, std::shared_ptr<Lanes> lanes,
                                            Ticket tickets, bool shares_cores) {
  return std::make_unique<RmaEndpoint>(std::move(inner), owner, std::move(window), std::move(lanes), tickets,
                                       shares_cores);
}

}  // namespace steadfold::transport
