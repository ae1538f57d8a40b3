#include "transport/shared/relay.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <utility>

#include "transport/backoff.hpp"
#include "transport/forwarding.hpp"

namespace steadfold::transport {

class RelayedEndpoint final : public ForwardingEndpoint {
 public:
  RelayedEndpoint(std::shared_ptr<Relay> relay, std::unique_ptr<Endpoint> inner, Ticket tickets, bool shares_cores)
      : ForwardingEndpoint(std::move(inner)), relay_(std::move(relay)), backoff_(shares_cores) {
    asked_.reserve(tickets);
    completed_.reserve(tickets);
    const std::lock_guard lock(relay_->mutex_);
    relay_->busy_.reserve(++relay_->ends_);
  }
  ~RelayedEndpoint() override {
    const std::lock_guard lock(relay_->mutex_);
    relay_->ends_ -= 1;
    std::erase(relay_->busy_, this);
  }
  RelayedEndpoint(const RelayedEndpoint&) = delete;
  RelayedEndpoint& operator=(const RelayedEndpoint&) = delete;

  void put(Ticket ticket, Rank target, SlotNumber slot, std::span<const std::byte> bytes,
           std::optional<std::span<const std::byte>> second) noexcept override {
    ask({.is_put = true, .ticket = ticket, .peer = target, .slot = slot, .bytes = bytes, .second = second});
  }
  void release(Ticket ticket, Rank source, SlotNumber slot, const std::optional<SecondRoom>& second) noexcept override {
    ask({.is_put = false, .ticket = ticket, .peer = source, .slot = slot, .room = second});
  }

  std::size_t poll(std::span<Completion> completions) noexcept override {
    if (!has_completed_.load(std::memory_order_acquire)) {
      backoff_.found_nothing();
      return 0;
    }
    backoff_.found_something();
    const std::lock_guard lock(mutex_);
    const std::size_t count = std::min(completions.size(), completed_.size());
    std::copy_n(completed_.begin(), count, completions.begin());
    completed_.erase(completed_.begin(), completed_.begin() + static_cast<std::ptrdiff_t>(count));
    has_completed_.store(!completed_.empty(), std::memory_order_relaxed);
    return count;
  }

  Traffic traffic() const noexcept override {
    const std::lock_guard lock(mutex_);
    return ForwardingEndpoint::traffic();
  }

  /// Moves the messages of one worker; called by worker 0. Returns whether work is left.
  bool drive() noexcept {
    const std::lock_guard lock(mutex_);
    for (const RelayRequest& each : asked_) {
      if (each.is_put)
        inner().put(each.ticket, each.peer, each.slot, each.bytes, each.second);
      else
        inner().release(each.ticket, each.peer, each.slot, each.room);
    }
    open_ += asked_.size();
    asked_.clear();
    std::array<Completion, 16> ended;
    const std::size_t count = inner().poll(ended);
    completed_.insert(completed_.end(), ended.begin(), ended.begin() + static_cast<std::ptrdiff_t>(count));
    if (count > 0) has_completed_.store(true, std::memory_order_release);
    open_ -= count;
    is_busy_ = open_ > 0;
    return is_busy_;
  }

 private:
  struct RelayRequest {
    bool is_put = false;
    Ticket ticket = 0;
    Rank peer = 0;
    SlotNumber slot = 0;
    std::span<const std::byte> bytes = {};
    std::optional<std::span<const std::byte>> second = {};
    std::optional<SecondRoom> room = {};
  };

  void ask(const RelayRequest& asked) noexcept {
    {
      const std::lock_guard lock(mutex_);
      asked_.push_back(asked);
      if (std::exchange(is_busy_, true)) return;
    }
    const std::lock_guard lock(relay_->mutex_);
    relay_->busy_.push_back(this);
    relay_->is_idle_.store(false, std::memory_order_release);
  }

  std::shared_ptr<Relay> relay_;
  mutable std::mutex mutex_;           // guards the following members, and the inner endpoint
  std::vector<RelayRequest> asked_;    // communications that are not started yet
  std::size_t open_ = 0;               // number of started, incomplete communications
  std::vector<Completion> completed_;  // communications that poll() has not returned yet
  bool is_busy_ = false;               // this endpoint is in the list of worker 0, or is being added
  std::atomic<bool> has_completed_ = false;
  Backoff backoff_;
};

namespace {

class DrivingEndpoint final : public ForwardingEndpoint {
 public:
  DrivingEndpoint(std::shared_ptr<Relay> relay, std::unique_ptr<Endpoint> inner)
      : ForwardingEndpoint(std::move(inner)), relay_(std::move(relay)) {}

  bool moves_others() const noexcept override { return true; }
  std::size_t poll(std::span<Completion> completions) noexcept override {
    relay_->drive();
    return inner().poll(completions);
  }

 private:
  std::shared_ptr<Relay> relay_;
};

}  // namespace

void Relay::drive() noexcept {
  if (is_idle_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(mutex_);
  std::erase_if(busy_, [](RelayedEndpoint* each) { return !each->drive(); });
  is_idle_.store(busy_.empty(), std::memory_order_relaxed);
}

std::unique_ptr<Endpoint> make_driving_endpoint(std::shared_ptr<Relay> relay, std::unique_ptr<Endpoint> inner) {
  return std::make_unique<DrivingEndpoint>(std::move(relay), std::move(inner));
}

std::unique_ptr<Endpoint> make_relayed_endpoint(std::shared_ptr<Relay> relay, std::unique_ptr<Endpoint> inner,
                                                Ticket tickets, bool shares_cores) {
  return std::make_unique<RelayedEndpoint>(std::move(relay), std::move(inner), tickets, shares_cores);
}

}  // namespace steadfold::transport
